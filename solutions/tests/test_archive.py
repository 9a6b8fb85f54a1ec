"""The student's archive works alone: unpacked elsewhere, where no other room exists or can be imported."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest
from borrowed import install

from authoring import archive
from authoring.build import STUDENT_EDITION
from authoring.places import SOURCES

CHAPTER = "02_external_gradients"


class Student:
    """An unpacked archive, set up by the command of its page."""

    def __init__(self, folder: Path):
        self.root = install(archive.write(folder / "autograd-course.zip"), folder)
        self.python = self.root / ".venv/bin/python"
        self.home = folder / "home"
        self.home.mkdir()

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run its Python in the unpacked folder."""
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.home)}
        return subprocess.run(
            [self.python, *arguments], cwd=self.root, env=env, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def student(tmp_path_factory) -> Student:
    """A student who has installed what was handed out."""
    return Student(tmp_path_factory.mktemp("student"))


def test_the_archive_holds_the_course_and_the_reference_engine():
    """Of the repository it has course/ without its tests, the engine, the student's versions, and a page of its own."""
    files = archive.contents()
    names = set(files)
    assert {name for name in names if "/" not in name} == {"README.md", "requirements.txt", "requirements.lock"}
    assert not [name for name in names if name.startswith("course/tests")]
    engine = {name for name in names if name.startswith("solutions/")}
    assert {"solutions/mini_autograd/README.md", "solutions/mini_autograd/core/engine.py"} <= engine
    assert {name.rpartition(".")[2] for name in engine} == {"py", "md"}
    assert all(name.startswith("solutions/mini_autograd/") for name in engine)
    assert f"course/chapters/{CHAPTER}/{CHAPTER}.ipynb" in names
    assert "course/gradlab/jupyter/labextensions/gradlab-links/static/links.js" in names
    assert [name for name in names if name.endswith(".ipynb") and b"BEGIN SOLUTION" in files[name]] == []


def test_what_chapters_wrote_where_an_author_ran_them_stays_behind(tmp_path):
    left = ["01_graph/.answers.json", ".progress.json", "my_engine/my_engine.py", "14_train/my_engine.png"]
    for name in ["01_graph/01_graph.ipynb", *left]:
        path = tmp_path / "course/chapters" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    chapters = [name for name in archive.contents(tmp_path) if name.startswith("course/chapters/")]
    assert chapters == ["course/chapters/01_graph/01_graph.ipynb"]


def test_weights_are_named_by_their_hash_in_both_notebooks_and_the_archive():
    """So no notebook loads the weights of another edition."""
    (path,) = SOURCES.glob("*/weights-*.pt")
    assert path.name == f"weights-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}.pt"
    assert path.stat().st_size < 100_000
    name = path.parent.name
    for folder in (path.parent, STUDENT_EDITION / name):
        assert set(re.findall(r"weights-\w+\.pt", (folder / f"{name}.ipynb").read_text())) == {path.name}
    assert archive.contents()[f"course/chapters/{name}/{path.name}"] == path.read_bytes()


def test_the_same_course_makes_the_same_archive(tmp_path):
    first, second = archive.write(tmp_path / "1/a.zip"), archive.write(tmp_path / "2/a.zip")
    assert first.read_bytes() == second.read_bytes()


def test_the_commands_of_its_page_work(student):
    """`--help` and `doctor` answer, and the doctor misses nothing."""
    assert "lab" in student.run("-m", "gradlab", "--help").stdout
    examined = student.run("-m", "gradlab", "doctor")
    assert "Everything you need is here." in examined.stdout, examined.stdout


WORK = """
import importlib.util, json, sys
from pathlib import Path
from gradlab.setup.lab import prepare

assert [name for name in ("authoring", "mini_autograd", "autograder") if importlib.util.find_spec(name)] == []
prepare(Path("workspace"))

import nbformat
from nbclient import NotebookClient

home = Path("workspace/CHAPTER")
cells = {cell.id: cell for cell in nbformat.read(home / "CHAPTER.ipynb", as_version=4).cells}
answer = nbformat.v4.new_code_cell("def pull_back(x, v):\\n    return v * 3 * x**2")
setup = [cell for cell in cells.values() if "setup" in cell.metadata.get("tags", [])]
notebook = nbformat.v4.new_notebook(cells=[*setup, answer, cells["check-02-1"]])
NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(home)}}).execute()
print(json.dumps([output["data"].get("text/plain", "") for output in notebook.cells[-1].outputs if "data" in output]))
"""


def test_a_student_without_the_other_rooms_works_in_a_workspace_of_their_own(student):
    """The workspace is made, nothing of solutions/ and grading/ can be imported, and a check judges an answer."""
    worked = student.run("-c", WORK.replace("CHAPTER", CHAPTER))
    assert worked.returncode == 0, worked.stderr
    said = " ".join(json.loads(worked.stdout.splitlines()[-1]))
    assert "passed" in said
    assert (student.root / "workspace/README.md").exists()
