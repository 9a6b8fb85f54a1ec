"""Fixtures of the course's tests."""

from browser import open_lab

__all__ = ["open_lab"]
