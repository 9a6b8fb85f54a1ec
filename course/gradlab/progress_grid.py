"""The progress so far: the remembered results of checks, as a picture."""

from .checks.results import exercises, read
from .pictures.progress import Progress


def progress(folder=None):
    """Show the chapters and their exercises as a grid: passed, tried, not yet."""
    return Progress(exercises(folder), read(folder))
