"""Fixtures of the grading tests."""

from browser import open_lab

__all__ = ["open_lab"]
