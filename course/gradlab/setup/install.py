"""Find or create the environment with everything the course needs."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .commands import SetupError, run, say, this_folder
from .found import described, in_environment, missing_pins, missing_rooms, serves_another_copy, supported
from .needs import EVERYTHING, NEWEST_PYTHON, OLDEST_PYTHON, PYTHONS, ROOT, STUDENT, read_rooms
from .system import apt_install, install_command


def venv_python(root: Path) -> Path:
    """Return the path of the Python in this copy's `.venv`, whether or not it exists."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def set_up(root: Path = ROOT, rooms: tuple[str, ...] = EVERYTHING) -> str:
    """Return a Python that has everything these rooms need, after installing what is missing.

    It belongs to the active conda or virtual environment if that satisfies the pins, else to this copy's `.venv`.
    Packages' dependencies are installed in the versions from requirements.lock.
    """
    own = venv_python(root)
    if in_environment() and Path(sys.prefix).resolve() != (root / ".venv").resolve():
        pins = described(missing_pins(root, rooms)) if supported() else [PYTHONS]
        if not pins and not serves_another_copy(root):
            install_rooms(sys.executable, root, rooms, missing_rooms(root, rooms))
            return sys.executable
        reason = f"does not have {', '.join(pins[:3])}{' …' if pins[3:] else ''}" if pins else "belongs to another copy"
        say(f"The active environment {sys.prefix} {reason}; using {root / '.venv'}.")
    gaps = ask_venv(own, rooms) if own.exists() else None
    if not gaps or not gaps["pip"]:
        make_venv(own.parents[1])
        gaps = ask_venv(own, rooms)
    if "torch" in gaps["pins"] and gaps["no_torch"]:
        raise SetupError(f"{gaps['no_torch']}.")
    if gaps["pins"]:
        say(f"Installing into {root / '.venv'} (once; a few minutes, about 2 GB) …")
        lock = root / "requirements.lock"
        bound = ["-c", str(lock)] if lock.exists() else []
        install(own, [*bound, *(f"{name}=={version}" for name, version in gaps["pins"].items())])
    install_rooms(str(own), root, rooms, gaps["rooms"])
    if gaps["pins"] or gaps["rooms"]:
        _require_all(own, rooms)
    return str(own)


def _require_all(own: Path, rooms: tuple[str, ...]) -> None:
    """Raise SetupError if something is still missing in `.venv` after pip installed it without an error."""
    gaps = ask_venv(own, rooms)
    left = [f"{name} {version}" for name, version in gaps["pins"].items()] + gaps["rooms"]
    if left:
        raise SetupError(
            f"pip ended without an error, but {own.parents[1]} does not have {', '.join(left[:3])}. A setting such as "
            f"`target` or `prefix` may have sent packages elsewhere. To see pip's settings: {own} -m pip config list"
        )


def make_venv(folder: Path) -> None:
    """Create a virtual environment, or complete one that was left unfinished."""
    base = find_python()
    if subprocess.run([base, "-c", "import ensurepip"], capture_output=True, check=False).returncode != 0:
        show = "import sys; print('python%d.%d-venv' % sys.version_info[:2])"
        package = subprocess.run([base, "-c", show], capture_output=True, text=True, check=True).stdout.strip()
        if not apt_install(package):
            raise SetupError(f"{base} cannot create virtual environments. Run: {install_command(package)}")
    say(f"Creating {folder} …")
    run([base, "-m", "venv", str(folder)], f"{base} could not create a virtual environment")


def ask_venv(own: Path, rooms: tuple[str, ...]) -> dict:
    """Return what the Python in `.venv` reports as missing for these rooms."""
    broken = f"{own.parents[1]} cannot be used. Delete it and run this again."
    words = ["missing", *(["--student"] if rooms == STUDENT else [])]
    answer = subprocess.run(this_folder(own, *words), capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SetupError(f"{answer.stderr.strip()}\n{broken}")
    gaps = json.loads(answer.stdout)
    if not OLDEST_PYTHON <= tuple(gaps["python"]) <= NEWEST_PYTHON:
        version = ".".join(map(str, gaps["python"]))
        raise SetupError(f"The environment has Python {version}, and the course needs {PYTHONS}. {broken}")
    return gaps


def find_python() -> str:
    """Return a Python of a supported version: the running one if it is, else one from the path or Windows' launcher."""
    if supported():
        return sys.executable
    for minor in range(OLDEST_PYTHON[1], NEWEST_PYTHON[1] + 1):
        for command in ([f"python3.{minor}"], ["py", f"-3.{minor}"]):
            if shutil.which(command[0]):
                ask = [*command, "-I", "-c", "import sys; print(sys.executable)"]
                answer = subprocess.run(ask, capture_output=True, text=True, check=False)  # pyenv's may only complain
                if answer.returncode == 0:
                    return answer.stdout.strip()
    raise SetupError(
        f"The course needs {PYTHONS}. {sys.executable} is {sys.version.split()[0]}, and no other was found. Install "
        "one (from python.org, or by conda with `conda env create -f environment.yml`) and run this again."
    )


def install_rooms(python: str, root: Path, rooms: tuple[str, ...], missing: list[str]) -> None:
    """Install the rooms in place, so that Python uses them from their folders."""
    if missing:
        say(f"Installing {', '.join(missing)} …")
        folders = [word for folder in read_rooms(root, rooms).values() for word in ("-e", str(folder))]
        install(python, ["--no-deps", "--no-build-isolation", *folders])


def install(python: str | Path, arguments: list[str]) -> None:
    """Run pip, showing only its errors."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    run(command, "pip could not install what the course needs; see its message above")
