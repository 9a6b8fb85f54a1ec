"""No outdated grade is exported: students who must be graded again are listed, without a score."""

import pytest
from tiny_class import NAME, PULL_BACK, RIGHT, SLIP, TinyClass, changed, csv_rows, nbgrader, threads, write_settings

WAITING = "points were set manually for an earlier submission"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class of three: anna and ben have grades and pages, and cem has not submitted."""
    tiny = TinyClass(tmp_path_factory.mktemp("wrong") / "class")
    for number, student in enumerate(["anna", "ben", "cem"], 41):
        tiny.add(student, lms_user_id=str(number), email=f"{student}@uni.example")
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", SLIP)
    tiny.grade_here()
    assert tiny.command("feedback", NAME) == 0
    return tiny


@pytest.fixture
def tiny(graded, tmp_path):
    """A copy of that class."""
    return TinyClass.copy_of(graded, tmp_path / "class")


def exported(tiny, said):
    """Return the scores in an export for Canvas, by student, and the command's output."""
    into, out = tiny.folder.parent / "canvas.csv", tiny.folder.parent / "out.csv"
    into.write_text(f"Student,ID,SIS Login ID,Section,{NAME}\nA,41,anna,1,\nB,42,ben,1,\nC,43,cem,1,\n")
    printed = said(tiny, "export", NAME, "--into", into, "-o", out)
    return {row["SIS Login ID"]: row[NAME] for row in csv_rows(out)}, printed


def test_a_replaced_submission_has_no_score_in_any_export_or_report(tiny, said):
    tiny.hand_in("anna", SLIP)
    tiny.hand_in("cem", RIGHT)
    scores, printed = exported(tiny, said)
    assert scores == {"anna": "", "ben": "1.5", "cem": ""}
    assert "anna: to be graded again (the submission has no grade yet)" in printed
    write_settings(tiny.folder.parent)
    nbgrader(tiny.folder.parent, "export", "--to", "grades.csv")
    rows = csv_rows(tiny.folder.parent / "grades.csv")
    assert {row["student_id"]: (row["status"], row["score"]) for row in rows} == {
        "anna": ("to be graded again", ""),
        "ben": ("graded", "1.5"),
        "cem": ("not graded yet", ""),
    }

    printed = said(tiny, "report", NAME)
    line = f"No score until graded (autograder grade {NAME}): anna, cem"
    assert "3 students: 1 graded, 1 to be graded again, 1 not graded yet; mean 1.5, median 1.5" in printed
    assert line in printed
    rows = csv_rows(tiny.folder / "reports" / f"{NAME}.csv")
    assert {row["points"] for row in rows if row["student"] != "ben"} == {""}
    printed = said(tiny, "report")
    assert f"{NAME}: {line}" in printed
    assert [text.split()[1] for text in printed.splitlines()[1:4]] == ["again", "1.5", "new"]


def test_manual_points_stay_until_a_new_submission_for_which_they_are_kept_or_dropped(tiny, said):
    grade = ["grade", NAME, "--scheduler", threads().scheduler_address]
    tiny.set_by_hand("ben", 1)
    tiny.grade_here("ben")
    assert tiny.rows()["ben"].score == 2.5, "the same submission graded again: nothing to ask"
    for word, score in {"--keep-points": 4, "--drop-points": 5}.items():
        tiny.hand_in("ben", RIGHT | {"answer-1": f"{PULL_BACK}  # {word}"})
        choice = f"grade {NAME} --keep-points or --drop-points STUDENT):\n  ben: 1: 1 set manually, 2 by the check\n"
        assert choice in said(tiny, *grade)
        assert exported(tiny, said)[0]["ben"] == ""
        assert (tiny.rows()["ben"].status, tiny.rows()["ben"].score) == ("needs manual grade", None)
        tiny.grade_here("ben")
        assert WAITING in tiny.rows()["ben"].reason, "grading again decides nothing"
        refusal = said(tiny, *grade, word, "bn", code=1)
        assert "has no points that need a decision. Did you mean ben?" in refusal
        assert said(tiny, *grade, word, "ben").count("  ben: 1: 1 set manually, 2 by the check") == 1
        assert tiny.rows()["ben"].score == score
        tiny.grade_here("ben")
        assert tiny.rows()["ben"].score == score


def test_an_old_score_is_not_exported_and_its_page_is_listed_until_a_new_one_is_made(tiny, said, course):
    older = f"The feedback page is outdated (autograder feedback {NAME}): "
    assert older not in said(tiny, "report", NAME)
    tiny.set_by_hand("ben", 1)
    assert older + "ben\n" in said(tiny, "report", NAME)
    course(changed(points=4))
    assert tiny.command("update", "--apply") == 0
    scores, printed = exported(tiny, said)
    assert set(scores.values()) == {""}
    assert "ben: to be graded again (graded before checks or points changed)" in printed
    assert older + "anna, ben\n" in said(tiny, "grade", NAME)
    assert exported(tiny, said)[0]["anna"] == "7"
    assert f"{NAME}: {older}anna, ben\n" in said(tiny, "report")
    assert f"{older}anna, ben" in (tiny.folder / "reports" / f"{NAME}.html").read_text()
    said(tiny, "feedback", NAME)
    assert older not in said(tiny, "report", NAME)
    assert "1 of 4 points, set manually</h2>" in tiny.page("ben").read_text()
    assert "set manually" not in tiny.page("anna").read_text()
