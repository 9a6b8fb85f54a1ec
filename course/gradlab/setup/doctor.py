"""The doctor: one line for each thing the course needs, and how to fix what is missing."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from ..words import _
from .commands import become, say, this_folder
from .install import is_own, suits, too_old_or_new, venv_python
from .needs import EVERYTHING, ROOT, STUDENT, missing, needed_pins, pythons, read_rooms, supported, version_found
from .system import USES, grades_here, install_command, missing_programs


class Finding(NamedTuple):
    """One line of the doctor's report; if it is `needed` and not `fine`, it must be fixed."""

    name: str
    state: str
    fine: bool
    fix: str = ""
    needed: bool = True

    def __str__(self):
        mark = _("ok") if self.fine else _("FIX") if self.needed else _("note")
        advised = _("{state}; to get it: {command}", state=self.state, command=self.fix)
        return f"  {mark:<5} {self.name:<41} {self.state if self.fine or self.needed else advised}"


def examine(root: Path = ROOT) -> list[Finding]:
    """Compare the running Python and this machine with what the course needs."""
    version = _("{version} in {folder}", version=sys.version.split()[0], folder=sys.prefix)
    findings = [Finding(pythons(), version, supported(), too_old_or_new(sys.executable))]
    if supported():  # only a suitable Python can look for packages
        findings += [*examine_packages(root), *examine_sandbox(root)]
    for package in missing_programs(root):
        name = _("{package} (for {use})", package=package, use=_(USES[package]))
        findings.append(Finding(name, _("not found"), False, install_command(package), False))
    return findings


def examine_packages(root: Path) -> list[Finding]:
    """Check packages and rooms; check those that students do not need only if one of these rooms is installed."""
    further = {name: folder for name, folder in read_rooms(root).items() if name not in STUDENT}
    rooms = EVERYTHING if any(version_found(name) for name in further) else STUDENT
    without = "python -m pip install -c requirements.txt -e course"
    fix = _("make setup (without make: {command}, in {folder})", command=without, folder=root)
    lacks = missing(root, rooms)
    findings = [Finding(name, found, False, fix) for name, found in lacks.items()]
    if not lacks:
        count = len(needed_pins(root, rooms))
        findings.append(Finding(_("packages"), _("all {count} in the versions of requirements.txt", count=count), True))
    if further and rooms == STUDENT:
        names = ", ".join(f"{folder.name}/" for folder in further.values())
        name = _("{folders} and the tests", folders=names)
        findings.append(Finding(name, _("not installed"), False, "make setup", needed=False))
    return findings


def examine_sandbox(root: Path) -> list[Finding]:
    """Try to break out of the sandbox in which submissions are graded; students do not need it."""
    name = _("a sandbox (for grading)")
    if "autograder" in read_rooms(root) and not sys.platform.startswith("linux"):
        elsewhere = _("a privileged container on macOS, WSL 2 on Windows")
        return [Finding(name, _("needs Linux"), False, elsewhere, needed=False)]
    if not grades_here(root) or shutil.which("bwrap") is None or missing(root):
        return []
    tried = subprocess.run([sys.executable, "-m", "autograder.sandbox"], capture_output=True, text=True, check=False)
    said = (tried.stdout or tried.stderr).strip().rpartition("\n")[2]
    return [Finding(name, said, tried.returncode == 0, _("python -m autograder.sandbox says more"))]


def report(findings: list[Finding]) -> int:
    """Print the doctor's report and return its exit code: 1 if something needed is missing."""
    for finding in findings:
        say(str(finding))
    fixes = dict.fromkeys(finding.fix for finding in findings if finding.needed and not finding.fine)
    say("\n" + (_("To fix:") if fixes else _("Everything you need is here.")))
    for fix in fixes:
        say(f"  {fix}")
    return 1 if fixes else 0


def doctor(root: Path = ROOT) -> int:
    """Report on the Python that `make` would use: the active environment if it suits, else `.venv`, else this one."""
    own = venv_python(root)
    if own.exists() and not is_own(root) and not suits(root, STUDENT):
        return become(this_folder(own, "doctor"))
    return report(examine(root))
