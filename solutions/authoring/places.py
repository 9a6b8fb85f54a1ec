"""Where the solved chapters are, and the error that names what is wrong with one; imports nothing heavy."""

from pathlib import Path

SOLUTIONS = Path(__file__).resolve().parents[1]
SOURCES = SOLUTIONS / "chapters"


class ChapterError(Exception):
    """A solved chapter breaks a rule of the course; the message names the cell and the rule."""
