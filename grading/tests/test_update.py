"""An update lists the course's changes, loses no scores, and makes outdated grades visible."""

import json
import shutil

import nbformat
import pytest
from tiny_class import NAME, RIGHT, TinyClass, changed, solved_notebook

from autograder import class_chapters, update
from autograder.__main__ import main
from autograder.run.grader import Grader
from autograder.settings import class_api

SLIP = RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"}
TO_GRADE = f"to be graded again: 2, with make grade ASSIGNMENT={NAME}"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class of two, both graded; ben has manual points for the first exercise and a comment on the second."""
    tiny = TinyClass(tmp_path_factory.mktemp("update") / "class")
    tiny.folder.chmod(0o700)
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", SLIP)
    grade(tiny)
    with tiny.api.gradebook as gradebook:
        gradebook.find_grade("check-1", NAME, NAME, "ben").manual_score = 1.5
        gradebook.find_comment("answer-2", NAME, NAME, "ben").manual_comment = "Nicely put."
        gradebook.db.commit()
    return tiny


@pytest.fixture
def tiny(graded, tmp_path):
    """A copy of the same class."""
    tiny = TinyClass(tmp_path / "class")
    shutil.rmtree(tiny.folder)
    shutil.copytree(graded.folder, tiny.folder)
    return tiny


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return a function that writes the course's version of the chapter."""

    def write(notebook) -> None:
        path = tmp_path / "course" / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)

    monkeypatch.setattr(class_chapters, "SOURCES", tmp_path / "course")
    return write


def grade(tiny: TinyClass) -> dict[str, str]:
    """Grade what is due, in this process; return the reasons."""
    grader = Grader(class_api(tiny.folder), NAME)
    due = {student: why for student in grader.submitted() if (why := grader.why_due(student))}
    for student in due:
        assert grader.grade_here(student).status == "graded"
    return due


def command(tiny: TinyClass, capsys, *words: str, code: int = 0) -> list[str]:
    """Return the lines that the command prints."""
    capsys.readouterr()
    assert main(["update", "--class", str(tiny.folder), *words]) == code
    said = capsys.readouterr()
    return said.out.splitlines() + [line for line in said.err.splitlines() if line.startswith("error")]


def points(tiny: TinyClass) -> dict[str, list]:
    return {student: tiny.points(student) for student in ("anna", "ben")}


def test_a_class_that_equals_the_course_needs_no_update(tiny, course, capsys):
    shutil.copytree(tiny.folder / "source" / NAME, tiny.folder.parent / "course" / NAME)
    assert command(tiny, capsys) == ["The class is up to date with the course."]


def test_ungraded_changes_change_no_grade(tiny, course, capsys):
    solved = nbformat.read(tiny.folder / "source" / NAME / f"{NAME}.ipynb", as_version=4)
    solved.cells[0].source = "# Tiny, and fixed"
    course(solved)
    assert command(tiny, capsys) == [
        NAME,
        "  only ungraded parts differ",
        "Nothing was changed. To make these changes, repeat the command with --apply.",
    ]
    command(tiny, capsys, "--apply")
    assert "fixed" in (tiny.folder / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert "fixed" not in (tiny.folder / "replaced" / NAME / "release" / f"{NAME}.ipynb").read_text()
    assert grade(tiny) == {}


def test_a_comment_in_a_check_cell_regrades_nobody(tiny, course, capsys):
    solved = nbformat.read(tiny.folder / "source" / NAME / f"{NAME}.ipynb", as_version=4)
    (check,) = (cell for cell in solved.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "check-1")
    check.source = "# The first one.\n" + check.source + "  # and no shortcut"
    course(solved)
    assert command(tiny, capsys, "--apply") == [NAME, "  only ungraded parts differ", "Done."]
    assert "# The first one." in (tiny.folder / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert grade(tiny) == {}


def test_a_submission_without_a_grade_is_not_counted_as_graded_again(tiny, course, capsys):
    """One submission is new, one student was dropped, and one entry exists only for an extension."""
    tiny.hand_in("new", RIGHT)
    tiny.hand_in("broken", text="{")
    grade_all = Grader(class_api(tiny.folder), NAME)
    assert grade_all.grade_here("broken").status == "could not be graded"
    with tiny.api.gradebook as gradebook:
        gradebook.add_student("extended")
        gradebook.add_submission(NAME, "extended")
    course(changed(points=4))
    assert f"  {TO_GRADE}" in command(tiny, capsys, "--apply")
    assert main(["drop", "ben", "--class", str(tiny.folder)]) == 0
    course(changed(points=5))
    assert f"  {TO_GRADE.replace('2', '1')}" in command(tiny, capsys)


def test_a_class_without_submissions_accepts_any_change(tmp_path, course, capsys):
    tiny = TinyClass(tmp_path / "class")
    solved = nbformat.read(tiny.folder / "source" / NAME / f"{NAME}.ipynb", as_version=4)
    solved.cells[2].source = solved.cells[2].source.replace("6 * x * v", "x * v * 6")
    course(solved)
    assert command(tiny, capsys, "--apply") == [NAME, "  solution or setup cells differ", "Done."]
    course(changed(third=True, second=False))
    assert command(tiny, capsys, "--apply") == [
        NAME,
        "  3 is added, worth 1 point",
        "  2 is removed",
        "Done.",
    ]


def test_changed_points_are_listed_noticed_and_graded_again(tiny, course, capsys):
    course(changed(points=4))
    told = [NAME, "  1 is worth 4 points instead of 2; check the points you set manually: ben", f"  {TO_GRADE}"]
    assert command(tiny, capsys)[:-1] == told
    assert points(tiny) == {"anna": [2, 3], "ben": [1.5, 1.5]}
    assert command(tiny, capsys, "--apply") == [*told, "Done."]

    assert main(["report", NAME, "--class", str(tiny.folder)]) == 0
    said = capsys.readouterr().out
    assert f"2 to be graded again\nNo score until graded (autograder grade {NAME}): anna, ben" in said
    assert main(["feedback", NAME, "--class", str(tiny.folder)]) == 0
    assert "anna: graded before checks or points changed; grade first." in capsys.readouterr().out

    assert grade(tiny).keys() == {"anna", "ben"}
    assert points(tiny) == {"anna": [4, 3], "ben": [1.5, 1.5]}
    assert main(["report", NAME, "--class", str(tiny.folder)]) == 0
    assert "graded again" not in capsys.readouterr().out
    assert grade(tiny) == {}


def test_the_run_says_how_many_it_grades_again(tiny, course, capsys):
    course(changed(points=4))
    command(tiny, capsys, "--apply")
    assert tiny.grade("anna") == {"anna": "graded"}
    assert (
        "Submissions to grade again, because they were graded before checks or points changed: 1."
        in capsys.readouterr().out
    )


def test_a_changed_expected_answer_is_listed_and_used(tiny, course, capsys):
    """The check cell is unchanged, but the old reference's record must not be used."""
    course(changed(sign="-"))
    assert command(tiny, capsys, "--apply") == [NAME, "  checked differently: 1, 2", f"  {TO_GRADE}", "Done."]
    seed = json.loads((tiny.folder / "records" / f"{NAME}.json").read_text())["seed"]
    grade(tiny)
    assert points(tiny)["anna"][0] == 0
    assert json.loads((tiny.folder / "records" / f"{NAME}.json").read_text())["seed"] == seed


def test_an_added_exercise_costs_no_score_and_no_release(tiny, course, capsys):
    course(changed(third=True))
    assert command(tiny, capsys, "--apply") == [
        NAME,
        "  3 is added, worth 1 point; existing submissions have no answer to it",
        f"  {TO_GRADE}",
        "Done.",
    ]
    assert points(tiny) == {"anna": [2, 3, None], "ben": [1.5, 1.5, None]}
    grade(tiny)
    assert points(tiny) == {"anna": [2, 3, 0], "ben": [1.5, 1.5, 0]}
    tiny.hand_in("cleo", RIGHT | {"answer-3": "def again(x, v):\n    return 6 * x * v"})
    assert grade(tiny).keys() == {"cleo"}
    assert tiny.points("cleo") == [2, 3, 1]


def test_a_loss_of_scores_is_refused_without_the_flag(tiny, course, capsys):
    course(changed(second=False))
    before = (tiny.folder / "release" / NAME / f"{NAME}.ipynb").read_bytes()
    said = command(tiny, capsys, "--apply", code=1)
    assert "  WOULD BE LOST: the points for 2 (submissions: 2)" in said
    assert "  WOULD BE LOST: your comments on answer-2 (submissions: 1)" in said
    assert "Nothing was changed, because scores would be lost in 90_tiny." in said[-1]
    assert points(tiny) == {"anna": [2, 3], "ben": [1.5, 1.5]}
    assert (tiny.folder / "release" / NAME / f"{NAME}.ipynb").read_bytes() == before
    assert grade(tiny) == {}
    assert command(tiny, capsys, "--apply", "--lose-scores")[-1] == "Done."
    grade(tiny)
    assert points(tiny) == {"anna": [2], "ben": [1.5]}


def test_a_new_or_not_yet_generated_chapter_is_copied_unchanged(tiny, course, capsys):
    course(solved_notebook())
    (tiny.folder.parent / "course" / NAME).rename(tiny.folder.parent / "course" / "91_new")
    path = tiny.folder.parent / "course" / "91_new"
    (path / f"{NAME}.ipynb").rename(path / "91_new.ipynb")
    assert command(tiny, capsys, "--apply") == ["91_new", "  new", "Done."]
    (path / "91_new.ipynb").write_text((path / "91_new.ipynb").read_text().replace("# Tiny", "# New"))
    assert command(tiny, capsys, "--apply") == ["91_new", "  not generated yet", "Done."]
    assert class_chapters.contents(tiny.folder / "source" / "91_new") == class_chapters.contents(path)
    assert grade(tiny) == {}


def test_only_the_named_chapters_are_updated(tiny, course, capsys):
    course(changed(points=4))
    assert "Did you mean 90_tiny?" in command(tiny, capsys, "90_tinny", code=1)[-1]
    assert command(tiny, capsys, NAME)[0] == NAME


def test_a_changed_chapter_of_the_class_itself_is_updated_too(tiny, course, capsys):
    tiny.write_source(changed(third=True))
    assert command(tiny, capsys, "--apply")[1].startswith("  3 is added")
    grade(tiny)
    assert points(tiny)["anna"] == [2, 3, 0]


def test_an_interrupted_update_is_completed_by_the_next(tiny, course, capsys):
    course(changed(points=4))
    shutil.rmtree(tiny.folder / "release" / NAME)
    class_chapters.put(tiny.folder.parent / "course" / NAME, tiny.folder / "source" / "new")
    shutil.rmtree(tiny.folder / "source" / NAME)
    (tiny.folder / "source" / "new").rename(tiny.folder / "source" / NAME)
    assert "  the release is missing or does not fit this gradlab" in command(tiny, capsys, "--apply")
    assert grade(tiny).keys() == {"anna", "ben"}
    assert points(tiny)["anna"] == [4, 3]


def test_a_chapter_that_cannot_be_generated_stays_unchanged(tiny, course, capsys, monkeypatch):
    course(changed(points=4))
    before = class_chapters.contents(tiny.folder / "source"), class_chapters.contents(tiny.folder / "release")

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(update.UpdateCells, "preprocess", fail)
    said = command(tiny, capsys, "--apply", code=1)
    assert f"error: {NAME} could not be generated and is unchanged:" in said
    assert (class_chapters.contents(tiny.folder / "source"), class_chapters.contents(tiny.folder / "release")) == before
    assert grade(tiny) == {}


def test_records_in_a_different_format_are_reported_and_made_again(tiny, course, capsys):
    """Grading makes the class's record again from its seed; an update makes the students' record again."""
    for path in (tiny.folder / "records" / f"{NAME}.json", tiny.folder / "release" / NAME / f"{NAME}.record.json"):
        path.chmod(0o644)
        path.write_text(path.read_text().replace('"format": 1', '"format": 99').replace('"format":1', '"format":99'))
    assert grade(tiny) == {}
    said = capsys.readouterr().err
    assert f"{NAME}.json has format 99, but this gradlab reads format 1. The record is made again from its" in said
    assert command(tiny, capsys, "--apply") == [NAME, "  the release is missing or does not fit this gradlab", "Done."]
    assert '"format":1,' in (tiny.folder / "release" / NAME / f"{NAME}.record.json").read_text()


def test_a_copy_that_no_longer_works_with_the_course_says_so(tiny, course, capsys):
    solved = solved_notebook()
    solved.cells[1].source += "\nfrom gradlab import what_is_gone"
    tiny.write_source(solved)
    assert main(["grade", NAME, "--class", str(tiny.folder)]) == 1
    said = capsys.readouterr().err
    assert "cannot import name 'what_is_gone'" in said
    assert f"too old for this version of the course, run python -m autograder update {NAME}" in said
    course(solved_notebook())
    command(tiny, capsys, "--apply")
    grade(tiny)
    assert points(tiny)["anna"] == [2, 3]
