"""The doctor: one line for each thing the course needs, and how to fix what is missing."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import json
import os
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from importlib.metadata import distributions
from pathlib import Path

from .commands import SetupError, say, this_folder
from .found import (
    in_environment,
    missing_pins,
    missing_rooms,
    no_torch,
    room_source,
    same_version,
    supported,
    version_found,
)
from .install import find_python, venv_python
from .needs import EVERYTHING, PYTHONS, ROOT, STUDENT, needed_pins, read_rooms
from .system import find_chromium, install_command

SERVER_EXTENSIONS = [
    "jupyterlab",
    "nbgrader.server_extensions.assignment_list",
    "nbgrader.server_extensions.validate_assignment",
]
LAB_EXTENSIONS = ["@jupyter/nbgrader", "@jupyter-widgets/jupyterlab-manager", "anywidget"]
DISK_NEEDED_GB = 2


class Finding:
    """One line of the doctor's report; if it is `needed` and not `fine`, it must be fixed."""

    def __init__(self, name: str, state: str, fine: bool, fix: str = "", needed: bool = True):
        self.name = name
        self.state = state
        self.fine = fine
        self.fix = fix
        self.needed = needed

    def __str__(self):
        mark = "ok" if self.fine else "FIX" if self.needed else "note"
        advice = "" if self.fine or self.needed or not self.fix else f"; to get it: {self.fix}"
        return f"  {mark:<5} {self.name:<41} {self.state}{advice}"


def examine(root: Path = ROOT) -> list[Finding]:
    """Compare the running Python and this machine with what the course needs."""
    install = f"make setup (without make: python -m pip install -c requirements.txt -e course, in {root})"
    if not supported():
        return [*examine_python(), *examine_machine(root)]  # only a suitable Python can look for packages
    return [
        *examine_python(),
        *examine_packages(root, install),
        *examine_pythonpath(root),
        *examine_jupyter(install),
        *examine_machine(root),
        *examine_exchange(root),
        *examine_sandbox(root),
    ]


def examine_python() -> list[Finding]:
    """Check the version of Python and the environment it belongs to."""
    try:
        fix = f"make setup, which uses {find_python()}"
    except SetupError:
        fix = f"install {PYTHONS}, then: make setup"
    return [
        Finding(PYTHONS, sys.version.split()[0], supported(), fix),
        Finding(
            "a separate environment",
            sys.prefix if in_environment() else f"none: {sys.executable} is the system's",
            in_environment(),
            "make setup (without make: python -m venv .venv, then activate it)",
        ),
    ]


def examine_packages(root: Path, install: str) -> list[Finding]:
    """Check each package and each room; check rooms that students do not need only if one of them is installed."""
    requirements = root / "requirements.txt"
    if not requirements.exists():
        return [Finding("requirements.txt", f"not in {root}", False, "take it from the course's repository", False)]
    further = {name: folder for name, folder in read_rooms(root).items() if name not in STUDENT}
    rooms = EVERYTHING if any(version_found(name) for name in further) else STUDENT
    versions = [(name, wanted, version_found(name)) for name, wanted in needed_pins(root, rooms).items()]
    fixes = {"torch": no_torch() or install}
    pins = [
        Finding(f"{name} {wanted}", version or "not installed", same_version(version, wanted), fixes.get(name, install))
        for name, wanted, version in versions
    ]
    sources = {name: (folder, room_source(name)) for name, folder in read_rooms(root, rooms).items()}
    in_place = [
        Finding(
            f"{name} from {folder.name}/",
            str(source or "not installed"),
            source is not None and source.resolve() == folder.resolve(),
            install,
        )
        for name, (folder, source) in sources.items()
    ]
    if further and rooms == STUDENT:
        names = ", ".join(f"{folder.name}/" for folder in further.values())
        in_place.append(Finding(f"{names} and the tests", "not installed", False, "make setup", needed=False))
    return pins + in_place


def examine_pythonpath(root: Path) -> list[Finding]:
    """Report packages in PYTHONPATH that replace the course's own; only commands run through make ignore them."""
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    packages = [
        name
        for name, wanted in needed_pins(root, STUDENT).items()
        if getattr(PathFinder.find_spec(name.replace("-", "_"), folders), "origin", None)
        and wanted not in [each.version for each in distributions(name=name, path=folders)]
    ]
    if not packages:
        return []
    said, name = ", ".join(packages), "no other packages on PYTHONPATH"
    if sys.flags.isolated:
        return [Finding(name, f"{said}; make ignores them, but editors may not", False, needed=False)]
    return [Finding(name, said, False, "unset PYTHONPATH")]


def examine_jupyter(install: str) -> list[Finding]:
    """Check that JupyterLab finds the extensions and that none is switched off."""
    own = Path(sys.prefix) / "etc/jupyter"
    configs = [Path.home() / ".jupyter", own, Path("/usr/local/etc/jupyter"), Path("/etc/jupyter")]
    configs = [
        Path(folder) for folder in os.environ.get("JUPYTER_CONFIG_DIR", "").split(os.pathsep) if folder
    ] + configs
    findings = []
    for name in SERVER_EXTENSIONS:
        settings = [(file, value) for folder in configs for file, value in server_settings(folder, name)]
        off = [str(file) for file, value in settings if not value]
        fine = bool(settings) and not off
        state = "on" if fine else f"switched off in {off[0]}" if off else "not found"
        short = f"Jupyter server: {name.rpartition('.')[2]}"
        findings.append(Finding(short, state, fine, f"jupyter server extension enable {name}" if off else install))
    for name in LAB_EXTENSIONS:
        there = (Path(sys.prefix) / "share/jupyter/labextensions" / name).exists()
        off = [str(folder) for folder in configs if name in disabled_extensions(folder)]
        state = f"switched off in {off[0]}" if off else "on" if there else "not found"
        fix = f"jupyter labextension enable {name}" if there else install
        findings.append(Finding(f"JupyterLab: {name}", state, there and not off, fix))
    return findings


def server_settings(folder: Path, name: str) -> list[tuple[Path, bool]]:
    """Return (file, enabled) for each file of a Jupyter configuration folder that sets this server extension."""
    files = [folder / "jupyter_server_config.json", *sorted((folder / "jupyter_server_config.d").glob("*.json"))]
    return [
        (file, setting[name])
        for file in files
        for setting in [read_json(file).get("ServerApp", {}).get("jpserver_extensions", {})]
        if name in setting
    ]


def disabled_extensions(folder: Path) -> list[str]:
    """Return the lab extensions that a Jupyter configuration folder disables."""
    switches = read_json(folder / "labconfig/page_config.json").get("disabledExtensions", {})
    return [name for name, off in switches.items() if off] if isinstance(switches, dict) else switches


def read_json(file: Path) -> dict:
    """Return a JSON file's object, or an empty one if the file does not exist or cannot be read."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def examine_machine(root: Path) -> list[Finding]:
    """Check the disk, the workspace and system programs."""
    free_gb = shutil.disk_usage(root).free / 1e9
    workspace = root / "workspace"
    place = workspace if workspace.exists() else root
    chromium = find_chromium()
    return [
        Finding(
            f"{DISK_NEEDED_GB} GB of free disk", f"{free_gb:.1f} GB", free_gb >= DISK_NEEDED_GB, f"make room on {root}"
        ),
        Finding("a writable workspace", str(workspace), os.access(place, os.W_OK), f"make {place} writable"),
        Finding(
            "Chromium (for browser tests)",
            chromium or "not found",
            chromium is not None,
            install_command("chromium"),
            needed=False,
        ),
    ]


def examine_exchange(root: Path) -> list[Finding]:
    """Check the class's exchange, if one is set: whether others could add to its releases."""
    exchange = os.environ.get("GRADLAB_EXCHANGE")
    if not exchange or missing_pins(root, STUDENT):
        return []
    from ..exchange import released_by_class

    try:
        released = released_by_class(root / "course" / "nbgrader_config.py")
    except OSError as error:
        return [Finding("the exchange", str(error), False, "ask your instructor to fix the exchange")]
    return [Finding("the exchange", f"{exchange}, released: {', '.join(released) or 'nothing yet'}", True)]


def examine_sandbox(root: Path) -> list[Finding]:
    """Try to break out of the sandbox in which submissions are graded; students do not need it."""
    name = "a sandbox (for grading)"
    if "autograder" not in read_rooms(root):
        return []
    if not sys.platform.startswith("linux"):
        advice = "a container or WSL; python -m autograder.sandbox says how"
        return [Finding(name, "not on this system", False, advice, needed=False)]
    if shutil.which("bwrap") is None:
        return [Finding(name, "bubblewrap not found", False, install_command("bubblewrap"), needed=False)]
    if missing_pins(root) or missing_rooms(root):
        return [Finding(name, "not tried until the rest is installed", False, "make setup", needed=False)]
    tried = subprocess.run([sys.executable, "-m", "autograder.sandbox"], capture_output=True, text=True, check=False)
    said = (tried.stdout or tried.stderr).strip().splitlines() or ["no answer"]
    return [Finding(name, said[-1], tried.returncode == 0, "python -m autograder.sandbox says more")]


def report(findings: list[Finding]) -> int:
    """Print the doctor's report and return its exit code: 1 if something needed is missing."""
    for finding in findings:
        say(str(finding))
    fixes: dict[str, list[str]] = {}
    for finding in findings:
        if finding.needed and not finding.fine:
            fixes.setdefault(finding.fix, []).append(finding.name)
    say("\nTo fix:" if fixes else "\nEverything you need is here.")
    for fix, names in fixes.items():
        say(f"  {fix}\n      fixes {', '.join(names[:6])}{f' and {len(names) - 6} more' if names[6:] else ''}")
    return 1 if fixes else 0


def doctor(root: Path = ROOT) -> int:
    """Report on the Python that `make` would use: the active environment if it fits, else `.venv`, else this one."""
    own = venv_python(root)
    elsewhere = Path(sys.prefix).resolve() != (root / ".venv").resolve()
    if elsewhere and own.exists() and not (in_environment() and supported() and not missing_pins(root, STUDENT)):
        return subprocess.run(this_folder(own, "doctor"), check=False).returncode
    return report(examine(root))
