"""Running other programs, and saying what happens."""

from __future__ import annotations  # an older Python must be able to read this file to say that it is too old

import os
import subprocess
from pathlib import Path


class SetupError(Exception):
    """Something only the user can mend; the message says what happened and what to do."""


def say(text: str) -> None:
    """Print at once, so that the line stands before the output of what follows."""
    print(text, flush=True)


def run(command: list[str], complaint: str) -> None:
    """Run a command; if it fails, stop with the complaint and the command."""
    if subprocess.run(command, check=False).returncode != 0:
        raise SetupError(f"{complaint}. The command was:\n  {' '.join(command)}")


def become(command: list[str], env: dict[str, str] | None = None) -> int:
    """Run a command in place of this process where the system can do that; else return its exit code."""
    if os.name != "nt":
        os.execve(command[0], command, os.environ if env is None else env)
    return subprocess.run(command, env=env, check=False).returncode


def is_root() -> bool:
    """Tell whether this is the administrator of a system that has one by number."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def this_folder(python: str | os.PathLike, *arguments: str) -> list[str]:
    """Return the command that runs these very modules with another Python, before anything is installed there."""
    return [str(python), "-I", str(Path(__file__).resolve().parents[1]), *arguments]
