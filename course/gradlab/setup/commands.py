"""Run other programs and print messages."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import os
import subprocess
from pathlib import Path

from ..words import _


class SetupError(Exception):
    """A problem that only the user can solve; the message says what happened and what to do."""


def say(text: str) -> None:
    """Print a line and flush it, so that it precedes the output of later commands."""
    print(text, flush=True)


def leave_out_other_packages() -> None:
    """Remove the environment variables that give Python, and the programs it starts, packages from elsewhere."""
    for name in ("PYTHONPATH", "PYTHONHOME"):
        os.environ.pop(name, None)
    os.environ["PYTHONNOUSERSITE"] = "1"


def run(command: list[str]) -> None:
    """Run a command that installs something; raise SetupError if it fails."""
    env = {**os.environ, "PIP_USER": "0"}  # pip refuses to install for a user into an environment
    if subprocess.run(command, env=env, check=False).returncode != 0:
        says = _("This command failed, for the reason above. README.md names the systems that the course supports.")
        raise SetupError(f"{' '.join(command)}\n{says}")


def become(command: list[str], env: dict[str, str] | None = None) -> int:
    """Replace this process with a command if the system allows it; else run it and return its exit code."""
    try:
        if os.name != "nt":
            os.execve(command[0], command, os.environ if env is None else env)
        return subprocess.run(command, env=env, check=False).returncode
    except OSError as error:
        says = _("{program} does not start. Delete its environment and run this again.", program=command[0])
        raise SetupError(says) from error


def is_root() -> bool:
    """Return whether this process runs as root, on a system with numeric user ids."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def this_folder(python: str | os.PathLike, *arguments: str) -> list[str]:
    """Return the command that runs gradlab's folder with another Python, before anything is installed there."""
    return [str(python), "-I", str(Path(__file__).resolve().parents[1]), *arguments]
