"""Where the notebook lies: beside its record, below the folder that holds all chapters."""

import contextlib
import re
from pathlib import Path

FOLDER = Path.cwd()  # where the kernel started, wherever its code goes later; a forked kernel sets it again
CHAPTER = re.compile(r"(\d\d)_(\w+)")  # the name of a chapter's folder


def home(folder: Path | None = None) -> Path:
    """The folder that holds the chapters: above a chapter's own, else the folder itself.

    So a copy of a chapter (`02_slug-Copy1`, `02_slug.before-DATE`) keeps in itself what is remembered of it.
    """
    folder = Path(folder or FOLDER)
    return folder.parent if CHAPTER.fullmatch(folder.name) else folder


def saved_at() -> int:
    """When the chapter's notebook was saved last, in nanoseconds of the file system's clock; 0 if there is none."""
    with contextlib.suppress(OSError):
        return (FOLDER / f"{FOLDER.name}.ipynb").stat().st_mtime_ns
    return 0
