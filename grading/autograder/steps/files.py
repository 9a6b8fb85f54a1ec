"""The files of a submission: whether nbgrader may look at them, and which of them its cells find beside them."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from .bounded import Bounded, OutOfBoundsError

MAX_FILES = 500
MAX_BYTES = 50_000_000
MAX_DEPTH = 20  # of folders in each other
MAX_NAME = 100  # characters of a student's folder
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"  # of nbgrader's exchange, and of the import
RECEIPTS = {TIMESTAMP, SECRET}
INSTEAD = dict.fromkeys([".zip", ".gz", ".tgz", ".7z", ".rar"], "an archive of it")
INSTEAD |= {".py": "the code alone", ".html": "a page of it", ".pdf": "a printout of it"}
PATTERN = set("*?[]")  # which nbgrader takes for many names
YEARS = range(1990, 2100)
LIGHT_BYTES, LIGHT_PARTS = 1_000_000, 2_000  # of a notebook that is read without being tried first


def is_there(folder: Path) -> bool:
    """Whether something was handed in as this folder; what hides it from whoever grades was handed in too."""
    try:
        folder.lstat()
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def unfit(folder: Path, name: str) -> str:
    """Why nbgrader must not even look at a submission: it follows links and copies what they point to."""
    student = folder.parent.name
    if known_as(student) != student:
        return f"its folder {readable(student)[:MAX_NAME]!r} is no name of a student; rename it, and grade again."
    try:
        return "the submission is a link." if folder.is_symlink() else _unfit(folder, name)
    except OSError as error:
        return f"it cannot be read: {error.strerror}."


def _unfit(folder: Path, name: str) -> str:
    files = size = 0
    for path, found in all_in(folder):
        files, size = files + 1, size + found.st_size
        if files > MAX_FILES:
            return f"there are more than {MAX_FILES} files in it."
        if size > MAX_BYTES:
            return f"its files have more than {MAX_BYTES / 1e6:g} MB together."
        inside = path.relative_to(folder)
        if len(inside.parts) > MAX_DEPTH:
            return f"its folders lie more than {MAX_DEPTH} deep in each other."
        regular = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not (regular or stat.S_ISDIR(found.st_mode)):
            return f"{readable(inside)} is a link or a special file; only regular files can be handed in."
        if not os.access(path, os.R_OK):
            return f"{readable(inside)} cannot be read: {os.strerror(errno.EACCES)}."
    if not (folder / f"{name}.ipynb").is_file():
        return f"there is no {name}.ipynb in it (found: {_found(folder)}).{_instead(folder)}"
    if not (folder / f"{name}.ipynb").stat().st_size:
        return f"{name}.ipynb is empty: it has 0 bytes."
    return _heavy(folder / f"{name}.ipynb") or _untimely(folder / "timestamp.txt")


def _found(folder: Path) -> str:
    """The names of what was submitted; receipts were not."""
    names = sorted(readable(path.name) for path in folder.iterdir() if path.name not in RECEIPTS)
    return ", ".join(names)[:1000] or "nothing"


def _instead(folder: Path) -> str:
    """What to do about the file that was submitted instead of the notebook."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            return f" Submit the notebook itself, not the folder {readable(path.name)[:MAX_NAME]}."
        if path.suffix.casefold() in INSTEAD:
            return f" Submit the notebook itself, not {INSTEAD[path.suffix.casefold()]}."
    return ""


def _heavy(notebook: Path) -> str:
    """Why the notebook takes too long to read, and to compare with what a notebook is; "" if it does not."""
    if notebook.stat().st_size <= LIGHT_BYTES and notebook.read_bytes().count(b"{") <= LIGHT_PARTS:
        return ""
    try:
        _tried(notebook)
    except OutOfBoundsError as error:
        return str(error)
    except Exception:  # nbgrader's steps will say what it is
        pass
    return ""


def _read(notebook: Path) -> None:
    import nbformat

    nbformat.read(notebook, as_version=4)


_tried = Bounded(_read, seconds=2)


def all_in(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All files and folders in a folder, each looked at before what is in it; raises OSError if one cannot be."""
    todo = [folder]
    while todo:
        for path in sorted(todo.pop().iterdir()):
            found = path.lstat()
            yield path, found
            if stat.S_ISDIR(found.st_mode):
                todo.append(path)


def _untimely(path: Path) -> str:
    """Why nbgrader cannot read when the submission was handed in; "" if it can, or if nothing says it."""
    from nbgrader.utils import parse_utc

    if not path.exists():
        return ""
    try:
        if path.stat().st_size > MAX_NAME:
            return f"its timestamp.txt has more than {MAX_NAME} characters."
        read = parse_utc(path.read_text(encoding="utf-8").strip() or str(YEARS[0]))  # empty, it says nothing
        return "" if read.year in YEARS else f"its timestamp.txt says the year {read.year}."
    except Exception as error:  # of all kinds: it is parsed by others' libraries
        return f"its timestamp.txt holds no time ({type(error).__name__})."


def all_of(folder: Path, ignored: Iterable[str] = ()) -> dict[str, bytes]:
    """The files in a folder, by relative path, but for those that match one of nbgrader's patterns."""
    from nbgrader.utils import find_all_files

    paths = sorted(find_all_files(str(folder), list(ignored)))
    return {os.path.relpath(path, folder): Path(path).read_bytes() for path in paths}


def beside_notebook(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files that a submission's cells find beside them: of those in its folder, by relative path, all but receipts.

    Of a module that lies there as a file, such as a released engine_11.py, no other form: Python would import that.
    """
    modules = {name.removesuffix(".py") for name in files if name.endswith(".py") and "/" not in name}
    return {
        name: content
        for name, content in files.items()
        if name not in RECEIPTS
        and not name.endswith(".ipynb")
        and (("/" not in name and name.endswith(".py")) or _module(name) not in modules)
    }


def _module(name: str) -> str:
    """The name under which Python would import what lies at a relative path: a folder or a compiled file."""
    return name.split("/")[0].partition(".")[0]


def known_as(student: str) -> str:
    """The name under which a student's folder stands in the gradebook: its own, if that is a name and no pattern."""
    return "".join("\N{REPLACEMENT CHARACTER}" if c in PATTERN else c for c in readable(student))[:MAX_NAME]


def without_paths(text: str) -> str:
    """A text with the names of files alone: where they lie on whoever grades' machine is nobody's business."""
    return _FOLDERS.sub("", _QUOTED.sub(r"\1\2\1", text))


_QUOTED = re.compile(r"""(['"])/[^'"\n]*/([^'"/\n]+)\1""")
_FOLDERS = re.compile(r"""(?<![\w.:/])/(?:[^\s/'":]+/)+(?=[^/\s])""")


def readable(name: Path | str) -> str:
    """A name as one line of text: any bytes can be a name, and a terminal obeys some of them."""
    text = os.fsencode(name).decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
