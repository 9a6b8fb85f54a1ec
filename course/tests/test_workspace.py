"""A student's copy follows the released chapters, and nothing a student wrote is ever lost."""

import copy
import shutil
from pathlib import Path

import nbformat
import pytest
from test_edition import CHECK, CLOSE, FIXED, LESSON, NEWS, OLD, STUB, TITLE, changed, notebook, own

from gradlab import ipynb
from gradlab.setup import workspace
from gradlab.setup.commands import SetupError
from gradlab.setup.lab import prepare, released
from gradlab.setup.workspace import bring_up_to_date, kept_copies, put_page

TODAY = "2026-11-21"
KEPT = f"02_demo.before-{TODAY}"


@pytest.fixture(autouse=True)
def _always_the_same_day(monkeypatch):
    monkeypatch.setattr(workspace, "today", lambda: TODAY)


class Student:
    """A released chapter of a notebook, a record and a picture, and a student's copy of it."""

    def __init__(self, folder: Path):
        self.chapter, self.root = folder / "released/02_demo", folder / "workspace"
        self.mine = self.root / "02_demo"
        self.notebook = self.mine / "02_demo.ipynb"
        self.release({"02_demo.ipynb": OLD, "02_demo.record.json": "records 1", "figures/opening.svg": "picture 1"})

    def release(self, files: dict) -> None:
        """Release an edition of these files, a notebook given as such, instead of what was released before."""
        shutil.rmtree(self.chapter, ignore_errors=True)
        for name, content in files.items():
            (self.chapter / name).parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else nbformat.writes(nbformat.from_dict(content))
            (self.chapter / name).write_text(text)

    def second_edition(self) -> None:
        """Release a second edition, in which all files are other ones."""
        new = notebook(TITLE, NEWS, FIXED, STUB, CHECK, CLOSE)
        self.release({"02_demo.ipynb": new, "02_demo.record.json": "records 2", "figures/opening.svg": "picture 2"})

    def update(self) -> list[str]:
        """Bring the workspace up to date; return what changed."""
        return [change.what for change in bring_up_to_date({"02_demo": self.chapter}, self.root)]

    def write(self, *cells: dict) -> None:
        """Save a notebook of these cells, as JupyterLab would."""
        nbformat.write(nbformat.from_dict(notebook(*cells)), self.notebook)

    def files(self) -> dict[str, str]:
        """Return the text of each file of the workspace but of those in its hidden folders."""
        found = {path.relative_to(self.root): path for path in self.root.rglob("*") if path.is_file()}
        return {name.as_posix(): path.read_text() for name, path in found.items() if name.parts[0][0] != "."}

    def sources(self) -> dict[str, str]:
        """Return the source of each cell of the student's notebook, by id."""
        return {cell["id"]: cell["source"] for cell in nbformat.read(self.notebook, as_version=4).cells}


@pytest.fixture
def student(tmp_path) -> Student:
    """A student with a first edition, up to date."""
    student = Student(tmp_path)
    assert student.update() == ["added"]
    assert student.files() == {f"02_demo/{name}": text for name, text in released_files(student).items()}
    assert student.update() == []
    return student


ANSWER = changed(STUB, "def f(x):\n    return 3 * x")
HALF_SOLVED = [TITLE, LESSON, own("my note"), ANSWER, CHECK, CLOSE]


def released_files(student) -> dict[str, str]:
    paths = [path for path in student.chapter.rglob("*") if path.is_file()]
    return {path.relative_to(student.chapter).as_posix(): path.read_text() for path in paths}


def test_a_new_edition_takes_in_a_half_solved_chapter(student):
    """Answer and note are in the new edition, record and picture are its own, and the old copy lies beside it.

    A third edition keeps a copy of its own.
    """
    student.write(*HALF_SOLVED)
    written = student.files()
    student.second_edition()
    assert student.update() == ["merged"]
    assert student.sources()["answer-02-1"] == ANSWER["source"]
    assert "my note" in student.sources().values()
    assert student.sources()["s1-run"] == FIXED["source"]
    after = student.files()
    assert after["02_demo/02_demo.record.json"] == "records 2"
    assert {name: after[name.replace("02_demo/", f"{KEPT}/", 1)] for name in written} == written
    assert student.update() == []
    assert student.files() == after
    student.release({"02_demo.ipynb": notebook(NEWS, TITLE, STUB, CHECK), "02_demo.record.json": "records 3"})
    assert student.update() == ["merged"]
    assert student.sources()["answer-02-1"] == ANSWER["source"]
    assert student.files().items() >= {name: text for name, text in after.items() if name.startswith(KEPT)}.items()
    assert list(kept_copies(student.root)) == [student.root / KEPT, student.root / f"{KEPT}-2"]


def test_a_chapter_that_was_merely_opened_and_run_is_brought_up_to_date_silently(student):
    """What JupyterLab saves by itself, and empty cells, are no work: new and changed files arrive, others go."""
    saved = nbformat.from_dict(copy.deepcopy(OLD))
    saved.metadata.language_info = {"name": "python", "version": "3.11.7"}
    saved.cells[2].metadata = {"collapsed": True, "jupyter": {"outputs_hidden": True}, "execution": {}}
    saved.cells[2].execution_count = 3
    saved.cells[2].outputs = [nbformat.v4.new_output("stream", text="1\n")]
    saved.cells.append(nbformat.from_dict(own("  ")))
    nbformat.write(saved, student.notebook)
    student.second_edition()
    (student.chapter / "figures/opening.svg").rename(student.chapter / "figures/first.svg")
    assert student.update() == ["updated"]
    assert student.files() == {f"02_demo/{name}": text for name, text in released_files(student).items()}


def everything(folder: Path) -> dict[Path, tuple]:
    """Return the contents and the time of writing of each file, hidden ones too."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("mine", "released"), [("figures", "figures/opening.svg"), ("notes/mine.md", "notes")])
def test_a_file_where_a_new_edition_needs_a_folder_is_named_and_nothing_changes(student, mine, released):
    """Nor does a folder give way to a file: the update changes nothing, however often it runs, until it is renamed."""
    student.write(TITLE, changed(LESSON, "print('mine')"), ANSWER, CHECK, CLOSE)
    shutil.rmtree(student.mine / "figures")
    (student.mine / mine).parent.mkdir(exist_ok=True)
    (student.mine / mine).write_text("mine")
    student.release({"02_demo.ipynb": notebook(TITLE, NEWS, STUB, CHECK, CLOSE), released: "new"})
    place = student.mine / mine.split("/")[0]
    first = everything(student.root)
    for _ in range(2):
        (change,) = bring_up_to_date({"02_demo": student.chapter}, student.root)
        assert f"{place} is in the way of the new edition; rename it." in str(change)
        assert everything(student.root) == first
    place.rename(student.mine / "renamed")
    assert student.update() == ["merged"]
    assert student.files()[f"02_demo/{released}"] == "new"


def test_an_update_that_was_cut_short_is_finished_by_the_next(student, monkeypatch):
    """The edition is known as brought only when all of it is there."""
    student.write(*HALF_SOLVED)
    student.second_edition()

    def full(*_):
        raise OSError("No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(workspace, "_replace_folder", full)
        (change,) = bring_up_to_date({"02_demo": student.chapter}, student.root)
        assert str(change).startswith("02_demo could not be brought up to date: No space left on device.")
    assert student.update() == []
    assert student.sources()["answer-02-1"] == ANSWER["source"]
    assert list(kept_copies(student.root)) == [student.root / KEPT]


def test_a_new_record_reaches_a_chapter_that_was_worked_in(student):
    """Where the notebook did not change the work is left alone, and its checks have the new record."""
    student.write(*HALF_SOLVED)
    (student.chapter / "02_demo.record.json").write_text("records 2")
    assert student.update() == ["updated"]
    assert student.sources()["answer-02-1"] == ANSWER["source"]
    assert student.files()["02_demo/02_demo.record.json"] == "records 2"
    assert kept_copies(student.root) == {}


def test_a_damaged_notebook_is_kept_and_the_chapter_starts_over(student):
    student.notebook.write_text('{"cells": [{"source": "my answer"')
    assert student.update() == [], "without a new edition it is left alone"
    student.second_edition()
    assert student.update() == ["merged"]
    assert student.files()[f"{KEPT}/02_demo.ipynb"] == '{"cells": [{"source": "my answer"'
    assert student.sources()["s1-run"] == FIXED["source"]
    (says,) = kept_copies(student.root).values()
    assert "You had changed 02_demo.ipynb; it is now as released." in says
    assert student.update() == []


def test_a_students_own_file_is_not_lost_where_a_released_one_takes_its_name(student):
    (student.mine / "notes.md").write_text("my notes")
    (student.chapter / "notes.md").write_text("released notes")
    assert student.update() == ["merged"]
    assert student.files()["02_demo/notes.md"] == "released notes"
    assert student.files()[f"{KEPT}/notes.md"] == "my notes"


def test_a_deleted_or_renamed_notebook_comes_back(student):
    """Renaming the notebook is how to start over; the renamed one stays."""
    student.write(*HALF_SOLVED)
    student.notebook.rename(student.mine / "first try.ipynb")
    assert student.update() == ["updated"]
    assert student.sources()["answer-02-1"] == STUB["source"]
    renamed = nbformat.read(student.mine / "first try.ipynb", as_version=4)
    assert ANSWER["source"] in [cell.source for cell in renamed.cells]
    assert student.update() == []


@pytest.mark.parametrize("memory", ["gone", "damaged"])
def test_without_a_memory_of_what_was_released_work_is_still_safe(student, memory):
    """What nobody can tell from work counts as work."""
    student.write(TITLE, changed(LESSON, "print('mine')"), ANSWER, CHECK)
    if memory == "gone":
        shutil.rmtree(student.root / ".released")
    else:
        (student.root / ".released/02_demo/02_demo.ipynb").write_text("{")
    student.second_edition()
    assert student.update() == ["merged"]
    assert student.sources()["answer-02-1"] == ANSWER["source"]
    assert "print('mine')" in student.sources().values()
    assert student.update() == []


def test_a_broken_chapter_keeps_no_other_from_being_updated(student):
    student.write(*HALF_SOLVED)
    student.release({"02_demo.ipynb": "no notebook at all"})
    other = student.chapter.with_name("03_other")
    other.mkdir()
    (other / "03_other.txt").write_text("here")
    broken, added = bring_up_to_date({"02_demo": student.chapter, "03_other": other}, student.root)
    assert str(broken).startswith("02_demo could not be brought up to date: Unreadable: ")
    assert str(added) == "added 03_other"
    assert [one["source"] for one in ipynb.read(student.notebook.read_bytes())["cells"]] == [
        one["source"] for one in HALF_SOLVED
    ]


def test_a_setting_that_the_student_changed_stays(tmp_path):
    """The class's own course id is not taken back."""
    source, root = tmp_path / "nbgrader_config.py", tmp_path / "workspace"
    source.write_text("one")
    assert [str(change) for change in bring_up_to_date({source.name: source}, root)] == ["added nbgrader_config.py"]
    source.write_text("two")
    assert [str(change) for change in bring_up_to_date({source.name: source}, root)] == ["updated nbgrader_config.py"]
    (root / source.name).write_text("mine")
    source.write_text("three")
    assert bring_up_to_date({source.name: source}, root) == []
    assert (root / source.name).read_text() == "mine"


def test_a_page_that_the_student_wrote_in_is_kept_beside_the_made_one(tmp_path):
    """The page is written each time; made the same, nothing changes."""
    put_page("README.md", lambda: "one", tmp_path)
    put_page("README.md", lambda: "two", tmp_path)
    assert kept_copies(tmp_path) == {}
    (tmp_path / "README.md").write_text("mine")
    put_page("README.md", lambda: f"three, {len(kept_copies(tmp_path))} kept", tmp_path)
    assert (tmp_path / "README.md").read_text() == "three, 1 kept"
    assert (tmp_path / f"README.before-{TODAY}.md").read_text() == "mine"


def test_an_engine_that_chapter_14_wrote_beside_the_course_is_no_chapter(tmp_path):
    for name in ("README.md", "nbgrader_config.py", "chapters/14_train/14_train.ipynb", "chapters/my_engine/README.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert [*released(tmp_path)] == ["nbgrader_config.py", "14_train"]


def test_preparing_a_workspace_twice_changes_nothing(tmp_path, capsys):
    """The whole course as it is: every chapter, the start page, and how JupyterLab is arranged at first."""
    prepare(tmp_path)
    first = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert tmp_path / "README.md" in first
    capsys.readouterr()
    prepare(tmp_path)
    assert capsys.readouterr().out == f"Your workspace: {tmp_path}\n"
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == first


def test_a_course_that_was_not_installed_in_place_is_told_how(tmp_path):
    """Only gradlab was installed, without the start page and the chapters; no workspace is begun."""
    with pytest.raises(SetupError, match="in its own folder: make setup"):
        prepare(tmp_path / "workspace", course=tmp_path / "site-packages")
    assert not (tmp_path / "workspace").exists()
