"""The folder of the solved chapters, and the error for a broken chapter; imports nothing heavy."""

from pathlib import Path

SOLUTIONS = Path(__file__).resolve().parents[1]
SOURCES = SOLUTIONS / "chapters"


class ChapterError(Exception):
    """The error for a solved chapter that breaks a rule of the course; the message names the cell and the rule."""
