"""The doctor: one line for each thing the course needs, and how to fix what is missing."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from .commands import become, say, this_folder
from .found import missing, supported, version_found
from .install import TOO_OLD_OR_NEW, is_own, suits, venv_python
from .needs import EVERYTHING, PYTHONS, ROOT, STUDENT, needed_pins, read_rooms
from .system import USES, grades_here, install_command, missing_programs


class Finding(NamedTuple):
    """One line of the doctor's report; if it is `needed` and not `fine`, it must be fixed."""

    name: str
    state: str
    fine: bool
    fix: str = ""
    needed: bool = True

    def __str__(self):
        mark = "ok" if self.fine else "FIX" if self.needed else "note"
        advice = "" if self.fine or self.needed else f"; to get it: {self.fix}"
        return f"  {mark:<5} {self.name:<41} {self.state}{advice}"


def examine(root: Path = ROOT) -> list[Finding]:
    """Compare the running Python and this machine with what the course needs."""
    version = f"{sys.version.split()[0]} in {sys.prefix}"
    findings = [Finding(PYTHONS, version, supported(), TOO_OLD_OR_NEW.format(sys.executable))]
    if supported():  # only a suitable Python can look for packages
        findings += [*examine_packages(root), *examine_sandbox(root)]
    for package in missing_programs(root):
        findings.append(
            Finding(f"{package} (for {USES[package]})", "not found", False, install_command(package), False)
        )
    return findings


def examine_packages(root: Path) -> list[Finding]:
    """Check packages and rooms; check those that students do not need only if one of these rooms is installed."""
    further = {name: folder for name, folder in read_rooms(root).items() if name not in STUDENT}
    rooms = EVERYTHING if any(version_found(name) for name in further) else STUDENT
    fix = f"make setup (without make: python -m pip install -c requirements.txt -e course, in {root})"
    lacks = missing(root, rooms)
    findings = [Finding(name, found, False, fix) for name, found in lacks.items()]
    if not lacks:
        findings.append(Finding("packages", f"all {len(needed_pins(root, rooms))} of requirements.txt", True))
    if further and rooms == STUDENT:
        names = ", ".join(f"{folder.name}/" for folder in further.values())
        findings.append(Finding(f"{names} and the tests", "not installed", False, "make setup", needed=False))
    return findings


def examine_sandbox(root: Path) -> list[Finding]:
    """Try to break out of the sandbox in which submissions are graded; students do not need it."""
    name = "a sandbox (for grading)"
    if "autograder" in read_rooms(root) and not sys.platform.startswith("linux"):
        elsewhere = "a privileged container on macOS, WSL 2 on Windows"
        return [Finding(name, "needs Linux", False, elsewhere, needed=False)]
    if not grades_here(root) or shutil.which("bwrap") is None:
        return []
    if missing(root):
        return [Finding(name, "not tried until the rest is installed", False, "make setup", needed=False)]
    tried = subprocess.run([sys.executable, "-m", "autograder.sandbox"], capture_output=True, text=True, check=False)
    said = (tried.stdout or tried.stderr).strip().splitlines() or ["no answer"]
    return [Finding(name, said[-1], tried.returncode == 0, "python -m autograder.sandbox says more")]


def report(findings: list[Finding]) -> int:
    """Print the doctor's report and return its exit code: 1 if something needed is missing."""
    for finding in findings:
        say(str(finding))
    fixes = dict.fromkeys(finding.fix for finding in findings if finding.needed and not finding.fine)
    say("\nTo fix:" if fixes else "\nEverything you need is here.")
    for fix in fixes:
        say(f"  {fix}")
    return 1 if fixes else 0


def doctor(root: Path = ROOT) -> int:
    """Report on the Python that `make` would use: the active environment if it suits, else `.venv`, else this one."""
    own = venv_python(root)
    if own.exists() and not is_own(root) and not suits(root, STUDENT):
        return become(this_folder(own, "doctor"))
    return report(examine(root))
