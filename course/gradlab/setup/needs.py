"""What the course needs: a Python version, the rooms in this copy, and the packages they name.

Each room's pyproject.toml names the packages it needs; only requirements.txt contains the versions.
"""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import re
from pathlib import Path

from ..words import _
from .commands import SetupError

ROOT = Path(__file__).resolve().parents[3]
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)  # torch's pinned version has no build for a newer one
ROOMS = {  # distribution: folder
    "gradlab": "course",
    "authoring": "solutions",
    "mini-autograd": "solutions/mini_autograd",
    "autograder": "grading",
}
STUDENT = ("gradlab",)  # the room that learners need
EVERYTHING = tuple(ROOMS)


def pythons() -> str:
    """Return in words in which versions of Python the course runs."""
    oldest, newest = ("{}.{}".format(*version) for version in (OLDEST_PYTHON, NEWEST_PYTHON))
    return _("Python {oldest} to {newest}", oldest=oldest, newest=newest)


def read_pins(requirements: Path) -> dict[str, str]:
    """Return the version of each package in a requirements file; SetupError if there are none."""
    text = requirements.read_text(encoding="utf-8") if requirements.exists() else ""
    pins = dict(re.findall(r"^([\w.-]+)\s*==\s*([\w.+!-]+)", text, re.MULTILINE))
    if not pins:
        raise SetupError(_("{file} has no versions of packages. Get the course again.", file=requirements))
    return pins


def read_rooms(root: Path, rooms: tuple[str, ...] = EVERYTHING) -> dict[str, Path]:
    """Return the folders of these rooms that exist here; a student has only `course`."""
    folders = {name: root / ROOMS[name] for name in rooms}
    return {name: folder for name, folder in folders.items() if (folder / "pyproject.toml").exists()}


def more_than_course(root: Path) -> bool:
    """Return whether this copy has more than a student's room, so that tests can run here."""
    return any(name not in STUDENT for name in read_rooms(root))


def needed_pins(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> dict[str, str]:
    """Return the pinned version of each package that these rooms name, in the order of requirements.txt.

    In a copy with more than the student's room, the packages for tests in the root's pyproject.toml are included.
    """
    files = [folder / "pyproject.toml" for folder in read_rooms(root, rooms).values()]
    tests = root / "pyproject.toml"
    files += [tests] * (len(files) > 1 and tests.exists())
    named = {name for file in files for name in declared(file)}
    pins = read_pins(root / "requirements.txt")
    return {name: version for name, version in pins.items() if canonical(name) in named}


def declared(file: Path) -> list[str]:
    """Return the normalized names of the dependencies and dependency groups in a pyproject.toml."""
    import tomllib  # an older Python lacks it, and is refused before it gets here

    data = tomllib.loads(file.read_text(encoding="utf-8"))
    groups = data.get("dependency-groups", {}).values()
    wanted = [*data.get("project", {}).get("dependencies", []), *(line for group in groups for line in group)]
    return [canonical(re.split(r"[^\w.-]", line, maxsplit=1)[0]) for line in wanted]


def canonical(name: str) -> str:
    """Return a distribution's name in normalized spelling, for comparisons."""
    return re.sub(r"[-_.]+", "-", name).lower()
