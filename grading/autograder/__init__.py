"""Grading behind nbgrader: points come from values compared outside the student's process."""
