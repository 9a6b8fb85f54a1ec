"""What the course needs, and what the running Python has: a version, the rooms in this copy, the packages they name.

Each room's pyproject.toml names the packages it needs; only requirements.txt contains the versions.
"""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import importlib.metadata
import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

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


def supported() -> bool:
    """Return whether the course can run in this version of Python."""
    return OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON


def in_environment() -> bool:
    """Return whether this Python belongs to an active virtual or conda environment."""
    conda = os.environ.get("CONDA_PREFIX")
    return sys.prefix != sys.base_prefix or (conda is not None and Path(conda).resolve() == Path(sys.prefix).resolve())


def version_found(name: str) -> str | None:
    """Return the installed version of a package, None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def room_source(name: str) -> Path | None:
    """Return the folder from which a room is installed in place, None if it is not installed this way."""
    for distribution in importlib.metadata.distributions(name=name):
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable"):
            return Path(url2pathname(urlparse(origin["url"]).path))
    return None


def missing_pins(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> dict[str, str]:
    """Return what was found instead of each needed package, such as {"torch==2.13.0": "not installed"}.

    Users may choose a version's build, such as 2.13.0+cpu or 2.13.0+cu130.
    """
    versions = {f"{name}=={wanted}": version_found(name) or "" for name, wanted in needed_pins(root, rooms).items()}
    return {
        pin: version or _("not installed")
        for pin, version in versions.items()
        if version.split("+")[0] != pin.partition("==")[2]
    }


def missing_rooms(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> dict[str, str]:
    """Return what was found instead of each room installed from this copy, such as {"course/": "not installed"}."""
    sources = {folder: room_source(name) for name, folder in read_rooms(root, rooms).items()}
    return {
        f"{folder.relative_to(root).as_posix()}/": _("installed from {place}", place=source)
        if source
        else _("not installed")
        for folder, source in sources.items()
        if source is None or source.resolve() != folder.resolve()
    }


def missing(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> dict[str, str]:
    """Return what this Python has instead of each thing that these rooms need; {} if nothing is missing."""
    return {**missing_pins(root, rooms), **missing_rooms(root, rooms)}


def listed(lacks: dict[str, str]) -> str:
    """Return the first missing things in words."""
    words = [f"{name} ({found})" for name, found in lacks.items()]
    first = ", ".join(words[:3])
    return _("{names} and {count} more", names=first, count=len(words) - 3) if words[3:] else first
