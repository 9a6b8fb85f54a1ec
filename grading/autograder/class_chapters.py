"""Manage a class's copy of the chapters, from which assignments are released and graded even if the course changes."""

import shutil
import tempfile
from pathlib import Path

from authoring.places import SOURCES

UPDATE = "python -m autograder update"  # updates the copy
IGNORED = (".", "__pycache__")  # prefixes of names that are not copied


def begin(folder: Path) -> None:
    """Copy the course's chapters into a class that has none, replacing a dangling link.

    A working link is kept: classes created by earlier versions link to the course.
    """
    source = folder / "source"
    if not source.exists():
        source.unlink(missing_ok=True)
        put(SOURCES, source)


def put(new: Path, place: Path) -> None:
    """Copy the folder `new` to `place`, which must not exist, atomically."""
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-") as made:
        copy = Path(made, "copy")
        shutil.copytree(new, copy, ignore=lambda _, names: [name for name in names if name.startswith(IGNORED)])
        try:
            copy.rename(place)
        except OSError:
            if not place.is_dir():  # else another command created it in the meantime
                raise


def chapters(source: Path) -> dict[str, Path]:
    """Return the chapter folders inside a folder of solved notebooks, by name."""
    return {path.stem: path.parent for path in sorted(source.glob("*/*.ipynb")) if path.stem == path.parent.name}


def contents(chapter: Path) -> dict[Path, bytes]:
    """Return the contents of a chapter's files by relative path, leaving out names with a prefix in IGNORED."""
    paths = [path.relative_to(chapter) for path in chapter.rglob("*") if path.is_file()]
    kept = [path for path in paths if not any(part.startswith(IGNORED) for part in path.parts)]
    return {path: (chapter / path).read_bytes() for path in kept}
