"""An update lists the course's changes, loses no scores, and makes outdated grades visible."""

import json
import shutil
import signal
import tarfile
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from nbgrader.apps import NbGraderAPI
from tiny_class import NAME, RIGHT, SLIP, TinyClass, cell_of, changed, solved_notebook, threads

from autograder import class_chapters, update

NOT_APPLIED = "Nothing was changed. To make these changes, repeat the command with --apply."
TO_GRADE = f"submissions to grade again: 2, with make grade ASSIGNMENT={NAME}"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class of two, both graded; ben has manual points for the first exercise and a comment on the second."""
    tiny = TinyClass(tmp_path_factory.mktemp("update") / "class")
    tiny.folder.chmod(0o700)
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", SLIP)
    tiny.grade_here()
    tiny.set_by_hand("ben", 1.5)
    with tiny.api.gradebook as gradebook:
        gradebook.find_comment("answer-2", NAME, NAME, "ben").manual_comment = "Nicely put."
        gradebook.db.commit()
    return tiny


@pytest.fixture
def tiny(graded, tmp_path):
    """A copy of the same class."""
    return TinyClass.copy_of(graded, tmp_path / "class")


@pytest.fixture
def update_said(said):
    """Return a function that updates the class and returns the lines that it prints."""
    return lambda tiny, *words, code=0: said(tiny, "update", *words, code=code).splitlines()


def points(tiny: TinyClass) -> dict[str, list]:
    return {student: tiny.points(student) for student in ("anna", "ben")}


def test_ungraded_changes_and_comments_in_a_check_cell_change_no_grade(tiny, course, update_said):
    solved = nbformat.read(tiny.folder / "source" / NAME / f"{NAME}.ipynb", as_version=4)
    solved.cells[0].source = "# Tiny, and fixed"
    check = cell_of(solved, "check-1")
    check.source = "# The first one.\n" + check.source + "  # and no shortcut"
    course(solved)
    assert update_said(tiny) == [NAME, "  only ungraded parts differ", NOT_APPLIED]
    assert update_said(tiny, "--apply") == [NAME, "  only ungraded parts differ", "Done."]
    released = (tiny.folder / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert "and fixed" in released
    assert "# The first one." in released
    assert "and fixed" not in (tiny.folder / "replaced" / NAME / "1" / "release" / f"{NAME}.ipynb").read_text()
    assert tiny.grade_here() == []


REWORDED = {  # a new title, a slip with a new name, described cases, and what a pass leads to
    "90.1 the gradient at x": "90.1 from output to input",
    "external_gradient_alone": "not_multiplied",
    '"x": numbers(rng, shape), "v"': '"says": f"shape {shape}", "x": numbers(rng, shape), "v"',
    "[not_multiplied])": '[not_multiplied], owns="You can send a gradient back.")',
    "def scaled(answer, case):": 'def scaled(answer, case):\n    "Use it on a scaled value."  # once',
}


def test_new_words_regrade_nobody_and_are_on_the_next_pages(tiny, course, update_said, said):
    said(tiny, "feedback", NAME)
    assert "Likely slip: external gradient alone" in tiny.page("ben").read_text()
    solved = solved_notebook()
    for old, new in REWORDED.items():
        for cell in solved.cells:
            cell.source = cell.source.replace(old, new)
    course(solved)
    assert update_said(tiny, "--apply") == [NAME, "  only ungraded parts differ", "Done."]
    assert tiny.grade_here() == []
    said(tiny, "feedback", NAME)
    page = tiny.page("ben").read_text()
    assert "external gradient alone" not in page
    assert "90.1 from output to input: not yet.\nLikely slip: not multiplied. It still has to" in page
    solved = solved_notebook()
    solved.cells[3].source = solved.cells[3].source.replace("It still has to", "Do")
    course(solved)
    update_said(tiny, "--apply")
    said(tiny, "feedback", NAME)
    assert "Likely slip: external gradient alone. Do be multiplied by dy/dx." in tiny.page("ben").read_text()
    assert tiny.grade_here() == []


def test_a_linked_source_becomes_a_copy_and_the_course_stays_where_it_is(tiny, course, update_said, tmp_path):
    course(changed(points=4))
    shutil.rmtree(tiny.folder / "source")
    (tiny.folder / "source").symlink_to(tmp_path / "course")
    assert "The class gets a copy of the chapters instead of a link to them." in update_said(tiny, "--apply")
    assert not (tiny.folder / "source").is_symlink()
    for folder in (tmp_path / "course", tiny.folder / "source"):
        assert (folder / NAME / f"{NAME}.ipynb").exists()


def test_a_class_of_an_earlier_version_is_graded_again_with_the_same_points(tmp_path):
    """Of one that was graded before versions left words out: ben has manual points; cleo handed in no notebook."""
    with tarfile.open(Path(__file__).with_name("earlier_class.tar.xz")) as file:
        file.extractall(tmp_path / "class", filter="data")
    earlier = TinyClass.at(tmp_path / "class")
    assert earlier.grade_here() == ["anna", "ben"]
    assert points(earlier) == {"anna": [2, 3], "ben": [1.5, 1.5]}
    assert earlier.grade_here() == []


def test_changed_points_are_listed_noticed_and_graded_again(tiny, course, update_said, said):
    course(changed(points=4))
    by_hand = "  check the points you set manually for 1: ben"
    told = [NAME, "  1 is worth 4 points instead of 2", by_hand, f"  {TO_GRADE}"]
    assert update_said(tiny)[:-1] == told
    assert tiny.grade_here() == []
    assert points(tiny) == {"anna": [2, 3], "ben": [1.5, 1.5]}
    assert update_said(tiny, "--apply") == [*told, "Done."]

    assert "anna: graded before checks or points changed; grade first." in said(tiny, "feedback", NAME)
    shown = said(tiny, "grade", NAME, "--scheduler", threads().scheduler_address)
    assert "Submissions to grade again, because checks or points changed: 2.\n" in shown
    assert "graded again" not in shown.partition("changed: 2")[2]
    assert points(tiny) == {"anna": [4, 3], "ben": [1.5, 1.5]}
    assert tiny.grade_here() == []


def with_a_different_scenario():
    solved = solved_notebook()
    solved.cells[-1].source = solved.cells[-1].source.replace('float(case["scale"])', '2 * float(case["scale"])')
    return solved


CHANGES = {  # a changed chapter, what is listed, and anna's points after grading again
    "a scenario": (with_a_different_scenario(), "checked differently: 2", [2, 3]),
    "an expected answer": (changed(sign="-"), "checked differently: 1, 2", [0, 1.5]),  # check cells are unchanged
    "an added exercise": (changed(third=True), "3 is added, worth 1 point", [2, 3, 0]),
}


@pytest.mark.parametrize(("chapter", "listed", "after"), CHANGES.values(), ids=CHANGES)
def test_a_change_that_can_change_points_is_listed_and_graded_again(tiny, course, update_said, chapter, listed, after):
    """The seed stays, and so do ben's manual points; an added exercise has no score before."""
    record = tiny.folder / "records" / f"{NAME}.json"
    seed = json.loads(record.read_text())["seed"]
    course(chapter)
    assert update_said(tiny, "--apply") == [NAME, f"  {listed}", f"  {TO_GRADE}", "Done."]
    added = len(after) - 2
    assert points(tiny) == {"anna": [2, 3] + [None] * added, "ben": [1.5, 1.5] + [None] * added}
    assert tiny.grade_here() == ["anna", "ben"]
    assert points(tiny) == {"anna": after, "ben": [1.5, 1.5] + [0] * added}
    assert json.loads(record.read_text())["seed"] == seed


def test_a_loss_of_scores_is_refused_without_the_flag(tiny, course, update_said):
    course(changed(second=False))
    before = (tiny.folder / "release" / NAME / f"{NAME}.ipynb").read_bytes()
    shown = update_said(tiny, "--apply", code=1)
    assert "  WOULD BE LOST: the points for 2 (submissions: 2)" in shown
    assert "  WOULD BE LOST: your comments on answer-2 (submissions: 1)" in shown
    assert "Nothing was changed, because scores would be lost in 90_tiny." in shown[-1]
    assert points(tiny) == {"anna": [2, 3], "ben": [1.5, 1.5]}
    assert (tiny.folder / "release" / NAME / f"{NAME}.ipynb").read_bytes() == before
    assert tiny.grade_here() == []
    assert update_said(tiny, "--apply", "--lose-scores")[-1] == "Done."
    tiny.grade_here()
    assert points(tiny) == {"anna": [2], "ben": [1.5]}


def test_a_new_or_not_yet_generated_chapter_is_copied_and_no_replaced_file_is_overwritten(tiny, course, update_said):
    course(solved_notebook())
    (tiny.folder.parent / "course" / NAME).rename(tiny.folder.parent / "course" / "91_new")
    path = tiny.folder.parent / "course" / "91_new"
    notebook = (path / f"{NAME}.ipynb").rename(path / "91_new.ipynb")
    assert update_said(tiny, "--apply") == ["91_new", "  new", "Done."]
    replaced = tiny.folder / "replaced" / "91_new"
    for number, title in enumerate(["# New", "# Newer"], start=2):
        notebook.write_text(notebook.read_text().replace("# Tiny", title).replace("# New", title))
        assert update_said(tiny, "--apply") == ["91_new", "  not generated yet", "Done."]
        assert class_chapters.contents(tiny.folder / "source" / "91_new") == class_chapters.contents(path)
        shutil.rmtree(replaced / str(number - 1))
    assert [folder.name for folder in replaced.iterdir()] == ["3"]
    assert tiny.grade_here() == []


def test_a_changed_chapter_of_the_class_itself_is_updated_too(tiny, course, update_said):
    assert "Did you mean 90_tiny?" in update_said(tiny, "90_tinny", code=1)[-1]
    tiny.write_source(changed(third=True))
    assert update_said(tiny, NAME, "--apply")[1].startswith("  3 is added")
    tiny.hand_in("cleo", RIGHT | {"answer-3": "def again(x, v):\n    return 6 * x * v"})
    tiny.grade_here("cleo")
    assert tiny.points("cleo") == [2, 3, 1]


@pytest.mark.parametrize("killed", [(class_chapters, "put"), (NbGraderAPI, "generate_assignment")], ids=str)
def test_a_killed_update_is_completed_by_the_next_and_loses_no_file(tiny, course, update_said, monkeypatch, killed):
    before = class_chapters.contents(tiny.folder / "source" / NAME)
    course(changed(points=4))
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(*killed, lambda *args, **options: signal.raise_signal(signal.SIGINT))
        tiny.command("update", "--apply")
    update_said(tiny, "--apply")
    assert class_chapters.contents(tiny.folder / "replaced" / NAME / "1" / "source") == before
    assert "up to date with the course" in update_said(tiny)[-1]
    assert tiny.grade_here() == ["anna", "ben"]
    assert points(tiny)["anna"] == [4, 3]


def test_a_chapter_that_cannot_be_generated_stays_unchanged(tiny, course, update_said, monkeypatch):
    course(changed(points=4))
    before = class_chapters.contents(tiny.folder / "source"), class_chapters.contents(tiny.folder / "release")
    monkeypatch.setattr(update.UpdateCells, "preprocess", Mock(side_effect=OSError(28, "No space left on device")))
    shown = update_said(tiny, "--apply", code=1)
    assert f"error: {NAME} could not be generated and is unchanged:" in shown
    assert (class_chapters.contents(tiny.folder / "source"), class_chapters.contents(tiny.folder / "release")) == before
    assert tiny.grade_here() == []


def test_records_in_a_different_format_are_made_again(tiny, course, update_said):
    """Grading makes the class's record again from its seed; an update makes the students' record again."""
    for path in (tiny.folder / "records" / f"{NAME}.json", tiny.folder / "release" / NAME / f"{NAME}.record.json"):
        path.chmod(0o644)
        path.write_text(path.read_text().replace('"format": 1', '"format": 99').replace('"format":1', '"format":99'))
    assert tiny.grade_here() == []
    assert '"format":1,' in (tiny.folder / "records" / f"{NAME}.json").read_text().replace('": ', '":')
    assert update_said(tiny, "--apply") == [
        NAME,
        "  the release is missing or does not fit this version of gradlab",
        "Done.",
    ]
    assert '"format":1,' in (tiny.folder / "release" / NAME / f"{NAME}.record.json").read_text()


def test_a_copy_that_no_longer_works_with_the_course_says_so(tiny, course, update_said, said):
    solved = solved_notebook()
    solved.cells[1].source += "\nfrom gradlab import what_is_gone"
    tiny.write_source(solved)
    shown = said(tiny, "grade", NAME, code=1)
    assert "cannot import name 'what_is_gone'" in shown
    assert f"too old, run python -m autograder update {NAME}" in shown
    course(solved_notebook())
    update_said(tiny, "--apply")
    tiny.grade_here()
    assert points(tiny)["anna"] == [2, 3]
