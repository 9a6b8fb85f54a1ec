"""The files of a submission: whether nbgrader may look at them, and which of them its cells find beside them."""

import os
import stat
from pathlib import Path

MAX_FILES = 500
MAX_BYTES = 50_000_000


def unfit(folder: Path, name: str) -> str:
    """Why nbgrader must not even look at a submission: it follows links and copies what they point to."""
    if folder.is_symlink():
        return "the submission is a link."
    paths = [Path(parent, item) for parent, folders, files in os.walk(folder) for item in folders + files]
    if len(paths) > MAX_FILES:
        return f"there are more than {MAX_FILES} files in it."
    if sum(path.lstat().st_size for path in paths) > MAX_BYTES:
        return f"its files have more than {MAX_BYTES / 1e6:g} MB together."
    for path in paths:
        found = path.lstat()
        regular = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not (regular or stat.S_ISDIR(found.st_mode)):
            link = _readable(path.relative_to(folder))
            return f"{link} is a link or a special file; only regular files can be handed in."
    if not (folder / f"{name}.ipynb").is_file():
        found = ", ".join(sorted(_readable(path.name) for path in folder.iterdir())) or "nothing"
        return f"there is no {name}.ipynb in it (found: {found})."
    return ""


def beside_notebook(folder: Path) -> dict[str, bytes]:
    """The files that a submission's cells find beside them, by relative path: all but notebooks."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".ipynb"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}


def _readable(name: Path | str) -> str:
    return os.fsencode(name).decode(errors="backslashreplace")  # any bytes can be a name, and not all are text
