"""The Assignment List and `gradlab lab` deliver the same editions, and neither undoes the other's work."""

import contextlib
import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.server_extensions.assignment_list.handlers import AssignmentList
from test_edition import CHECK, CLOSE, LESSON, OLD, STUB, TITLE, changed, notebook

from gradlab.setup import lab

CHAPTER = "02_demo"
ANSWER = changed(STUB, "def f(x):\n    return 3 * x")
OF_CLASS = notebook(changed(TITLE, "# Demo, for this class"), LESSON, STUB, CHECK, CLOSE)


class Student:
    """A workspace, the course it was made from, and the exchange of its class."""

    def __init__(self, folder: Path):
        self.course, self.workspace, self.exchange = folder / "course", folder / "workspace", folder / "exchange"
        self.course.mkdir()
        for name in (lab.SETTINGS, lab.START_PAGE):
            shutil.copy(lab.COURSE / name, self.course)
        self.outbound = self.exchange / "autograd/outbound"
        for place in (self.outbound, self.exchange / "autograd/inbound"):
            place.mkdir(parents=True)
            place.chmod(0o755 if place == self.outbound else 0o733)
        write(self.course / "chapters" / CHAPTER, OLD)
        self.notebook = self.workspace / CHAPTER / f"{CHAPTER}.ipynb"

    def start(self) -> None:
        """Start the course, as far as the workspace is concerned."""
        lab.prepare(self.workspace, self.course)

    def listed(self) -> set[str]:
        """Return in which lists the Assignment List shows the chapter."""
        return {entry["status"] for entry in self._ask("list_assignments", "autograd")["value"]}

    def fetch(self) -> None:
        """Click Fetch."""
        assert self._ask("fetch_assignment", "autograd", CHAPTER) == {"success": True}

    def _ask(self, name: str, *words: str) -> dict:
        """Ask nbgrader's server extension, which answers where the server was started."""
        extension = AssignmentList()
        extension.root_dir = str(self.workspace)
        with contextlib.chdir(self.workspace):
            return getattr(extension, name)(*words)

    def work(self) -> None:
        """Save an answer in the chapter."""
        mine = json.loads(self.notebook.read_text())
        mine["cells"] = [ANSWER if cell["id"] == ANSWER["id"] else cell for cell in mine["cells"]]
        self.notebook.write_text(json.dumps(mine))

    def sources(self) -> list[str]:
        """Return the sources of the student's notebook."""
        return [cell.source for cell in nbformat.read(self.notebook, as_version=4).cells]


def write(folder: Path, content: dict) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{CHAPTER}.ipynb").write_text(nbformat.writes(nbformat.from_dict(content)))


@pytest.fixture
def student(tmp_path, monkeypatch) -> Student:
    """A student of a class that has released nothing yet, whose workspace has the course's own edition."""
    student = Student(tmp_path)
    monkeypatch.setenv("GRADLAB_EXCHANGE", str(student.exchange))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    student.start()
    return student


def test_the_classs_edition_is_fetched_into_a_chapter_that_was_begun_and_stays(student):
    """It is listed as released although a copy is there; Fetch brings it with the answer in it, and then it is not.

    The course's own edition does not take its place when the course is started.
    """
    assert student.listed() == set()
    student.work()
    write(student.outbound / CHAPTER, OF_CLASS)
    assert student.listed() == {"released", "fetched"}
    student.fetch()
    assert student.listed() == {"fetched"}
    assert "# Demo, for this class" in student.sources()
    assert ANSWER["source"] in student.sources()
    before = student.sources(), sorted(student.workspace.iterdir())
    student.start()
    assert (student.sources(), sorted(student.workspace.iterdir())) == before, "nothing is replaced or put aside"


def test_starting_the_course_brings_the_classs_edition_which_stays_without_its_exchange(student, capsys):
    """Nobody has to fetch what was released before. An exchange that is not there for once is named."""
    student.work()
    write(student.outbound / CHAPTER, OF_CLASS)
    student.start()
    assert student.listed() == {"fetched"}
    student.exchange.rename(student.exchange.with_name("elsewhere"))
    for start in (lambda: None, student.start):
        start()
        assert ANSWER["source"] in student.sources()
        assert "# Demo, for this class" in student.sources()
    assert f"the exchange {student.exchange} is not a folder" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["outbound", "exchange"])
def test_nothing_is_taken_from_an_exchange_into_which_anybody_could_have_put_it(student, capsys, folder):
    """In an exchange that is not sticky, a student may rename the teacher's folder and make another."""
    student.start()
    write(student.outbound / CHAPTER, OF_CLASS)
    getattr(student, folder).chmod(0o777)
    student.start()
    assert "; its owner can fix that: chmod " in capsys.readouterr().err
    assert "# Demo, for this class" not in student.sources()
    assert not student._ask("fetch_assignment", "autograd", CHAPTER)["success"]
    student.outbound.chmod(0o755)
    student.exchange.chmod(0o1777)
    student.start()
    assert "# Demo, for this class" in student.sources()
