"""Find or create the environment with everything the course needs."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import importlib.util
import os
import sys
from pathlib import Path

from ..words import N_, _
from .commands import SetupError, run, say
from .needs import EVERYTHING, ROOT, in_environment, listed, missing, missing_pins, missing_rooms, pythons, supported

TOO_OLD_OR_NEW = N_(
    "The course needs {pythons}, but {python} is {version}. Name another one: make lab PYTHON=python3.12, or "
    "python3.12 -I course/gradlab lab (on Windows, py -3.12). To get one: python.org, or environment.yml for conda."
)


def too_old_or_new(python: str) -> str:
    """Return that the course cannot run in this Python, named by its place, and what to do."""
    return _(TOO_OLD_OR_NEW, pythons=pythons(), python=python, version=sys.version.split()[0])


def venv_python(root: Path) -> Path:
    """Return the path of the Python in this copy's `.venv`, whether or not it exists."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_own(root: Path) -> bool:
    """Return whether the running Python is that of this copy's `.venv`."""
    return Path(sys.prefix).resolve() == (root / ".venv").resolve()


def suits(root: Path, rooms: tuple[str, ...]) -> bool:
    """Return whether the running Python is of an environment that has everything these rooms need."""
    return in_environment() and supported() and not missing(root, rooms)


def find_python(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> str:
    """Return the Python to use: that of the active environment if it suits these rooms, else that of `.venv`.

    `.venv` is created if it does not exist or its Python is gone.
    """
    if is_own(root) or suits(root, rooms):
        return sys.executable
    own = venv_python(root)
    if in_environment():
        lacks = listed(missing(root, rooms)) if supported() else pythons()
        say(_("The active environment does not have {lacks}; using {folder}.", lacks=lacks, folder=root / ".venv"))
    if not (own.exists() and (root / ".venv/pyvenv.cfg").exists()):
        if not supported():
            raise SetupError(too_old_or_new(sys.executable))
        say(_("Creating {folder} …", folder=root / ".venv"))
        run([sys.executable, "-m", "venv", "--clear", str(root / ".venv")])
    return str(own)


def fill(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> None:
    """Install what these rooms need into the running Python's environment, if anything is missing.

    Packages' dependencies are installed in the versions from requirements.lock, and the rooms in place.
    """
    if not supported():
        raise SetupError(too_old_or_new(sys.prefix) + " " + _("First delete {folder}.", folder=root / ".venv"))
    pins = missing_pins(root, rooms)
    if pins:
        say(_("Installing into {folder} (once; a few minutes, about 2 GB) …", folder=sys.prefix))
        lock = root / "requirements.lock"
        install([*(["-c", str(lock)] if lock.exists() else []), *pins])
    gaps = missing_rooms(root, rooms)
    if gaps:
        say(_("Installing {names} …", names=", ".join(gaps)))
        folders = [word for folder in gaps for word in ("-e", str(root / folder))]
        install(["--no-deps", "--no-build-isolation", *folders])


def install(arguments: list[str]) -> None:
    """Run pip, showing only its errors."""
    if importlib.util.find_spec("pip") is None:  # creating the environment was interrupted
        run([sys.executable, "-m", "ensurepip"])
    run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments])
