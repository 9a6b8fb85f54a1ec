"""Fixtures of the course's tests."""

from browser import chromium, open_lab

__all__ = ["chromium", "open_lab"]
