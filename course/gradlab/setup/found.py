"""Inspect the running Python: its version, its packages and its rooms, compared with what the course needs."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from ..words import _
from .needs import EVERYTHING, NEWEST_PYTHON, OLDEST_PYTHON, ROOT, needed_pins, read_rooms


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
    found = {f"{name}=={wanted}": version_found(name) or "" for name, wanted in needed_pins(root, rooms).items()}
    return {
        pin: version or _("not installed")
        for pin, version in found.items()
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
