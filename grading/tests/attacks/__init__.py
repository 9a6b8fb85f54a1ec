"""Hostile submissions with their required outcomes and honest twins."""
