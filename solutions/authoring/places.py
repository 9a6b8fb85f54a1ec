"""The folder of the solved chapters, and the error for a broken chapter; imports nothing heavy."""

from pathlib import Path

SOLUTIONS = Path(__file__).resolve().parents[1]
ROOT, SOURCES = SOLUTIONS.parent, SOLUTIONS / "chapters"


def sources(language: str = "en") -> Path:
    """Return the folder of the solved chapters in a language: for all but English, it is built."""
    return SOURCES if language == "en" else ROOT / "build" / language / "sources"


class ChapterError(Exception):
    """The error for a solved chapter that breaks a rule of the course; the message names the cell and the rule."""
