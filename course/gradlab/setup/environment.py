"""What the course needs of a machine: compared with what is there, and set up.

This file uses only Python's standard library and can be run before anything is installed:

    python3 -I course/gradlab/setup/environment.py setup     install what the course needs, if anything is missing
    python3 -I course/gradlab/setup/environment.py doctor    say what is missing and how to mend it

The versions themselves stand in requirements.txt and nowhere else.
"""

from __future__ import annotations  # an older Python must be able to read this file to say that it is too old

import argparse
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

ROOT = Path(__file__).resolve().parents[3]
OLDEST_PYTHON = (3, 11)
ROOMS = {"gradlab": "course", "mini-autograd": "solutions", "autograder": "grading"}  # distribution: folder
SERVER_EXTENSIONS = [
    "jupyterlab",
    "nbgrader.server_extensions.assignment_list",
    "nbgrader.server_extensions.validate_assignment",
]
LAB_EXTENSIONS = ["@jupyter/nbgrader", "@jupyter-widgets/jupyterlab-manager", "anywidget"]
DISK_NEEDED_GB = 1


class SetupError(Exception):
    """Something only the user can mend; the message says what happened and what to do."""


# What there should be


def read_pins(requirements: Path) -> dict[str, str]:
    """Return the pinned version of each package in a requirements file."""
    pins = {}
    for line in requirements.read_text(encoding="utf-8").splitlines():
        wanted = line.split("#")[0].strip()
        if not wanted:
            continue
        name, equals, version = wanted.partition("==")
        if not equals:
            raise SetupError(f"{requirements} has the line {wanted!r}; every line must read name==version")
        pins[name.strip()] = version.strip()
    return pins


def read_rooms(root: Path) -> dict[str, Path]:
    """Return the folder of each room that is here; a student has only `course`."""
    folders = {name: root / folder for name, folder in ROOMS.items()}
    return {name: folder for name, folder in folders.items() if (folder / "pyproject.toml").exists()}


# What there is, in the Python that runs this file


def version_found(name: str) -> str | None:
    """Return the installed version of a package, None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def same_version(found: str | None, wanted: str) -> bool:
    """Tell whether a version is the pinned one; the build after "+" (2.13.0+cpu, 2.13.0+cu130) is the user's choice."""
    return found is not None and found.split("+")[0] == wanted


def room_source(name: str) -> Path | None:
    """Return the folder from which a room is installed in place, None if it is not."""
    for distribution in importlib.metadata.distributions(name=name):
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        if origin.get("dir_info", {}).get("editable"):
            return Path(url2pathname(urlparse(origin["url"]).path))
    return None


def missing_pins(root: Path = ROOT) -> list[str]:
    """Name each pinned package that is missing or of another version, with what was found."""
    found = {name: (wanted, version_found(name)) for name, wanted in read_pins(root / "requirements.txt").items()}
    return [
        f"{name} {wanted} ({f'found {version}' if version else 'not installed'})"
        for name, (wanted, version) in found.items()
        if not same_version(version, wanted)
    ]


def missing_rooms(root: Path = ROOT) -> list[str]:
    """Name each room that is not installed from this copy of the course, or was before its version changed."""
    gaps = []
    for name, folder in read_rooms(root).items():
        source, installed = room_source(name), version_found(name)
        if source is None or source.resolve() != folder.resolve():
            gaps.append(f"{name} from {folder.name}/ ({f'installed from {source}' if source else 'not installed'})")
        elif installed != room_version(folder, installed):
            gaps.append(f"{name} {room_version(folder, installed)} from {folder.name}/ (found {installed})")
    return gaps


def room_version(folder: Path, otherwise: str) -> str:
    """Return the version that a room's pyproject.toml gives."""
    found = re.search(r'^version = "(.+)"', (folder / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else otherwise


def serves_another_copy(root: Path = ROOT) -> bool:
    """Tell whether this Python has rooms installed from another copy of the course that still exists."""
    sources = {name: room_source(name) for name in read_rooms(root)}
    return any(source and source.exists() and source.resolve() != root / ROOMS[n] for n, source in sources.items())


def in_environment() -> bool:
    """Tell whether this Python belongs to an active virtual or conda environment."""
    conda = os.environ.get("CONDA_PREFIX")
    return sys.prefix != sys.base_prefix or (conda is not None and Path(conda).resolve() == Path(sys.prefix).resolve())


# System packages


def find_chromium() -> str | None:
    """Return the path of a Chromium or Chrome, None if there is none; GRADLAB_CHROMIUM names one directly."""
    named = os.environ.get("GRADLAB_CHROMIUM")
    if named:
        return named
    for name in ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"]:
        found = shutil.which(name)
        if found:
            return found
    programs = Path(os.environ.get("PROGRAMFILES", "/Applications"))
    for place in [
        "Google Chrome.app/Contents/MacOS/Google Chrome",
        "Chromium.app/Contents/MacOS/Chromium",
        "Google/Chrome/Application/chrome.exe",
    ]:
        if (programs / place).exists():
            return str(programs / place)
    return None


def find_postgresql() -> Path | None:
    """Return the folder of PostgreSQL's server programs, None if there is none; Debian keeps it out of the path."""
    found = shutil.which("initdb") or max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
    return Path(found).resolve().parent if found else None


def install_command(package: str) -> str:
    """Return the one command that installs a system package on this machine."""
    if shutil.which("apt-get"):
        return f"sudo apt-get install -y {package}"
    if shutil.which("dnf"):
        return f"sudo dnf install -y {package}"
    if sys.platform == "darwin":
        return f"brew install {package}"
    return f"install {package} with your system's package manager"


CHROMIUM_ADVICE = f"The browser tests need Chromium and found none. To install it: {install_command('chromium')}"

POSTGRESQL_ADVICE = (
    "The test of PostgreSQL as gradebook needs its server and found none. To install it: "
    + install_command("postgresql" if shutil.which("apt-get") or sys.platform == "darwin" else "postgresql-server")
)


def apt_install(package: str) -> bool:
    """Install a system package if this is root on a system with apt; tell whether that was possible."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return False
    say(f"Installing the system package {package} …")
    quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
    subprocess.run(["apt-get", "update"], check=False, **quiet)  # a stale list is no reason to stop
    done = subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", package], check=False, **quiet)
    return done.returncode == 0


def set_up_system() -> None:
    """Install the system packages that tests need, or say how to."""
    if find_chromium() is None and not apt_install("chromium"):
        say(CHROMIUM_ADVICE)
    if grades_here() and shutil.which("bwrap") is None and not apt_install("bubblewrap"):
        say(f"Grading needs bubblewrap and found none. To install it: {install_command('bubblewrap')}")
    if grades_here() and find_postgresql() is None and not apt_install("postgresql"):
        say(POSTGRESQL_ADVICE)


def grades_here(root: Path = ROOT) -> bool:
    """Tell whether submissions can be graded on this machine: in Linux, by someone who has more than the course."""
    return sys.platform.startswith("linux") and "autograder" in read_rooms(root)


# Setting up


def say(text: str) -> None:
    """Print at once, so that the line stands before the output of what follows."""
    print(text, flush=True)


def venv_python(root: Path) -> Path:
    """Return where the Python of the copy's own `.venv` is or would be."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def set_up(root: Path = ROOT) -> str:
    """Return a Python that has everything the course needs, installing what is missing.

    That is the active conda or virtual environment if it satisfies the pins, else the copy's own `.venv`.
    """
    own = venv_python(root)
    if in_environment() and Path(sys.prefix).resolve() != (root / ".venv").resolve():
        gaps = missing_pins(root)
        if not gaps and not serves_another_copy(root):
            install_rooms(sys.executable, root, missing_rooms(root))
            return sys.executable
        reason = f"does not have {', '.join(gaps[:3])}{' …' if gaps[3:] else ''}" if gaps else "serves another copy"
        say(f"The active environment {sys.prefix} {reason}; using {root / '.venv'}.")
    gaps = ask_venv(own) if own.exists() else None
    if not gaps or not gaps["pip"]:
        make_venv(own.parents[1])
        gaps = ask_venv(own)
    if gaps["pins"]:
        say(f"Installing into {root / '.venv'} (once; a few minutes, about 2 GB) …")
        install(own, ["-r", str(root / "requirements.txt")])
    install_rooms(str(own), root, gaps["rooms"])
    return str(own)


def make_venv(folder: Path) -> None:
    """Make a virtual environment, or complete one that was left half made."""
    base = find_python()
    if subprocess.run([base, "-c", "import ensurepip"], capture_output=True, check=False).returncode != 0:
        show = "import sys; print('python%d.%d-venv' % sys.version_info[:2])"
        package = subprocess.run([base, "-c", show], capture_output=True, text=True, check=True).stdout.strip()
        if not apt_install(package):
            raise SetupError(f"{base} cannot make virtual environments. Run: {install_command(package)}")
    say(f"Making {folder} …")
    run([base, "-m", "venv", str(folder)], f"{base} could not make a virtual environment")


def ask_venv(own: Path) -> dict:
    """Return what the Python of `.venv` says it lacks."""
    broken = f"{own.parents[1]} cannot be used. Delete it and run this again."
    answer = subprocess.run([own, "-I", __file__, "missing"], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SetupError(f"{answer.stderr.strip()}\n{broken}")
    gaps = json.loads(answer.stdout)
    if tuple(gaps["python"]) < OLDEST_PYTHON:
        raise SetupError(f"It has Python {'.'.join(map(str, gaps['python']))}. {broken}")
    return gaps


def find_python() -> str:
    """Return a Python that is new enough, the running one if it is."""
    if sys.version_info >= OLDEST_PYTHON:
        return sys.executable
    for minor in range(OLDEST_PYTHON[1], OLDEST_PYTHON[1] + 10):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    raise SetupError(
        f"The course needs Python {'.'.join(map(str, OLDEST_PYTHON))} or newer; {sys.executable} is "
        f"{sys.version.split()[0]} and no newer one was found. Install one (python.org, or conda with "
        "`conda env create -f environment.yml`) and run this again."
    )


def install_rooms(python: str, root: Path, missing: list[str]) -> None:
    """Install the rooms in place, so that they are used from where they lie."""
    if missing:
        say(f"Installing {', '.join(missing)} …")
        folders = [word for folder in read_rooms(root).values() for word in ("-e", str(folder))]
        install(python, ["--no-deps", "--no-build-isolation", *folders])


def install(python: str | Path, arguments: list[str]) -> None:
    """Run pip, quietly but for its errors."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    run(command, "pip could not install what the course needs; its reason stands above")


def run(command: list[str], complaint: str) -> None:
    """Run a command; if it fails, stop with the complaint and the command."""
    if subprocess.run(command, check=False).returncode != 0:
        raise SetupError(f"{complaint}. The command was:\n  {' '.join(command)}")


# The doctor


class Finding:
    """One line of the doctor's report: `needed` and not `fine` means that something must be mended."""

    def __init__(self, name: str, found: str, fine: bool, mend: str = "", needed: bool = True):
        self.name = name
        self.found = found
        self.fine = fine
        self.mend = mend
        self.needed = needed

    def __str__(self):
        mark = "ok" if self.fine else "MEND" if self.needed else "note"
        advice = "" if self.fine or self.needed else f"; to get it: {self.mend}"
        return f"  {mark:<5} {self.name:<41} {self.found}{advice}"


def examine(root: Path = ROOT) -> list[Finding]:
    """Compare the Python that runs this, and the machine around it, with what the course needs."""
    install = f"make setup (without make: python -m pip install -r requirements.txt -e course, in {root})"
    return [
        *examine_python(),
        *examine_packages(root, install),
        *examine_jupyter(install),
        *examine_machine(root),
        *examine_sandbox(root),
    ]


def examine_python() -> list[Finding]:
    """Look at the version of Python and at the environment it belongs to."""
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return [
        Finding(
            f"Python {oldest} or newer",
            sys.version.split()[0],
            sys.version_info >= OLDEST_PYTHON,
            f"install Python {oldest} or newer, then: make setup",
        ),
        Finding(
            "an environment of its own",
            sys.prefix if in_environment() else f"none: {sys.executable} is the system's",
            in_environment(),
            "make setup (without make: python -m venv .venv, then activate it)",
        ),
    ]


def examine_packages(root: Path, install: str) -> list[Finding]:
    """Look at each pinned package and each room."""
    requirements = root / "requirements.txt"
    if not requirements.exists():
        return [Finding("requirements.txt", f"not in {root}", False, "take it from the course's repository", False)]
    found = [(name, wanted, version_found(name)) for name, wanted in read_pins(requirements).items()]
    pins = [
        Finding(f"{name} {wanted}", version or "not installed", same_version(version, wanted), install)
        for name, wanted, version in found
    ]
    rooms = []
    for name, folder in read_rooms(root).items():
        source = room_source(name)
        here = source is not None and source.resolve() == folder.resolve()
        rooms.append(Finding(f"{name} from {folder.name}/", str(source or "not installed"), here, install))
    return pins + rooms


def examine_jupyter(install: str) -> list[Finding]:
    """Look at whether JupyterLab finds the extensions and nothing has switched them off."""
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
        found = "on" if fine else f"switched off in {off[0]}" if off else "not found"
        short = f"Jupyter server: {name.rpartition('.')[2]}"
        findings.append(Finding(short, found, fine, f"jupyter server extension enable {name}" if off else install))
    for name in LAB_EXTENSIONS:
        there = (Path(sys.prefix) / "share/jupyter/labextensions" / name).exists()
        off = [folder for folder in configs if name in disabled_extensions(folder)]
        found = f"switched off in {off[0]}" if off else "on" if there else "not found"
        mend = f"jupyter labextension enable {name}" if there else install
        findings.append(Finding(f"JupyterLab: {name}", found, there and not off, mend))
    return findings


def server_settings(folder: Path, name: str) -> list[tuple[Path, bool]]:
    """Return each file of a Jupyter configuration folder that switches a server extension, and how."""
    files = [folder / "jupyter_server_config.json", *sorted((folder / "jupyter_server_config.d").glob("*.json"))]
    return [
        (file, setting[name])
        for file in files
        for setting in [read_json(file).get("ServerApp", {}).get("jpserver_extensions", {})]
        if name in setting
    ]


def disabled_extensions(folder: Path) -> list[str]:
    """Return the lab extensions that a Jupyter configuration folder switches off."""
    switches = read_json(folder / "labconfig/page_config.json").get("disabledExtensions", {})
    return [name for name, off in switches.items() if off] if isinstance(switches, dict) else switches


def read_json(file: Path) -> dict:
    """Return a JSON file's object, an empty one if there is no such file or it cannot be read."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def examine_machine(root: Path) -> list[Finding]:
    """Look at disk, workspace and system programs."""
    free_gb = shutil.disk_usage(root).free / 1e9
    workspace = root / "workspace"
    place = workspace if workspace.exists() else root
    chromium = find_chromium()
    return [
        Finding(
            f"{DISK_NEEDED_GB} GB of free disk", f"{free_gb:.1f} GB", free_gb >= DISK_NEEDED_GB, f"make room on {root}"
        ),
        Finding("a workspace that can be written", str(workspace), os.access(place, os.W_OK), f"make {place} writable"),
        Finding(
            "Chromium (for browser tests)",
            chromium or "not found",
            chromium is not None,
            install_command("chromium"),
            needed=False,
        ),
    ]


def examine_sandbox(root: Path) -> list[Finding]:
    """Try to break out of the sandbox in which submissions are graded; students need none."""
    name = "a sandbox (for grading)"
    if "autograder" not in read_rooms(root):
        return []
    if not sys.platform.startswith("linux"):
        advice = "a container or WSL; python -m autograder.sandbox says how"
        return [Finding(name, "not on this system", False, advice, needed=False)]
    if shutil.which("bwrap") is None:
        return [Finding(name, "bubblewrap not found", False, install_command("bubblewrap"), needed=False)]
    if missing_pins(root) or missing_rooms(root):
        return [Finding(name, "not tried before the rest is there", False, "make setup", needed=False)]
    tried = subprocess.run([sys.executable, "-m", "autograder.sandbox"], capture_output=True, text=True, check=False)
    said = (tried.stdout or tried.stderr).strip().splitlines() or ["it says nothing"]
    return [Finding(name, said[-1], tried.returncode == 0, "python -m autograder.sandbox says more")]


def report(findings: list[Finding]) -> int:
    """Print the doctor's report and return its exit code: 1 if something needed is missing."""
    for finding in findings:
        say(str(finding))
    mends: dict[str, list[str]] = {}
    for finding in findings:
        if finding.needed and not finding.fine:
            mends.setdefault(finding.mend, []).append(finding.name)
    say("\nTo mend:" if mends else "\nEverything needed is here.")
    for mend, names in mends.items():
        say(f"  {mend}\n      mends {', '.join(names[:6])}{f' and {len(names) - 6} more' if names[6:] else ''}")
    return 1 if mends else 0


def doctor(root: Path = ROOT) -> int:
    """Report on the Python that `make` would use: a satisfying active environment, else `.venv`, else this one."""
    own = venv_python(root)
    elsewhere = Path(sys.prefix).resolve() != (root / ".venv").resolve()
    if elsewhere and own.exists() and not (in_environment() and not missing_pins(root)):
        return subprocess.run([own, "-I", __file__, "doctor"], check=False).returncode
    return report(examine(root))


# Command line


def clean(root: Path = ROOT) -> None:
    """Remove caches and what builds leave behind; work, classes and `.venv` stay."""
    kept = {".git", ".venv", "workspace", "class"}
    names = re.compile(
        r"__pycache__|build|.*\.egg-info|\.(pytest|ruff)_cache|\.hypothesis|\.ipynb_checkpoints|\.coverage"
    )
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in kept]
        for name in [name for name in folders if names.fullmatch(name)]:
            shutil.rmtree(Path(folder) / name)
            folders.remove(name)
        for name in [name for name in files if names.fullmatch(name)]:
            (Path(folder) / name).unlink()


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(description="Set the course up on this machine, or say what it lacks.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("setup", help="install what the course and its tests need, if anything is missing")
    commands.add_parser("system", help="install the system packages that tests need, or say how to")
    commands.add_parser("doctor", help="say what is missing or of the wrong version, and how to mend it")
    commands.add_parser("clean", help="remove caches and what builds leave behind")
    commands.add_parser("missing", help="print what this very Python lacks, as JSON")
    commands.add_parser("run", help="set up if needed, then run Python with the arguments that follow")
    words = sys.argv[1:] if arguments is None else arguments
    chosen, rest = parser.parse_args(words[:1]), words[1:]
    if rest and chosen.command != "run":
        parser.error(f"{chosen.command} takes no arguments, but was given {' '.join(rest)}")
    try:
        if chosen.command == "doctor":
            return doctor()
        if chosen.command == "missing":
            pip = importlib.util.find_spec("pip") is not None
            lacks = {"pip": pip, "pins": missing_pins(), "rooms": missing_rooms()}
            say(json.dumps({"python": sys.version_info[:2], **lacks}))
        elif chosen.command == "clean":
            clean()
        elif chosen.command == "system":
            set_up_system()
        elif chosen.command == "setup":
            set_up_system()
            say(f"Ready: {set_up()}")
        else:
            python = set_up()
            os.execv(python, [python, *rest])
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
