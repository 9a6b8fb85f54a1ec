"""System programs that pip cannot install, for browser tests (Chromium), grading (bubblewrap, PostgreSQL) and a hub."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..words import N_, _
from .commands import is_root, say
from .needs import ROOT, more_than_course, read_rooms

USES = {  # by the name of its package
    "chromium": N_("browser tests"),
    "bubblewrap": N_("grading"),
    "postgresql": N_("the test with a PostgreSQL gradebook"),
}
PROXY_ADVICE = N_(
    "JupyterHub's proxy, which only a hub and its test need, could not be installed. Install Node.js 20 or newer, "
    "then: npm ci --prefix grading/hub"
)
PROXY = "node_modules/.bin/configurable-http-proxy"  # below grading/hub


def find_chromium() -> str | None:
    """Return the path of Chromium or Chrome, None if there is none; GRADLAB_CHROMIUM can set it."""
    names = ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"]
    programs = Path(os.environ.get("PROGRAMFILES", "/Applications"))
    places = [
        "Google Chrome.app/Contents/MacOS/Google Chrome",
        "Chromium.app/Contents/MacOS/Chromium",
        "Google/Chrome/Application/chrome.exe",
    ]
    there = [str(programs / place) for place in places if (programs / place).exists()]
    return next(filter(None, [os.environ.get("GRADLAB_CHROMIUM"), *map(shutil.which, names), *there]), None)


def find_postgresql() -> Path | None:
    """Return the folder of PostgreSQL's server programs, None if there is none; Debian keeps it off the path."""
    program = shutil.which("initdb") or max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
    return Path(program).resolve().parent if program else None


def missing_programs(root: Path = ROOT) -> list[str]:
    """Return the names of the packages of programs that tests and grading need and do not find; students need none."""
    found: dict[str, str | Path | None] = {"chromium": find_chromium()} if more_than_course(root) else {}
    if grades_here(root):
        found.update(bubblewrap=shutil.which("bwrap"), postgresql=find_postgresql())
    return [package for package, program in found.items() if program is None]


def install_command(package: str) -> str:
    """Return the command that installs a system package on this machine."""
    if shutil.which("apt-get"):
        return f"sudo apt-get install -y {package}"
    if shutil.which("dnf"):
        return f"sudo dnf install -y {'postgresql-server' if package == 'postgresql' else package}"
    if sys.platform == "darwin":
        return f"brew install {package}"
    return _("install {package} with your system's package manager", package=package)


def advice(package: str) -> str:
    """Return what a missing package is for, and how to get it."""
    use, command = _(USES[package]), install_command(package)
    return _("{package}, for {use}, was not found. To get it: {command}", package=package, use=use, command=command)


def apt_install(package: str) -> bool:
    """Install a system package if this is root on a system with apt; return whether this was possible."""
    if not shutil.which("apt-get") or not is_root():
        return False
    say(_("Installing the system package {package} …", package=package))
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", package]):  # an old list may be enough
        done = subprocess.run(["apt-get", *command], check=False, stdout=subprocess.DEVNULL, env=env)
    return done.returncode == 0


def set_up_system(root: Path = ROOT) -> None:
    """Install the system packages that tests and grading need, or say how to."""
    for package in missing_programs(root):
        if not apt_install(package):
            say(advice(package))
    hub = root / "grading/hub"
    if grades_here(root) and (hub / "package-lock.json").exists() and not (hub / PROXY).exists():
        npm = shutil.which("npm")
        words = ["ci", "--no-audit", "--no-fund", "--silent", "--prefix", str(hub)]
        if npm is None or subprocess.run([npm, *words], check=False).returncode != 0:
            say(_(PROXY_ADVICE))


def grades_here(root: Path) -> bool:
    """Return whether submissions can be graded on this machine: on Linux, with more than a student's copy."""
    return sys.platform.startswith("linux") and "autograder" in read_rooms(root)
