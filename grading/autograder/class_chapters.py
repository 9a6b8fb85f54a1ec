"""Manage a class's copy of the chapters, from which assignments are released and graded even if the course changes."""

import shutil
import tempfile
from pathlib import Path

from authoring.places import sources
from gradlab import atomic, words
from gradlab.words import _

from .errors import ClassError

UPDATE = "python -m autograder update"  # updates the copy
IGNORED = (".", "__pycache__", "pages", words.FILE)  # prefixes of names that are not copied; two are beside chapters


def course(language: str) -> Path:
    """Return the course's solved chapters in a language; raise ClassError if that edition has not been built."""
    folder = sources(language)
    if language != "en" and not words.read(folder):
        raise ClassError(_("Build the course's edition first: make notebooks LANGUAGE={code}", code=language))
    return folder


def speak(folder: Path, language: str) -> None:
    """Give a class the course's catalogue for its language, and use it."""
    catalogue = words.read(course(language))
    if catalogue != words.read(folder):
        atomic.write_bytes(folder / words.FILE, catalogue)
    words.use(catalogue)


def begin(folder: Path) -> None:
    """Copy the course's chapters, in the language in use, into a class that has none, replacing a dangling link.

    A working link is kept: classes of early versions link to the course.
    """
    source = folder / "source"
    if not source.exists():
        source.unlink(missing_ok=True)
        put(course(words.language()), source)


def put(new: Path, target: Path) -> None:
    """Copy the folder `new`, a chapter or all of them, with the stages they import, to `target`, atomically.

    `target` must not exist.
    """
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as made:
        copy = Path(made, "copy")
        shutil.copytree(new, copy, ignore=lambda _, names: [name for name in names if name.startswith(IGNORED)])
        for chapter in (new, *filter(Path.is_dir, new.iterdir())):
            for name, data in _stages(chapter).items():
                (copy / chapter.relative_to(new) / name).write_bytes(data)
        copy.rename(target)


def chapters(source: Path) -> dict[str, Path]:
    """Return the chapter folders inside a folder of solved notebooks, by name."""
    return {path.stem: path.parent for path in sorted(source.glob("*/*.ipynb")) if path.stem == path.parent.name}


def contents(chapter: Path) -> dict[Path, bytes]:
    """Return the contents of a chapter's files, and of the stages it imports, by relative path.

    Names with a prefix in IGNORED are left out.
    """
    paths = [path.relative_to(chapter) for path in chapter.rglob("*") if path.is_file()]
    kept = [path for path in paths if not any(part.startswith(IGNORED) for part in path.parts)]
    return _stages(chapter) | {path: (chapter / path).read_bytes() for path in kept}


def _stages(chapter: Path) -> dict[Path, bytes]:
    """Return the course's stages of the engine that a chapter imports and that are not beside it already."""
    from gradlab.engine import STAGES  # it imports IPython, which a command's help does not need

    notebook = chapter / f"{chapter.name}.ipynb"
    if not notebook.exists() or b"own_engine" not in notebook.read_bytes():
        return {}
    names = [path for path in STAGES.glob("engine_*.py") if path.stem[-2:] < chapter.name[:2]]
    return {Path(path.name): path.read_bytes() for path in names if not (chapter / path.name).exists()}
