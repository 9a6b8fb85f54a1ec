"""The steps of a submission, from what was handed in to its grade."""
