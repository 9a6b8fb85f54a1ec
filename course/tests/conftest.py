"""Fixtures of the course's tests."""

from browser import chromium, lab, open_lab, page, pytest_collection_modifyitems, shared_lab

__all__ = ["chromium", "lab", "open_lab", "page", "pytest_collection_modifyitems", "shared_lab"]
