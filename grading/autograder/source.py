"""The class's own copy of the chapters: what it was released from, and is graded by, whatever the course is by now."""

import shutil
import tempfile
from pathlib import Path

from authoring.places import SOURCES

UPDATE = "python -m autograder update"  # brings the copy up to the course
IGNORED = (".", "__pycache__")  # what begins so


def begin(folder: Path) -> None:
    """Copy the course's chapters to a class that has none; a link that leads nowhere, to a course that moved, is none.

    A link that leads somewhere stays, as classes have it that were begun before they got copies.
    """
    source = folder / "source"
    if not source.exists():
        source.unlink(missing_ok=True)
        put(SOURCES, source)


def put(new: Path, place: Path) -> None:
    """Let a copy of the folder `new` be at `place`, where nothing is: whole or not at all."""
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-") as made:
        copy = Path(made, "copy")
        shutil.copytree(new, copy, ignore=lambda _, names: [name for name in names if name.startswith(IGNORED)])
        try:
            copy.rename(place)
        except OSError:
            if not place.is_dir():  # else another command has put it there meanwhile
                raise


def chapters(source: Path) -> dict[str, Path]:
    """The folders of the chapters in a folder of solved notebooks, by name."""
    return {path.stem: path.parent for path in sorted(source.glob("*/*.ipynb")) if path.stem == path.parent.name}


def contents(chapter: Path) -> dict[Path, bytes]:
    """The files of a chapter, as far as they are copied, by relative path."""
    paths = [path.relative_to(chapter) for path in chapter.rglob("*") if path.is_file()]
    kept = [path for path in paths if not any(part.startswith(IGNORED) for part in path.parts)]
    return {path: (chapter / path).read_bytes() for path in kept}
