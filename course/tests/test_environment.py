"""Setting up and the doctor, run as commands on copies of the course and on environments that lack things."""

import json
import os
import shutil
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest
from browser import require_chromium

from gradlab.setup import environment

ROOT = Path(__file__).resolve().parents[2]


class Machine:
    """A copy of the course's setup in a folder, and an environment in which some packages seem to be installed."""

    def __init__(self, folder: Path, pins: str):
        self.folder = folder
        self.root = folder / "course-copy"
        self.script = self.root / "course/gradlab/setup/environment.py"
        self.script.parent.mkdir(parents=True)
        shutil.copy(environment.__file__, self.script)
        (self.root / "requirements.txt").write_text(pins)
        self.home = folder / "home"
        self.home.mkdir()
        self.environment = folder / "environment"
        venv.create(self.environment, with_pip=False)
        self.python = self.environment / "bin/python"
        (self.packages,) = self.environment.glob("lib/python*/site-packages")

    def room(self, name: str, folder: str) -> None:
        """Add a room to the copy."""
        (self.root / folder).mkdir(exist_ok=True)
        (self.root / folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')

    def installed(self, name: str, version: str, source: Path | None = None) -> None:
        """Let a package seem installed, in place from a folder if one is given."""
        info = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        if source:
            origin = {"url": source.as_uri(), "dir_info": {"editable": True}}
            (info / "direct_url.json").write_text(json.dumps(origin))

    def jupyter(self) -> None:
        """Let JupyterLab's extensions seem installed and on."""
        folder = self.environment / "etc/jupyter/jupyter_server_config.d"
        folder.mkdir(parents=True)
        switches = dict.fromkeys(environment.SERVER_EXTENSIONS, True)
        (folder / "all.json").write_text(json.dumps({"ServerApp": {"jpserver_extensions": switches}}))
        for name in environment.LAB_EXTENSIONS:
            (self.environment / "share/jupyter/labextensions" / name).mkdir(parents=True)

    def run(self, *arguments: str, **env: str) -> subprocess.CompletedProcess:
        """Run one of the commands with the environment's Python."""
        return subprocess.run(
            [self.python, "-I", self.script, *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **env},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path):
    """Return a function that makes a `Machine` with the given pins."""
    return lambda pins="demo==1.0  # a reason\n": Machine(tmp_path, pins)


def test_the_doctor_is_content_where_everything_is_there(machine):
    """Nothing missing: exit code 0, and it says so."""
    here = machine()
    here.installed("demo", "1.0")
    here.jupyter()
    answer = here.run("doctor")
    assert "Everything needed is here." in answer.stdout
    assert "MEND" not in answer.stdout
    assert answer.returncode == 0


def test_the_doctor_names_what_is_missing_and_how_to_mend_it(machine):
    """A missing package, a wrong version and a room that is not installed each get a line and a remedy."""
    here = machine("demo==1.0\nother==2.1\n")
    here.room("gradlab", "course")
    here.installed("other", "2.0.9")
    answer = here.run("doctor")
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert "MEND demo 1.0 not installed" in lines
    assert "MEND other 2.1 2.0.9" in lines
    assert "MEND gradlab from course/ not installed" in lines
    assert "MEND Jupyter server: validate_assignment not found" in lines
    assert lines[lines.index("To mend:") + 1].startswith("make setup (without make: ")
    assert lines[lines.index("To mend:") + 2].startswith("mends demo 1.0, other 2.1, gradlab from course/")
    assert answer.returncode == 1


def test_the_build_of_torch_is_the_users_choice(machine):
    """A CPU or a GPU build of the pinned version is the pinned version."""
    here = machine("torch==2.13.0\n")
    here.installed("torch", "2.13.0+cu130")
    here.jupyter()
    assert here.run("doctor").returncode == 0


def test_the_doctor_finds_an_extension_that_was_switched_off(machine):
    """A switch in the user's own Jupyter folder is named, with the command that undoes it."""
    here = machine()
    here.installed("demo", "1.0")
    here.jupyter()
    name = "nbgrader.server_extensions.validate_assignment"
    own = here.home / ".jupyter/jupyter_server_config.json"
    own.parent.mkdir()
    own.write_text(json.dumps({"ServerApp": {"jpserver_extensions": {name: False}}}))
    answer = here.run("doctor")
    assert f"switched off in {own}" in answer.stdout
    assert f"jupyter server extension enable {name}" in answer.stdout
    assert answer.returncode == 1


def test_what_only_tests_need_is_a_note(machine):
    """Without Chromium a student lacks nothing: the doctor tells how to get it and is content."""
    here = machine()
    here.installed("demo", "1.0")
    here.jupyter()
    answer = here.run("doctor", PATH="/nowhere")
    assert "note  Chromium (for browser tests)" in answer.stdout
    assert answer.returncode == 0


def test_an_active_environment_that_satisfies_the_pins_is_used(machine):
    """Nothing is installed and no .venv is made."""
    here = machine()
    here.installed("demo", "1.0")
    answer = here.run("setup", GRADLAB_CHROMIUM="/bin/true")
    assert answer.stdout == f"Ready: {here.python}\n"
    assert not (here.root / ".venv").exists()


def test_setup_makes_an_environment_once(machine):
    """A failed installation shows its reason and can be taken up again; once all is there, nothing is installed."""
    here = machine()
    offline = {"PIP_NO_INDEX": "1", "GRADLAB_CHROMIUM": "/bin/true"}
    failed = here.run("setup", **offline)
    assert f"The active environment {here.environment} does not have demo 1.0 (not installed)" in failed.stdout
    assert "No matching distribution found for demo==1.0" in failed.stderr
    assert f"{here.root}/.venv/bin/python -m pip install" in failed.stderr
    assert failed.returncode == 1

    with zipfile.ZipFile(here.folder / "demo-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("demo.py", "answer = 42\n")
        wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
        wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("demo-1.0.dist-info/RECORD", "")
    first = here.run("setup", **offline, PIP_FIND_LINKS=str(here.folder))
    assert "Installing" in first.stdout
    assert first.returncode == 0
    second = here.run("setup", **offline)
    assert "Installing" not in second.stdout
    assert second.stdout.endswith(f"Ready: {here.root}/.venv/bin/python\n")
    assert here.run("run", "-c", "import demo; print(demo.answer)", **offline).stdout.endswith("42\n")


def test_an_environment_of_another_copy_is_left_alone(machine):
    """An active environment in which the rooms of another copy are installed is not turned to this one."""
    here = machine()
    here.room("gradlab", "course")
    here.installed("demo", "1.0")
    other = here.folder / "another-copy/course"
    other.mkdir(parents=True)
    here.installed("gradlab", "0.1.0", source=other)
    shutil.copytree(here.environment, here.root / ".venv", symlinks=True)
    (here.root / ".venv" / here.packages.relative_to(here.environment) / "pip").mkdir()  # one that cannot install
    answer = here.run("setup", GRADLAB_CHROMIUM="/bin/true")
    assert f"The active environment {here.environment} serves another copy; using {here.root}/.venv" in answer.stdout


def test_a_python_that_is_too_old_is_named(monkeypatch):
    """The message says which Python was found and which is needed."""
    monkeypatch.setattr(environment, "OLDEST_PYTHON", (3, 99))
    with pytest.raises(environment.SetupError, match=r"needs Python 3\.99 or newer; .* is 3\."):
        environment.find_python()


def test_an_unpinned_requirement_is_refused(tmp_path):
    """Every line of requirements.txt must pin one version."""
    (tmp_path / "requirements.txt").write_text("torch>=2\n")
    with pytest.raises(environment.SetupError, match="'torch>=2'; every line must read name==version"):
        environment.read_pins(tmp_path / "requirements.txt")


def test_the_pins_stand_in_one_file_only():
    """No other file of the repository repeats a version of requirements.txt."""
    versions = [f"{name}=={version}" for name, version in environment.read_pins(ROOT / "requirements.txt").items()]
    others = [ROOT / "environment.yml", *ROOT.glob("*/pyproject.toml"), *ROOT.glob(".github/workflows/*")]
    assert [(file, pin) for file in others for pin in versions if pin in file.read_text()] == []


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_a_missing_chromium_fails_in_ci_only(monkeypatch, ci, outcome):
    """Where CI=true, a browser test that cannot run is a failure; elsewhere it is skipped with the advice."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PROGRAMFILES", "/nowhere")
    monkeypatch.delenv("GRADLAB_CHROMIUM", raising=False)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match=r"The browser tests need Chromium and found none\. To install it:"):
        require_chromium()


def test_bare_make_lists_every_target():
    """`make` prints one line for each target, and no target is without one."""
    answer = subprocess.run(["make", "-C", ROOT, "--no-print-directory"], capture_output=True, text=True, check=True)
    listed = {line.split()[1]: line.split(maxsplit=2)[2] for line in answer.stdout.splitlines()}
    (phony,) = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(".PHONY:")]
    assert set(listed) == set(phony.split()[1:])
    assert {"lab", "test", "check", "doctor", "demo"} <= set(listed)


def test_clean_keeps_work(machine):
    """Caches go; the workspace, the class and the environment stay."""
    here = machine()
    kept = [
        here.root / place for place in ["workspace/a/build/b.txt", "grading/class/build/b.txt", ".venv/build/b.txt"]
    ]
    gone = [here.root / place for place in ["course/__pycache__/b.pyc", "build/b.txt", "course/gradlab.egg-info/b.txt"]]
    for file in kept + gone:
        file.parent.mkdir(parents=True)
        file.write_text("")
    assert here.run("clean").returncode == 0
    assert [file.exists() for file in kept + gone] == [True] * len(kept) + [False] * len(gone)
