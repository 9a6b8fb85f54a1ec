"""No wrong grade leaves silently: who must be graded again is named, and has no score in what is handed on."""

import csv
import shutil

import nbformat
import pytest
from nbgrader.apps import NbGraderAPI
from tiny_class import NAME, RIGHT, TinyClass, changed
from traitlets.utils.importstring import import_item

from autograder import source
from autograder.__main__ import main
from autograder.errors import ClassError
from autograder.run.submission import Grader
from autograder.settings import class_api
from autograder.views.report import gather

pytestmark = pytest.mark.xdist_group("no wrong grade")

SLIP = RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"}
WAITING = "points were set by hand for an earlier submission"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class of three: anna and ben were graded and have their pages, cem has submitted nothing."""
    tiny = TinyClass(tmp_path_factory.mktemp("wrong") / "class")
    with tiny.api.gradebook as gradebook:
        for number, student in enumerate(["anna", "ben", "cem"], 41):
            gradebook.add_student(student, lms_user_id=str(number), email=f"{student}@uni.example")
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", SLIP)
    grade(tiny)
    assert main(["feedback", NAME, "--class", str(tiny.folder)]) == 0
    return tiny


@pytest.fixture
def tiny(graded, tmp_path, monkeypatch):
    """A copy of that class, from a course whose state a test may write."""
    shutil.copytree(graded.folder, tmp_path / "class", symlinks=True)
    tiny = object.__new__(TinyClass)
    tiny.folder, tiny.api = tmp_path / "class", class_api(tmp_path / "class")
    shutil.copytree(tiny.folder / "source", tmp_path / "course")
    monkeypatch.setattr(source, "SOURCES", tmp_path / "course")
    return tiny


def grade(tiny, *students, force=False):
    """Grade what is due, or these students, in this process."""
    grader = Grader(class_api(tiny.folder), NAME)
    for student in students or [one for one in grader.submitted() if force or grader.why_due(one)]:
        grader.grade_here(student)


def said(tiny, capsys, *words, code=0):
    """What a command prints."""
    capsys.readouterr()
    assert main([*words, "--class", str(tiny.folder)]) == code
    printed = capsys.readouterr()
    return printed.err if code else printed.out


def exported(tiny, capsys, *words):
    """The scores in an export for Canvas, by student, and what the command prints."""
    out = tiny.folder.parent / "out.csv"
    printed = said(tiny, capsys, "export", "--platform", "canvas", NAME, "-o", str(out), *words)
    with out.open(encoding="utf-8") as file:
        return {row["SIS Login ID"]: row[NAME] for row in csv.DictReader(file) if row["ID"]}, printed


def rows(tiny):
    return {row.student: row for row in gather(class_api(tiny.folder).coursedir, NAME).rows}


def set_by_hand(tiny, student, points):
    """As Formgrader does it."""
    with tiny.api.gradebook as gradebook:
        one = gradebook.find_grade("check-1", NAME, NAME, student)
        one.manual_score, one.needs_manual_grade = points, False
        gradebook.db.commit()


def course_gives(tiny, points):
    """Let the course's first exercise be worth other points, and bring the class up to it."""
    nbformat.write(changed(points=points), tiny.folder.parent / "course" / NAME / f"{NAME}.ipynb")
    assert main(["update", "--apply", "--class", str(tiny.folder)]) == 0


def test_a_score_of_a_submission_that_was_replaced_is_not_exported(tiny, capsys):
    tiny.hand_in("anna", SLIP)
    scores, printed = exported(tiny, capsys)
    assert scores == {"anna": "", "ben": "1.5", "cem": ""}
    assert "anna: to be graded again (what was handed in has no grade yet)" in printed
    assert exported(tiny, capsys, "--stale")[0] == {"anna": "5", "ben": "1.5", "cem": ""}


def test_scores_from_before_an_update_are_not_exported(tiny, capsys):
    course_gives(tiny, 4)
    scores, printed = exported(tiny, capsys)
    assert set(scores.values()) == {""}
    assert "ben: to be graded again (graded before checks or points changed)" in printed
    assert exported(tiny, capsys, "--stale")[0]["anna"] == "5"
    grade(tiny)
    assert exported(tiny, capsys)[0]["anna"] == "7"


def test_nbgraders_export_goes_by_the_same(tiny, tmp_path):
    tiny.hand_in("anna", SLIP)
    tiny.hand_in("cem", RIGHT)
    plugin = import_item(tiny.api.config.ExportApp.plugin_class)

    def found(**settings):
        made = plugin(parent=tiny.api, **settings)
        made.to = str(tmp_path / "grades.csv")
        made.assignment, made.student = [], []
        with tiny.api.gradebook as gradebook:
            made.export(gradebook)
        with open(made.to, encoding="utf-8") as file:
            return {row["student_id"]: (row["status"], row["score"]) for row in csv.DictReader(file)}

    expected = {"anna": ("to be graded again", ""), "ben": ("graded", "1.5"), "cem": ("not graded yet", "")}
    assert found() == expected
    assert found(stale=True) == expected | {"anna": ("graded", "5.0")}


def test_report_and_overview_name_who_must_be_graded_and_count_no_old_score(tiny, capsys):
    tiny.hand_in("anna", SLIP)
    tiny.hand_in("cem", RIGHT)
    printed = said(tiny, capsys, "report", NAME)
    line = f"No score until they are graded (autograder grade {NAME}): anna, cem"
    assert "3 students: 1 graded, 1 to be graded again, 1 not graded yet; mean 1.5, median 1.5" in printed
    assert line in printed
    with (tiny.folder / "reports" / f"{NAME}.csv").open(encoding="utf-8") as file:
        assert {row["points"] for row in csv.DictReader(file) if row["student"] != "ben"} == {""}
    printed = said(tiny, capsys, "overview")
    assert f"{NAME}: {line}" in printed
    assert [text.split()[1] for text in printed.splitlines()[1:4]] == ["again", "1.5", "new"]


def test_what_was_submitted_and_not_graded_is_not_called_missing(tiny, capsys):
    tiny.hand_in("cem", RIGHT)
    _, printed = exported(tiny, capsys)
    assert "cem: not graded yet (what was handed in has no grade yet)" in printed
    assert rows(tiny)["cem"].status == "not graded yet"
    grade(tiny)
    assert rows(tiny)["cem"].score == 5


def test_points_set_by_hand_wait_when_another_submission_comes(tiny, capsys):
    set_by_hand(tiny, "ben", 1)
    grade(tiny, "ben")
    assert rows(tiny)["ben"].score == 2.5, "the same submission graded again: nothing to ask"
    tiny.hand_in("ben", RIGHT)
    printed = said(tiny, capsys, "grade", NAME)
    assert f"autograder by-hand {NAME} --keep STUDENT, or --drop:\n  ben: 1: 1 by hand, 2 by the check\n" in printed
    assert exported(tiny, capsys)[0]["ben"] == ""
    assert (rows(tiny)["ben"].status, rows(tiny)["ben"].score) == ("needs manual grade", None)
    grade(tiny, "ben")
    assert WAITING in rows(tiny)["ben"].reason, "grading again is no decision"
    assert "  ben: 1: 1 by hand, 2 by the check\n" in said(tiny, capsys, "by-hand", NAME)


@pytest.mark.parametrize(("word", "score"), [("--keep", 4), ("--drop", 5)])
def test_points_set_by_hand_are_kept_or_dropped(tiny, capsys, word, score):
    set_by_hand(tiny, "ben", 1)
    tiny.hand_in("ben", RIGHT)
    grade(tiny)
    assert "has no points in 90_tiny that wait for a decision. Did you mean ben?" in said(
        tiny, capsys, "by-hand", NAME, word, "bn", code=1
    )
    printed = said(tiny, capsys, "by-hand", NAME, word, "ben")
    assert "  ben: 1: 1 by hand, 2 by the check" in printed
    assert "no points wait for a decision" in printed
    assert rows(tiny)["ben"].score == score
    grade(tiny, "ben")
    assert rows(tiny)["ben"].score == score


def test_points_set_by_hand_for_what_could_not_be_graded_do_not_pass_to_the_next(tiny):
    tiny.hand_in("cem", text="{")
    grade(tiny)
    with tiny.api.gradebook as gradebook:
        for one in gradebook.find_submission_notebook(NAME, NAME, "cem").grades:
            one.manual_score, one.needs_manual_grade = 1, False
        gradebook.db.commit()
    assert rows(tiny)["cem"].score == 2
    grade(tiny, "cem")
    assert rows(tiny)["cem"].score == 2, "graded by hand, and the same submission"
    tiny.hand_in("cem", text="[")
    grade(tiny)
    assert rows(tiny)["cem"].score is None
    assert WAITING in rows(tiny)["cem"].reason


def test_the_students_page_says_what_was_set_by_hand(tiny, capsys):
    set_by_hand(tiny, "ben", 1)
    said(tiny, capsys, "feedback", NAME)
    pages = {one: (tiny.folder / "feedback" / one / NAME / f"{NAME}.html").read_text() for one in ("anna", "ben")}
    assert "1 of 2 points, set by hand</h3>" in pages["ben"]
    assert "set by hand" not in pages["anna"]


def test_whose_page_shows_another_grade_is_named_until_it_is_returned(tiny, capsys):
    older = f"Returned page older than the grade (autograder feedback {NAME}): "
    assert older not in said(tiny, capsys, "report", NAME)
    set_by_hand(tiny, "ben", 1)
    assert older + "ben\n" in said(tiny, capsys, "report", NAME)
    course_gives(tiny, 4)
    assert older + "anna, ben\n" in said(tiny, capsys, "grade", NAME)
    assert f"{NAME}: {older}anna, ben\n" in said(tiny, capsys, "overview")
    assert f"{older}anna, ben" in (tiny.folder / "reports" / f"{NAME}.html").read_text()
    assert f"{NAME}: {older}anna, ben" in (tiny.folder / "reports" / "overview.html").read_text()
    said(tiny, capsys, "feedback", NAME)
    assert older not in said(tiny, capsys, "report", NAME)


def test_a_page_of_an_earlier_year_is_judged_by_its_time(tiny, capsys):
    page = tiny.folder / "feedback" / "anna" / NAME / f"{NAME}.html"
    page.chmod(0o644)
    page.write_text(page.read_text().replace("submission=", "other="))
    assert not rows(tiny)["anna"].outdated
    grade(tiny, "anna")
    assert rows(tiny)["anna"].outdated


def test_an_extension_is_no_grade_that_could_change(tiny, capsys):
    said(tiny, capsys, "due", NAME, "2026-11-02")
    said(tiny, capsys, "extend", "cem", NAME, "2026-11-09")
    tiny.hand_in("cem", RIGHT)
    said(tiny, capsys, "grade", NAME)
    printed = said(tiny, capsys, "changes", NAME, "--all")
    assert "cem" not in printed


def test_an_update_that_is_killed_twice_keeps_what_was_there_before_it(tiny, capsys, monkeypatch):
    before = source.contents(tiny.folder / "source" / NAME), source.contents(tiny.folder / "release" / NAME)
    nbformat.write(changed(points=4), tiny.folder.parent / "course" / NAME / f"{NAME}.ipynb")

    class Killed(BaseException):
        pass

    def killed(*args, **options):
        raise Killed

    for place, name in [(source, "put"), (NbGraderAPI, "generate_assignment"), (NbGraderAPI, "generate_assignment")]:
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(place, name, killed)
            main(["update", "--apply", "--class", str(tiny.folder)])
    assert main(["update", "--apply", "--class", str(tiny.folder)]) == 0
    replaced = tiny.folder / "replaced" / NAME
    assert (source.contents(replaced / "source"), source.contents(replaced / "release")) == before
    assert sorted(path.name for path in replaced.iterdir()) == ["release", "source"]
    assert "as the course is now" in said(tiny, capsys, "update")


def test_ids_that_differ_in_case_alone_do_not_double_the_class(tiny, capsys):
    table = tiny.folder / "class.csv"
    table.write_text("id,first_name\nAnna,Anna\nben,Ben\n")
    printed = said(tiny, capsys, "roster", str(table), code=1)
    assert "line 2: id Anna stands in the gradebook as anna; write it as there" in printed
    assert list(rows(tiny)) == ["anna", "ben", "cem"]
    tiny.hand_in("Anna", RIGHT)
    with pytest.raises(ClassError, match=r"Anna is anna in the gradebook\. Rename the folders"):
        Grader(class_api(tiny.folder), NAME).choose(None)
