"""No outdated grade is exported: students who must be graded again are listed, without a score."""

import csv
import shutil

import nbformat
import pytest
from nbgrader.apps import NbGraderAPI
from tiny_class import NAME, RIGHT, SLIP, TinyClass, changed, threads
from traitlets.utils.importstring import import_item

from autograder import class_chapters
from autograder.errors import ClassError
from autograder.run.grader import Grader
from autograder.settings import class_api
from autograder.views.report import gather

pytestmark = pytest.mark.xdist_group("no wrong grade")

WAITING = "points were set manually for an earlier submission"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class of three: anna and ben have grades and pages, and cem has not submitted."""
    tiny = TinyClass(tmp_path_factory.mktemp("wrong") / "class")
    with tiny.api.gradebook as gradebook:
        for number, student in enumerate(["anna", "ben", "cem"], 41):
            gradebook.add_student(student, lms_user_id=str(number), email=f"{student}@uni.example")
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", SLIP)
    tiny.grade_here()
    assert tiny.command("feedback", NAME) == 0
    return tiny


@pytest.fixture
def tiny(graded, tmp_path, monkeypatch):
    """A copy of that class, from a course that a test may change."""
    tiny = TinyClass.copy_of(graded, tmp_path / "class")
    shutil.copytree(tiny.folder / "source", tmp_path / "course")
    monkeypatch.setattr(class_chapters, "SOURCES", tmp_path / "course")
    return tiny


def exported(tiny, said, *words):
    """Return the scores in an export for Canvas, by student, and the command's output."""
    out = tiny.folder.parent / "out.csv"
    printed = said(tiny, "export", "--platform", "canvas", NAME, "-o", out, *words)
    with out.open(encoding="utf-8") as file:
        return {row["SIS Login ID"]: row[NAME] for row in csv.DictReader(file) if row["ID"]}, printed


def rows(tiny):
    return {row.student: row for row in gather(class_api(tiny.folder).coursedir, NAME).rows}


def course_gives(tiny, points):
    """Change the points of the course's first exercise, and update the class."""
    nbformat.write(changed(points=points), tiny.folder.parent / "course" / NAME / f"{NAME}.ipynb")
    assert tiny.command("update", "--apply") == 0


def test_the_score_of_a_replaced_submission_is_not_exported(tiny, said):
    tiny.hand_in("anna", SLIP)
    scores, printed = exported(tiny, said)
    assert scores == {"anna": "", "ben": "1.5", "cem": ""}
    assert "anna: to be graded again (the submission has no grade yet)" in printed
    assert exported(tiny, said, "--stale")[0] == {"anna": "5", "ben": "1.5", "cem": ""}


def test_scores_from_before_an_update_are_not_exported(tiny, said):
    course_gives(tiny, 4)
    scores, printed = exported(tiny, said)
    assert set(scores.values()) == {""}
    assert "ben: to be graded again (graded before checks or points changed)" in printed
    assert exported(tiny, said, "--stale")[0]["anna"] == "5"
    tiny.grade_here()
    assert exported(tiny, said)[0]["anna"] == "7"


def test_nbgraders_export_follows_the_same_rule(tiny, tmp_path):
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


def test_report_and_overview_list_who_must_be_graded_and_count_no_old_score(tiny, said):
    tiny.hand_in("anna", SLIP)
    tiny.hand_in("cem", RIGHT)
    printed = said(tiny, "report", NAME)
    line = f"No score until graded (autograder grade {NAME}): anna, cem"
    assert "3 students: 1 graded, 1 to be graded again, 1 not graded yet; mean 1.5, median 1.5" in printed
    assert line in printed
    with (tiny.folder / "reports" / f"{NAME}.csv").open(encoding="utf-8") as file:
        assert {row["points"] for row in csv.DictReader(file) if row["student"] != "ben"} == {""}
    printed = said(tiny, "report")
    assert f"{NAME}: {line}" in printed
    assert [text.split()[1] for text in printed.splitlines()[1:4]] == ["again", "1.5", "new"]


def test_manual_points_need_a_decision_after_a_new_submission(tiny, said):
    tiny.set_by_hand("ben", 1)
    tiny.grade_here("ben")
    assert rows(tiny)["ben"].score == 2.5, "the same submission graded again: nothing to ask"
    tiny.hand_in("ben", RIGHT)
    printed = said(tiny, "grade", NAME, "--scheduler", threads().scheduler_address)
    assert (
        f"grade {NAME} --keep-points or --drop-points STUDENT):\n  ben: 1: 1 set manually, 2 by the check\n" in printed
    )
    assert exported(tiny, said)[0]["ben"] == ""
    assert (rows(tiny)["ben"].status, rows(tiny)["ben"].score) == ("needs manual grade", None)
    tiny.grade_here("ben")
    assert WAITING in rows(tiny)["ben"].reason, "grading again is no decision"


@pytest.mark.parametrize(("word", "score"), [("--keep-points", 4), ("--drop-points", 5)])
def test_manual_points_are_kept_or_dropped(tiny, said, word, score):
    tiny.set_by_hand("ben", 1)
    tiny.hand_in("ben", RIGHT)
    tiny.grade_here()
    words = ["grade", NAME, "--scheduler", threads().scheduler_address, word]
    refusal = said(tiny, *words, "bn", code=1)
    assert "has no points in 90_tiny that need a decision. Did you mean ben?" in refusal
    assert said(tiny, *words, "ben").count("  ben: 1: 1 set manually, 2 by the check") == 1
    assert rows(tiny)["ben"].score == score
    tiny.grade_here("ben")
    assert rows(tiny)["ben"].score == score


def test_manual_points_for_an_ungradable_submission_do_not_pass_to_the_next(tiny):
    tiny.hand_in("cem", text="{")
    tiny.grade_here()
    with tiny.api.gradebook as gradebook:
        for one in gradebook.find_submission_notebook(NAME, NAME, "cem").grades:
            one.manual_score, one.needs_manual_grade = 1, False
        gradebook.db.commit()
    assert rows(tiny)["cem"].score == 2
    tiny.grade_here("cem")
    assert rows(tiny)["cem"].score == 2, "graded manually, and the same submission"
    tiny.hand_in("cem", text="[")
    tiny.grade_here()
    assert rows(tiny)["cem"].score is None
    assert WAITING in rows(tiny)["cem"].reason


def test_the_students_page_says_which_points_were_set_manually(tiny, said):
    tiny.set_by_hand("ben", 1)
    said(tiny, "feedback", NAME)
    assert "1 of 2 points, set manually</h2>" in tiny.page("ben").read_text()
    assert "set manually" not in tiny.page("anna").read_text()


def test_students_whose_page_shows_an_old_grade_are_listed_until_it_is_returned(tiny, said):
    older = f"The feedback page shows an old grade (autograder feedback {NAME}): "
    assert older not in said(tiny, "report", NAME)
    tiny.set_by_hand("ben", 1)
    assert older + "ben\n" in said(tiny, "report", NAME)
    course_gives(tiny, 4)
    assert older + "anna, ben\n" in said(tiny, "grade", NAME)
    assert f"{NAME}: {older}anna, ben\n" in said(tiny, "report")
    assert f"{older}anna, ben" in (tiny.folder / "reports" / f"{NAME}.html").read_text()
    assert f"{NAME}: {older}anna, ben" in (tiny.folder / "reports" / "overview.html").read_text()
    said(tiny, "feedback", NAME)
    assert older not in said(tiny, "report", NAME)


def test_an_extension_is_not_a_grade_that_could_change(tiny, said):
    said(tiny, "due", NAME, "2026-11-02")
    said(tiny, "due", NAME, "2026-11-09", "--student", "cem")
    tiny.hand_in("cem", RIGHT)
    said(tiny, "grade", NAME)
    printed = said(tiny, "report", NAME, "--changes")
    assert "cem" not in printed


def test_an_update_killed_twice_keeps_the_original_files(tiny, said, monkeypatch):
    before = [class_chapters.contents(tiny.folder / kind / NAME) for kind in ("source", "release")]
    nbformat.write(changed(points=4), tiny.folder.parent / "course" / NAME / f"{NAME}.ipynb")

    class Killed(BaseException):
        pass

    def killed(*args, **options):
        raise Killed

    for place, name in [(class_chapters, "put"), *[(NbGraderAPI, "generate_assignment")] * 2]:
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(place, name, killed)
            tiny.command("update", "--apply")
    assert tiny.command("update", "--apply") == 0
    replaced = tiny.folder / "replaced" / NAME
    assert [class_chapters.contents(replaced / kind) for kind in ("source", "release")] == before
    assert sorted(path.name for path in replaced.iterdir()) == ["release", "source"]
    assert "up to date with the course" in said(tiny, "update")


def test_ids_that_differ_only_in_case_do_not_double_the_class(tiny, said):
    table = tiny.folder / "class.csv"
    table.write_text("id,first_name\nAnna,Anna\nben,Ben\n")
    printed = said(tiny, "roster", str(table), code=1)
    assert "line 2: id Anna is spelled anna in the gradebook; use that spelling" in printed
    assert list(rows(tiny)) == ["anna", "ben", "cem"]
    tiny.hand_in("Anna", RIGHT)
    with pytest.raises(ClassError, match=r"Anna is anna in the gradebook\. Rename the folders"):
        Grader(class_api(tiny.folder), NAME).choose(None)
