"""Setup and the doctor, run as commands on copies of the course and in incomplete environments."""

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from gradlab.setup import doctor, needs

ROOT = Path(__file__).resolve().parents[2]
SET_UP = sorted((ROOT / "course/gradlab/setup").glob("*.py"))
READ_LATER = ["setup/lab", "setup/workspace", "setup/edition"]  # after their dependencies are installed


def write_wheel(folder: Path, name: str, version: str, text: str, needs: Iterable[str] = ()) -> None:
    """Write a package of one module, such as pip installs."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", text)
        needed = "".join(f"Requires-Dist: {other}\n" for other in needs)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


# Builds a room as setuptools would, from a wheel in its folder
BACKEND = """
import pathlib, shutil

def build_editable(folder, *options):
    (wheel,) = pathlib.Path(__file__).parent.glob("*.whl")
    return pathlib.Path(shutil.copy(wheel, folder)).name
"""


class Machine:
    """A copy of the course's setup in a folder, and an environment in which some packages seem to be installed.

    The course needs all that is pinned, and seems to be installed from the copy.
    """

    def __init__(self, folder: Path, pins: str):
        self.folder = folder
        self.root = folder / "course-copy"
        self.gradlab = self.root / "course/gradlab"
        self.gradlab.mkdir(parents=True)
        for part in ["__init__.py", "__main__.py", "words.py", "notebook.py"]:
            shutil.copy(ROOT / "course/gradlab" / part, self.gradlab)
        shutil.copytree(ROOT / "course/gradlab/setup", self.gradlab / "setup", ignore=shutil.ignore_patterns("__*__"))
        shutil.copy(ROOT / "course/gradlab/setup/__init__.py", self.gradlab / "setup")
        (self.root / "requirements.txt").write_text(pins)
        self.room("gradlab", "course", needs=needs.read_pins(self.root / "requirements.txt"))
        self.home = folder / "home"
        self.home.mkdir()
        self.environment = folder / "environment"
        venv.create(self.environment, with_pip=False)
        self.python = self.environment / "bin/python"
        (self.packages,) = self.environment.glob("lib/python*/site-packages")
        self.installed("gradlab", "0.1.0", source=self.root / "course")

    def room(self, name: str, folder: str, needs: Iterable[str] = ()) -> None:
        """Add a room to the copy."""
        (self.root / folder).mkdir(exist_ok=True)
        build = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        project = f'[project]\nname = "{name}"\nversion = "0.1.0"\ndependencies = {json.dumps(list(needs))}\n'
        (self.root / folder / "pyproject.toml").write_text(build + project)
        (self.root / folder / "backend.py").write_text(BACKEND)
        write_wheel(self.root / folder, name, "0.1.0", "")

    def installed(self, name: str, version: str, source: Path | None = None) -> None:
        """Let a package seem installed, in place from a folder if one is given."""
        self.removed(name)
        info = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        if source:
            origin = {"url": source.as_uri(), "dir_info": {"editable": True}}
            (info / "direct_url.json").write_text(json.dumps(origin))

    def removed(self, name: str) -> None:
        """Let a package seem not to be installed."""
        for info in self.packages.glob(f"{name.replace('-', '_')}-*.dist-info"):
            shutil.rmtree(info)

    def run(self, *arguments: str, **env: str) -> subprocess.CompletedProcess:
        """Run one of the commands with the environment's Python."""
        return subprocess.run(
            [self.python, "-I", self.gradlab, *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **env},
            capture_output=True,
            text=True,
            check=False,
        )

    def make(self, target: str) -> subprocess.CompletedProcess:
        """Make a target of the course's Makefile in the copy, in the active environment."""
        env = {"PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.home)}
        return subprocess.run(["make", target], cwd=self.root, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def machine(tmp_path):
    """Return a function that makes a `Machine` with the given pins."""
    return lambda pins="demo==1.0  # a reason\n": Machine(tmp_path, pins)


def test_the_doctor_is_content_where_everything_is_there(machine):
    """Nothing missing: exit code 0, and it says so. A CPU or a GPU build of the pinned version is that version."""
    here = machine("demo==1.0\ntorch==2.13.0\n")
    here.installed("demo", "1.0")
    here.installed("torch", "2.13.0+cu130")
    answer = here.run("doctor")
    assert "Everything you need is here." in answer.stdout
    assert "FIX" not in answer.stdout
    assert answer.returncode == 0


def test_the_doctor_names_what_is_missing_and_how_to_fix_it(machine):
    """A missing package, a wrong version and a room that is not installed each get a line, and one remedy."""
    here = machine("demo==1.0\nother==2.1\n")
    here.removed("gradlab")
    here.installed("other", "2.0.9")
    answer = here.run("doctor")
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert {"FIX demo==1.0 not installed", "FIX other==2.1 2.0.9", "FIX course/ not installed"} <= set(lines)
    assert lines[lines.index("To fix:") + 1].startswith("make setup (without make: ")
    assert answer.returncode == 1


def test_a_requirements_file_that_cannot_be_used_is_named(machine):
    here = machine()
    requirements = here.root / "requirements.txt"
    requirements.unlink()
    answer = here.run("doctor")
    assert answer.stderr == f"{requirements} has no versions of packages. Get the course again.\n"
    assert answer.returncode == 1


def test_setup_makes_an_environment_once(machine):
    """A failed installation shows its reason and can be taken up again; once all is there, nothing is installed.

    A setting that makes pip install for the user does not stop it.
    """
    here = machine()
    (here.home / ".pip").mkdir()
    (here.home / ".pip/pip.conf").write_text("[install]\nuser = true\n")
    offline = {"PIP_NO_INDEX": "1", "GRADLAB_CHROMIUM": "/bin/true"}
    failed = here.run("setup", **offline)
    assert "The active environment does not have demo==1.0 (not installed)" in failed.stdout
    assert "No matching distribution found for demo==1.0" in failed.stderr
    assert f"{here.root}/.venv/bin/python -m pip install" in failed.stderr
    assert failed.returncode == 1

    write_wheel(here.folder, "demo", "1.0", "answer = 42\n", needs=["helper"])
    for version in ("1.0", "2.0"):
        write_wheel(here.folder, "helper", version, f"version = {version}")
    (here.root / "requirements.lock").write_text("demo==1.0\nhelper==1.0 ; sys_platform != 'nowhere'\n")
    first = here.run("setup", **offline, PIP_FIND_LINKS=str(here.folder))
    assert "Installing" in first.stdout
    assert first.returncode == 0
    second = here.run("setup", **offline)
    assert "Installing" not in second.stdout
    assert second.stdout.endswith(f"Ready: {here.root}/.venv/bin/python\n")
    found = here.run("run", "-c", "import demo, helper; print(demo.answer, helper.version)", **offline)
    assert found.stdout.endswith("42 1.0\n"), "what a package brings along is of the locked version"


@pytest.fixture
def own_environment(machine):
    """Return a machine whose active environment lacks a package, and that copy's own Python, ready but empty."""
    here = machine()
    venv.create(here.root / ".venv", with_pip=False)
    return here, here.root / ".venv/bin/python"


def test_an_own_environment_whose_python_is_gone_is_made_again(own_environment):
    """As in a folder copied from another machine: the link leads nowhere."""
    here, python = own_environment
    python.unlink()
    python.symlink_to(here.folder / "nowhere/python3")
    write_wheel(here.folder, "demo", "1.0", "")
    answer = here.run("setup", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(here.folder), GRADLAB_CHROMIUM="/bin/true")
    assert f"Creating {here.root}/.venv" in answer.stdout
    assert answer.stdout.endswith(f"Ready: {python}\n"), answer.stderr


@pytest.mark.parametrize("command", ["setup", "doctor"])
def test_an_own_environment_whose_python_does_not_start_is_to_be_deleted(own_environment, command):
    here, python = own_environment
    python.unlink()
    python.write_text("of another system")
    answer = here.run(command)
    assert answer.stderr == f"{python} does not start. Delete its environment and run this again.\n"
    assert answer.returncode == 1


def test_an_environment_of_another_copy_is_left_alone(machine):
    here = machine()
    here.installed("demo", "1.0")
    other = here.folder / "another-copy/course"
    here.installed("gradlab", "0.1.0", source=other)
    answer = here.run("setup", PIP_NO_INDEX="1", GRADLAB_CHROMIUM="/bin/true")
    assert f"environment does not have course/ (installed from {other}); using {here.root}/.venv" in answer.stdout


def further_rooms(here: Machine) -> None:
    """Let the copy have the room of the graders too, which needs a package of its own, and its tests another."""
    here.room("autograder", "grading", needs=["gradlab", "gradebook-driver"])
    (here.root / "pyproject.toml").write_text('[dependency-groups]\ntests = ["test-runner"]\n')


STUDENT_AND_MORE = "demo==1.0\ngradebook_driver==3.0\ntest-runner==2.0\n"


def test_lab_needs_only_what_a_student_needs(machine):
    """In a copy with all rooms, `lab` opens with the course's own packages; `run`, for tests and grading, wants all."""
    here = machine(STUDENT_AND_MORE)
    here.room("gradlab", "course", needs=["demo"])
    further_rooms(here)
    here.installed("demo", "1.0")
    (here.packages / "gradlab.py").write_text("import sys; print('lab opens with', *sys.argv[1:])")
    opened = here.run("lab", "--port=8889", PIP_NO_INDEX="1")
    assert opened.stdout == "lab opens with lab --port=8889\n"
    assert here.run("setup", "--student", PIP_NO_INDEX="1").stdout == f"Ready: {here.python}\n"
    assert not (here.root / ".venv").exists()
    tests = here.run("run", "-c", "", PIP_NO_INDEX="1")
    lacks = "does not have gradebook_driver==3.0 (not installed), test-runner==2.0 (not installed)"
    assert lacks in tests.stdout
    assert "No matching distribution found for demo==1.0" in tests.stderr


def test_the_doctor_asks_nothing_of_a_student_that_only_graders_need(machine):
    """Where only the course is installed the other rooms are one note; once one is, what it needs must be there."""
    here = machine(STUDENT_AND_MORE)
    here.room("gradlab", "course", needs=["demo"])
    further_rooms(here)
    here.installed("demo", "1.0")
    student = here.run("doctor", PATH="/nowhere")
    assert "note  grading/ and the tests" in student.stdout
    assert "note  chromium (for browser tests)" in student.stdout
    assert "gradebook_driver" not in student.stdout
    assert student.returncode == 0
    here.installed("autograder", "0.1.0", source=here.root / "grading")
    grader = here.run("doctor")
    assert [line for line in grader.stdout.splitlines() if "FIX" in line and "gradebook_driver==3.0" in line]
    assert [line for line in grader.stdout.splitlines() if "FIX" in line and "test-runner==2.0" in line]
    assert grader.returncode == 1


def test_the_doctor_notes_that_grading_needs_linux(machine, monkeypatch):
    """Students, who have only the course, read nothing of it."""
    here = machine(STUDENT_AND_MORE)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert doctor.examine_sandbox(here.root) == []
    further_rooms(here)
    (note,) = doctor.examine_sandbox(here.root)
    assert str(note).startswith("  note  a sandbox (for grading)")
    assert "needs Linux; to get it: a privileged container on macOS, WSL 2 on Windows" in str(note)


def test_each_pin_is_needed_by_a_room_or_by_tests():
    """What requirements.txt pins is named by a pyproject.toml, and what one names is pinned."""
    if not needs.more_than_course(ROOT):
        pytest.skip("only the course is here; its requirements.txt holds what graders need too")
    assert needs.needed_pins(ROOT) == needs.read_pins(ROOT / "requirements.txt")
    named = {name for folder in needs.read_rooms(ROOT).values() for name in needs.declared(folder / "pyproject.toml")}
    pinned = {needs.canonical(name) for name in needs.read_pins(ROOT / "requirements.txt")}
    assert named - pinned <= {*needs.ROOMS}


def test_what_a_students_packages_bring_along_is_pinned_too():
    """A package with a version in requirements.txt never comes to a student in another one, as another's dependency."""
    pins = {needs.canonical(name) for name in needs.read_pins(ROOT / "requirements.txt")}
    named = set(needs.declared(ROOT / "course/pyproject.toml"))
    assert brought_along(named) & pins == named


def brought_along(names: Iterable[str]) -> set[str]:
    """Return these packages and all that they need, as far as they are installed."""
    seen, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            for line in (importlib.metadata.requires(name) or []) if needs.version_found(name) else []:
                if "extra ==" not in line:
                    waiting.append(needs.canonical(re.match(r"[\w.-]+", line)[0]))
    return seen


@pytest.mark.parametrize("module", ["__init__", "__main__", "words", "notebook", *(f"setup/{m.stem}" for m in SET_UP)])
def test_set_up_runs_on_the_standard_library_of_an_older_python(module):
    """What runs before anything is installed imports only Python's own modules, and can be read by Python 3.8."""
    tree = ast.parse((ROOT / f"course/gradlab/{module}.py").read_text(encoding="utf-8"), feature_version=(3, 8))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    absolute = [node for node in imports if not getattr(node, "level", 0)]
    names = {getattr(node, "module", None) or alias.name for node in absolute for alias in node.names}
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "gradlab"}
    annotated = any(getattr(node, "annotation", getattr(node, "returns", None)) for node in ast.walk(tree))
    if annotated and module not in READ_LATER:
        first = next(node for node in tree.body if isinstance(node, ast.ImportFrom))
        assert ast.unparse(first) == "from __future__ import annotations"


@pytest.mark.parametrize("command", ["lab", "setup", "doctor"])
@pytest.mark.parametrize("limits", [((3, 97), (3, 99)), ((3, 8), (3, 9))], ids=["too old", "too new"])
def test_a_python_that_the_course_cannot_use_is_told_so(machine, limits, command):
    here = machine()
    needs_py = here.gradlab / "setup/needs.py"
    needs_py.write_text(re.sub(r"(?m)^(OLDEST_PYTHON, NEWEST_PYTHON =) .*$", rf"\1 {limits}", needs_py.read_text()))
    answer = here.run(command)
    assert re.search(r"needs Python 3\.\d+ to 3\.\d+, but .* is 3\..*PYTHON=", answer.stdout + answer.stderr)
    assert answer.returncode == 1


def test_the_supported_pythons_are_the_same_everywhere():
    """What setup enforces stands in each pyproject.toml and in each page that names it."""
    (oldest, newest), minor = (needs.OLDEST_PYTHON, needs.NEWEST_PYTHON), needs.NEWEST_PYTHON[1] + 1
    assert f"Python 3.{oldest[1]} to 3.{newest[1]}" == needs.pythons()
    rooms = needs.read_rooms(ROOT).values()
    wanted = f">=3.{oldest[1]},<3.{minor}"
    assert {tomllib.loads((room / "pyproject.toml").read_text())["project"]["requires-python"] for room in rooms} == {
        wanted
    }
    pages = ["README.md", "Makefile", "grading/hub/README.md", "solutions/authoring/student_readme.md"]
    assert [page for page in pages if (ROOT / page).exists() and needs.pythons() not in (ROOT / page).read_text()] == []


def test_packages_on_pythonpath_do_not_replace_the_courses_own(machine):
    here = machine()
    here.installed("demo", "1.0")
    for place, text in [(here.packages, "own"), (here.folder / "others", "another")]:
        place.mkdir(exist_ok=True)
        (place / "demo.py").write_text(f"said = {text!r}")
    (here.packages / "gradlab.py").write_text("import demo; print(demo.said)")
    others = {"PYTHONPATH": str(here.folder / "others"), "PIP_NO_INDEX": "1"}
    assert here.run("lab", **others).stdout == "own\n"
    assert here.run("run", "-c", "import demo; print(demo.said)", **others).stdout == "own\n"


def test_make_works_in_a_folder_with_a_space_and_an_active_environment(tmp_path):
    here = Machine(tmp_path / "a folder", "demo==1.0\n")
    here.installed("demo", "1.0")
    shutil.copy(ROOT / "Makefile", here.root)
    (here.packages / "gradlab.py").write_text("print('lab opens')")
    for target, said in [("lab", "lab opens"), ("doctor", "Everything you need is here.")]:
        answer = here.make(target)
        assert said in answer.stdout, answer.stderr


def test_the_lock_holds_each_pin_and_all_that_it_brings_along():
    """In the same versions as requirements.txt, where that has one; else, make lock."""
    pins, lock = (
        {needs.canonical(name): version for name, version in needs.read_pins(ROOT / f"requirements.{kind}").items()}
        for kind in ("txt", "lock")
    )
    assert lock.items() >= pins.items()
    here = importlib.metadata.distributions(path=[sysconfig.get_path("purelib")])  # not setuptools' vendored packages
    installed = {needs.canonical(distribution.name) for distribution in here}
    assert brought_along(set(pins)) & installed <= lock.keys()


def test_the_pins_stand_in_one_file_only():
    """No other file of the repository repeats a version of requirements.txt."""
    versions = [f"{name}=={version}" for name, version in needs.read_pins(ROOT / "requirements.txt").items()]
    others = [ROOT / "environment.yml", *ROOT.glob("*/pyproject.toml"), *ROOT.glob(".github/workflows/*")]
    assert [(file, pin) for file in others for pin in versions if pin in file.read_text()] == []


def test_clean_keeps_work(machine):
    """Caches go; the workspace, the class and the environment stay."""
    here = machine()
    shutil.copy(ROOT / "Makefile", here.root)
    kept = [
        here.root / place for place in ["workspace/a/build/b.txt", "grading/class/build/b.txt", ".venv/build/b.txt"]
    ]
    gone = [here.root / place for place in ["course/__pycache__/b.pyc", "build/b.txt", "course/gradlab.egg-info/b.txt"]]
    for file in kept + gone:
        file.parent.mkdir(parents=True)
        file.write_text("")
    assert here.make("clean").returncode == 0
    assert [file.exists() for file in kept + gone] == [True] * len(kept) + [False] * len(gone)
