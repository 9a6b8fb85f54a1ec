"""What has been done so far: the memory of passed checks, shown as a picture."""

from .checks.memory import exercises, read
from .pictures.progress import Progress


def progress(folder=None):
    """Show the chapters and their exercises as a grid: passed, tried, not yet begun."""
    return Progress(exercises(folder), read(folder))
