"""Check a submission's files before nbgrader reads them, and select those that its cells may use."""

import contextlib
import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from gradlab import ipynb
from gradlab.words import _

from .bounded import Bounded, OutOfBoundsError

MAX_FILES = 500
MAX_BYTES = 50_000_000
MAX_DEPTH = 20  # of nested folders
MAX_NAME = 100  # characters of a student's folder name
LONGEST = 1000  # bytes of a timestamp or secret
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"  # written by nbgrader's exchange and by the import
RECEIPTS = {TIMESTAMP, SECRET}
PATTERN = set("*?[]")  # nbgrader treats names with these as glob patterns
YEARS = range(1990, 2100)
LIGHT_BYTES, LIGHT_PARTS = 1_000_000, 2_000  # up to these sizes, a notebook is read without a trial


def is_there(folder: Path) -> bool:
    """Return whether this submission folder exists; True if it cannot be accessed, so that it counts as submitted."""
    try:
        folder.lstat()
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def unfit(folder: Path, name: str) -> str:
    """Return why nbgrader must not read a submission, for example because it would follow links; "" if it may."""
    student = folder.parent.name
    if known_as(student) != composed(student):
        shown = readable(student)[:MAX_NAME]
        return _("its folder {name!r} is not a valid student id; rename it and grade again.", name=shown)
    try:
        return _("the submission is a link.") if folder.is_symlink() else _unfit(folder, name)
    except OSError as error:
        return _("it cannot be read: {error}.", error=error.strerror)


def _unfit(folder: Path, name: str) -> str:
    files = size = 0
    for path, status in all_in(folder):
        files, size = files + 1, size + status.st_size
        if files > MAX_FILES:
            return _("it contains more than {count} files.", count=MAX_FILES)
        if size > MAX_BYTES:
            return _("its files exceed {most:g} MB in total.", most=MAX_BYTES / 1e6)
        inside = path.relative_to(folder)
        if len(inside.parts) > MAX_DEPTH:
            return _("its folders are nested more than {count} levels deep.", count=MAX_DEPTH)
        regular = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
        if not (regular or stat.S_ISDIR(status.st_mode)):
            return _("{file} is a link or a special file; only regular files can be submitted.", file=readable(inside))
        if not os.access(path, os.R_OK):
            return _("{file} cannot be read: {error}.", file=readable(inside), error=os.strerror(errno.EACCES))
    if not (folder / f"{name}.ipynb").is_file():
        return _("it contains no {name}.ipynb (found: {found}).", name=name, found=_found(folder))
    if not (folder / f"{name}.ipynb").stat().st_size:
        return _("{name}.ipynb is empty (0 bytes).", name=name)
    stamped = folder / TIMESTAMP
    empty = stamped.is_file() and not stamped.stat().st_size
    if stamped.exists() and not empty and timestamp(folder) is None:  # nbgrader could not read it
        return _("its timestamp.txt does not contain a time after {year}.", year=YEARS[0])
    return _heavy(folder / f"{name}.ipynb")


def _found(folder: Path) -> str:
    """Return the names of the submitted files as text, without nbgrader's receipts; "nothing" if there are none."""
    names = sorted(readable(path.name) for path in folder.iterdir() if path.name not in RECEIPTS)
    # Translators: in "it contains no {name}.ipynb (found: nothing)."
    return ", ".join(names)[:1000] or _("nothing")


def _heavy(notebook: Path) -> str:
    """Return why reading a large notebook takes too long; "" if it does not."""
    if notebook.stat().st_size <= LIGHT_BYTES and notebook.read_bytes().count(b"{") <= LIGHT_PARTS:
        return ""
    try:
        _tried(notebook)
    except OutOfBoundsError as error:
        return str(error)
    except Exception:  # nbgrader's own steps will report it
        pass
    return ""


def cells_of(notebook: Path) -> list[dict]:
    """Return the cells of a notebook as `ipynb.read` does, or an empty list if the file does not exist."""
    return ipynb.read(notebook.read_bytes())["cells"] if notebook.exists() else []


_tried = Bounded(lambda notebook: len(cells_of(notebook)))  # the cells need not come back


def all_in(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the path and lstat of everything in a folder, parents first; raise OSError if something is unreadable."""
    todo = [folder]
    while todo:
        for path in sorted(todo.pop().iterdir()):
            status = path.lstat()
            yield path, status
            if stat.S_ISDIR(status.st_mode):
                todo.append(path)


def timestamp(folder: Path) -> datetime | None:
    """Return when the submission in a folder was submitted, in UTC; None if it has no valid timestamp."""
    try:
        submitted_at = read_time(own_text(folder / TIMESTAMP))
    except Exception:  # any error: third-party libraries parse it
        return None
    return submitted_at if submitted_at.year in YEARS else None


def own_text(path: Path) -> str:
    """Return a small file's text; raise OSError or ValueError if it is large, a link, or in a linked folder."""
    status = path.lstat()
    regular = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    if path.parent.is_symlink() or not regular or status.st_size > LONGEST:
        raise ValueError(path)
    return path.read_text(encoding="utf-8")


def read_time(timestamp: str) -> datetime:
    """Return the time that a timestamp.txt states, in naive UTC; raise an error if it is not one.

    nbgrader's parse_utc takes "+0100" for 100 seconds, and an unknown time zone for UTC.
    """
    from dateutil.tz import gettz
    from nbgrader.utils import parse_utc

    text = timestamp.strip()
    with contextlib.suppress(ValueError):
        return parse_utc(datetime.fromisoformat(re.sub(r" +(?=[+-])", "", text)))
    zone = text.rpartition(" ")[2]
    if zone.isalpha() and zone not in ("Z", "AM", "PM") and gettz(zone) is None:
        raise ValueError(zone)
    return parse_utc(text)


def beside_notebook(files: dict[str, bytes]) -> dict[str, bytes]:
    """Select the files that a submission's cells may use, by relative path: all but notebooks and receipts.

    Leaves out packages and compiled files with the name of a .py file, such as a released engine_11.py: Python would
    import them instead.
    """
    own = {name for name in files if name.endswith(".py") and "/" not in name}
    modules = {name.removesuffix(".py") for name in own}
    others = [name for name in files if name not in RECEIPTS and not name.endswith(".ipynb")]
    return {name: files[name] for name in others if name in own or re.split("[/.]", name)[0] not in modules}


def known_as(student: str) -> str:
    """Return the gradebook id of a student's folder: its name, composed, unprintable and glob characters replaced."""
    name = readable(composed(student))
    return "".join("\N{REPLACEMENT CHARACTER}" if c in PATTERN else c for c in name)[:MAX_NAME]


def composed(name: str) -> str:
    """Return a name in Unicode's composed form, which ids have; macOS writes file names in the decomposed form."""
    return unicodedata.normalize("NFC", name)


def without_paths(text: str) -> str:
    """Return text with absolute paths cut to file names, so that it reveals nothing about this machine."""
    return _FOLDERS.sub("", _QUOTED.sub(r"\1\2\1", text))


_QUOTED = re.compile(r"""(['"])/[^'"\n]*/([^'"/\n]+)\1""")
_FOLDERS = re.compile(r"""(?<![\w.:/])/(?:[^\s/'":]+/)+(?=[^/\s])""")


def readable(name: Path | str) -> str:
    """Return a name as one line of printable text: file names can contain terminal control characters."""
    text = os.fsencode(name).decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
