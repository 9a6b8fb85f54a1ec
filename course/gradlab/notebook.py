"""Where the notebook is: beside its record, in a folder below the one with all chapters."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import contextlib
import re
from pathlib import Path

FOLDER = Path.cwd()  # where the kernel started, even if its code changes folders; a forked kernel sets it again
CHAPTER = re.compile(r"(\d\d)_(\w+)")  # a chapter folder's name
OWN_ENGINE = "my_engine"  # the folder beside the chapters in which chapter 14 writes the learner's engine
OWN_PICTURE = "my_engine.png"  # beside that chapter's notebook: the picture that a learner shares


def home(folder: Path | None = None) -> Path:
    """Return the folder that holds the chapters: the parent of a chapter's folder, else the folder itself.

    A copy of a chapter (`02_slug-Copy1`, `02_slug.before-DATE`) therefore remembers its own results.
    """
    folder = Path(folder or FOLDER)
    return folder.parent if CHAPTER.fullmatch(folder.name) else folder


def saved_at() -> int:
    """Return when the chapter's notebook was last saved, in ns of the file system's clock; 0 if it does not exist."""
    with contextlib.suppress(OSError):
        return (FOLDER / f"{FOLDER.name}.ipynb").stat().st_mtime_ns
    return 0
