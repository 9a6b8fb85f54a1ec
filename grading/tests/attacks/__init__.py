"""Hostile submissions, the outcome that each must have, and their honest twins."""
