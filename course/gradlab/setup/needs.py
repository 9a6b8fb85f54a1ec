"""What the course needs: a Python, the rooms that are here, and the packages that they name.

Each room names in its pyproject.toml what it needs; the versions stand in requirements.txt and nowhere else.
"""

from __future__ import annotations  # an older Python must be able to read this file to say that it is too old

import re
from pathlib import Path

from .commands import SetupError

ROOT = Path(__file__).resolve().parents[3]
OLDEST_PYTHON = (3, 11)
ROOMS = {  # distribution: folder
    "gradlab": "course",
    "authoring": "solutions",
    "mini-autograd": "solutions/mini_autograd",
    "autograder": "grading",
}
STUDENT = ("gradlab",)  # what one needs to learn
EVERYTHING = tuple(ROOMS)


def read_pins(requirements: Path) -> dict[str, str]:
    """Return the pinned version of each package in a requirements file."""
    pins = {}
    for line in requirements.read_text(encoding="utf-8").splitlines():
        wanted = line.split("#")[0].strip()
        if not wanted:
            continue
        name, equals, version = wanted.partition("==")
        if not equals:
            raise SetupError(f"{requirements} has the line {wanted!r}; every line must read name==version")
        pins[name.strip()] = version.strip()
    return pins


def read_rooms(root: Path, rooms: tuple[str, ...] = EVERYTHING) -> dict[str, Path]:
    """Return the folder of each of these rooms that is here; a student has only `course`."""
    folders = {name: root / ROOMS[name] for name in rooms}
    return {name: folder for name, folder in folders.items() if (folder / "pyproject.toml").exists()}


def more_than_course(root: Path) -> bool:
    """Tell whether this is more than a student has, so that tests are run here."""
    return any(name not in STUDENT for name in read_rooms(root))


def needed_pins(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> dict[str, str]:
    """Return the pinned version of each package that these rooms name, in the order of requirements.txt.

    Whoever has more than a student's room runs its tests, and needs what the root's pyproject.toml names for them.
    """
    named = {name: file for file in _declarations(root, rooms) for name in declared(file)}
    known = {canonical(name) for name in ROOMS}
    pins = read_pins(root / "requirements.txt")
    unpinned = named.keys() - known - {canonical(name) for name in pins}
    if unpinned:
        name = min(unpinned)
        raise SetupError(f"{named[name]} names {name}, which has no version in {root / 'requirements.txt'}")
    return {name: version for name, version in pins.items() if canonical(name) in named}


def _declarations(root: Path, rooms: tuple[str, ...]) -> list[Path]:
    files = [folder / "pyproject.toml" for folder in read_rooms(root, rooms).values()]
    tests = root / "pyproject.toml"
    return files + [tests] * (len(files) > 1 and tests.exists())


def declared(file: Path) -> list[str]:
    """Return the names that a pyproject.toml declares, as `canonical` writes them: dependencies, and their groups."""
    data = read_toml(file)
    groups = data.get("dependency-groups", {}).values()
    wanted = [*data.get("project", {}).get("dependencies", []), *(line for group in groups for line in group)]
    return [canonical(re.split(r"[^\w.-]", line, maxsplit=1)[0]) for line in wanted]


def room_version(folder: Path) -> str | None:
    """Return the version that a room's pyproject.toml gives."""
    return read_toml(folder / "pyproject.toml")["project"].get("version")


def read_toml(file: Path) -> dict:
    """Return what a TOML file holds."""
    import tomllib  # an older Python has none, and is told so before it comes here

    return tomllib.loads(file.read_text(encoding="utf-8"))


def canonical(name: str) -> str:
    """Return a distribution's name in the one spelling by which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()
