"""The steps that take one submission to its grade."""
