"""Inspect the running Python: its version, its packages and its rooms, compared with what the course needs."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import sysconfig
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from .needs import (
    EVERYTHING,
    NEWEST_PYTHON,
    NO_TORCH,
    OLDEST_PYTHON,
    PLATFORMS,
    ROOMS,
    ROOT,
    needed_pins,
    read_rooms,
    room_version,
)


def supported() -> bool:
    """Return whether the course can run in this version of Python."""
    return OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON


def no_torch() -> str:
    """Return why pip cannot install torch in this Python, with what to do; "" if it can."""
    system, *others = sysconfig.get_platform().split("-")
    machine = [platform.machine()] if system == "macosx" else others[-1:]  # a macOS build can be for two kinds
    name = "-".join([system, *machine])
    return "" if name in PLATFORMS else NO_TORCH.format(name)


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


def same_version(installed: str | None, wanted: str) -> bool:
    """Return whether the wanted version is installed; users may choose its build (2.13.0+cpu, 2.13.0+cu130)."""
    return installed is not None and installed.split("+")[0] == wanted


def room_source(name: str) -> Path | None:
    """Return the folder from which a room is installed in place, None if it is not installed this way."""
    for distribution in importlib.metadata.distributions(name=name):
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable"):
            return Path(url2pathname(urlparse(origin["url"]).path))
    return None


def missing_pins(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> dict[str, str]:
    """Return the wanted version of each needed package that is missing or has a different version."""
    wanted = needed_pins(root, rooms)
    return {name: version for name, version in wanted.items() if not same_version(version_found(name), version)}


def described(pins: dict[str, str]) -> list[str]:
    """Return a description of each missing package, with the version found instead."""
    installed = {name: version_found(name) for name in pins}
    return [
        f"{name} {wanted} ({f'found {installed[name]}' if installed[name] else 'not installed'})"
        for name, wanted in pins.items()
    ]


def missing_rooms(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> list[str]:
    """Describe each room that is not installed from this copy of the course, or has the wrong version."""
    gaps = []
    for name, folder in read_rooms(root, rooms).items():
        source, installed = room_source(name), version_found(name)
        wanted = room_version(folder) or installed
        if source is None or source.resolve() != folder.resolve():
            gaps.append(f"{name} from {folder.name}/ ({f'installed from {source}' if source else 'not installed'})")
        elif installed != wanted:
            gaps.append(f"{name} {wanted} from {folder.name}/ (found {installed})")
    return gaps


def serves_another_copy(root: Path = ROOT) -> bool:
    """Return whether this Python has rooms installed from a different copy of the course that still exists."""
    sources = {name: room_source(name) for name in read_rooms(root)}
    return any(source and source.exists() and source.resolve() != root / ROOMS[n] for n, source in sources.items())


def lacking(rooms: tuple[str, ...] = EVERYTHING) -> dict:
    """Return, as plain data, what the running Python lacks, so that one Python can ask another."""
    return {
        "python": sys.version_info[:2],
        "pip": importlib.util.find_spec("pip") is not None,
        "no_torch": no_torch(),
        "pins": missing_pins(rooms=rooms) if supported() else {},
        "rooms": missing_rooms(rooms=rooms) if supported() else [],
    }
