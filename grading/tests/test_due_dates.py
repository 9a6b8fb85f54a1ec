"""Due dates, extensions and their penalties; students who leave the class."""

import time
from datetime import datetime

import pytest
from tiny_class import NAME, PER_HOUR, RIGHT, csv_rows, nbgrader, write_settings

from autograder.commands.due import read_date
from autograder.errors import ClassError
from autograder.run import return_feedback
from autograder.settings import class_api
from autograder.steps import receipt
from autograder.steps.files import unfit
from autograder.term.dates import extend_all
from autograder.views.words import local


@pytest.fixture
def tiny(tiny, tmp_path):
    """A class in which anna submitted at two in the afternoon, ben at eleven in the morning, and cem not at all."""
    write_settings(tmp_path, "c.AssignLatePenalties.plugin_class = 'late_per_hour.PerHour'")
    (tiny.folder / "late_per_hour.py").write_text(PER_HOUR)
    with tiny.api.gradebook as book:
        book.add_student("cem")
        for student, hour in (("anna", 14), ("ben", 11)):
            book.add_student(student)
            submission = book.add_submission(NAME, student, timestamp=f"2026-11-02 {hour}:00:00")
            for grade in submission.notebooks[0].grades:
                grade.auto_score = grade.cell.max_score
        book.db.commit()
    return tiny


def scores(tiny):
    """Return each student's score, or the status if there is none."""
    return {who: str(row.status) if row.score is None else row.score for who, row in tiny.rows().items()}


def test_due_dates_and_extensions_change_penalties_of_graded_submissions_at_once(tiny, said):
    """nbgrader stores an extension as an offset from the due date, so moving the due date would move it."""
    day, anna = "2026-11-02", ["--student", "anna"]
    assert scores(tiny) == {"anna": 5, "ben": 5, "cem": "not submitted"}
    for words, printed, of_anna, of_ben in [
        ([f"{day} 12:00+00:00"], f"{NAME} is due {local(datetime(2026, 11, 2, 12))}.\n", 3, 5),
        (["none"], "has no due date.", 5, 5),
        ([f"{day} 12:00+00:00"], "anna: 0 -> 2 points", 3, 5),
        ([f"{day} 10:00+00:00"], "ben: 0 -> 1 point\n", 1, 4),
        ([f"{day} 13:00+00:00", *anna], f"Extended until:\n  anna: {local(datetime(2026, 11, 2, 13))}", 4, 4),
        (["none", *anna], "", 1, 4),
        ([f"{day} 13:00+00:00", *anna], "", 4, 4),
        ([f"{day} 11:00+00:00"], "", 4, 5),
        ([f"{day} 13:30+00:00"], "No longer extended: anna", 4.5, 5),
    ]:
        assert printed in said(tiny, "due", NAME, *words), words
        assert scores(tiny) == {"anna": of_anna, "ben": of_ben, "cem": "not submitted"}, words


def test_a_student_with_only_an_extension_has_not_submitted(tiny, said):
    tiny.command("due", NAME, "2026-11-02 10:00+00:00")
    for date in ("2026-11-09", "none", "2026-11-09"):
        assert tiny.command("due", NAME, date, "--student", "cem") == 0
        assert scores(tiny)["cem"] == "not submitted"
    tiny.hand_in("cem", RIGHT)
    tiny.stamp("cem", "2026-11-09 10:00:00 UTC")
    assert tiny.grade("cem") == {"cem": "graded"}
    assert scores(tiny)["cem"] == 5
    assert "cem" not in said(tiny, "report", NAME, "--changes"), "an extension is not a grade that could change"
    tiny.command("due", NAME, "2026-11-09 08:00+00:00", "--student", "cem")
    assert scores(tiny)["cem"] == 3


def test_extensions_end_with_a_due_date_that_formgrader_removed(tiny, said):
    def extend_then_remove_due_date():
        tiny.command("due", NAME, "2026-11-02 12:00+00:00")
        tiny.command("due", NAME, "2026-11-02 13:00+00:00", "--student", "anna")
        with tiny.api.gradebook as book:
            book.find_assignment(NAME).duedate = None
            book.db.commit()

    extend_then_remove_due_date()
    assert scores(tiny)["ben"] == 5
    assert "No longer extended: anna" in said(tiny, "due", NAME, "2026-11-02 12:00+00:00")
    assert scores(tiny)["anna"] == 3
    extend_then_remove_due_date()
    assert extend_all(tiny.folder, NAME, {"anna": datetime(2026, 11, 3)}).ended == ["anna"]
    assert scores(tiny)["anna"] == 5


@pytest.mark.parametrize(
    ("stated", "hour"),
    [
        ("2026-11-02 10:00:00.5 UTC", 10),
        ("2026-11-02 10:00:00 +0100", 9),
        ("2026-11-02 10:00:00 -03", 13),
        ("2026-11-02 10:00:00+01:00", 9),
        ("2026-11-02 10:00 Europe/Berlin", 9),
        ("2026-11-02 10:00", 10),
        ("2026-11-02 10:00:00 XYZT", None),
    ],
)
def test_a_timestamp_is_read_with_its_time_zone_or_refused(tiny, stated, hour):
    tiny.hand_in("anna", RIGHT)
    tiny.stamp("anna", stated)
    found = receipt.timestamp(tiny.submission("anna"))
    assert (found.hour if found else None) == hour
    refusal = unfit(tiny.submission("anna"), NAME)
    assert refusal == ("" if hour else "its timestamp.txt does not contain a time after 1990.")


def test_times_are_in_this_machines_time_zone_in_formgrader_too_and_a_day_counts_to_its_end(tiny, monkeypatch):
    assert read_date("2026-11-02 18:00+01:00") == datetime(2026, 11, 2, 17)
    assert read_date("none") is None
    monkeypatch.setenv("TZ", "America/Sao_Paulo")
    time.tzset()
    try:
        api = class_api(tiny.folder)
        zone = api.get_assignment(NAME)["duedate_timezone"]
        with api.gradebook as book:  # as its page saves it
            book.update_or_create_assignment(NAME, duedate=f"2026-11-02T18:00 {zone}")
            assert book.find_assignment(NAME).duedate == read_date("2026-11-02 18:00") == datetime(2026, 11, 2, 21)
        assert read_date("2026-11-02") == datetime(2026, 11, 3, 2, 59, 59)
        assert local(datetime(2026, 11, 2, 17, 0, 5)) == "Mon 2 Nov 2026, 14:00:05 UTC-03"
        assert api.get_assignment(NAME)["duedate_notimezone"] == "2026-11-02T18:00:00"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["due", NAME, "04/11/2026 14:05"], "'04/11/2026 14:05' is not a date. Expected \"2026-11-02 18:00\""),
        (["due", "90_tin", "none"], "90_tin is not in the gradebook; run nbgrader generate_assignment 90_tin. Did you"),
        (
            ["due", NAME, "2026-11-02", "--student", "anna"],
            f"There is no due date for everyone yet. Set one with: autograder due {NAME} DATE",
        ),
        (["due", NAME, "2026-11-02", "--student", "ana"], "The gradebook has no student ana. Did you mean anna?"),
    ],
)
def test_an_impossible_request_is_refused(tiny, said, words, why):
    assert why in said(tiny, *words, code=1)
    tiny.command("due", NAME, "2026-11-02 10:00+00:00")
    early = said(tiny, "due", NAME, "2026-11-02 10:00+00:00", "--student", "anna", code=1)
    assert "an extension must be later" in early


def test_a_student_in_dropped_txt_stays_out_when_collecting_again(tiny):
    """Editors may save the file with a byte order mark."""
    (tiny.folder / "dropped.txt").write_text("anna\n", encoding="utf-8-sig")
    for student in ("anna", "cem"):
        tiny.hand_in(student, RIGHT)
    assert tiny.grade() == {"cem": "graded"}
    with pytest.raises(ClassError, match=r"Dropped: anna\. To take them back, edit dropped.txt"):
        tiny.grade("anna")
    assert list(scores(tiny)) == ["ben", "cem"]
    assert [one.student for one in return_feedback.return_feedback(class_api(tiny.folder), NAME)] == ["ben", "cem"]
    (tiny.folder / "dropped.txt").unlink()
    assert scores(tiny)["anna"] == "to be graded again", "the grade that was kept is that of an earlier submission"
    assert tiny.grade() == {"anna": "graded", "cem": "skipped"}


def test_nbgraders_own_commands_leave_out_dropped_students(tiny, tmp_path):
    for student in ("anna", "ben"):
        tiny.hand_in(student, RIGHT)
    (tiny.folder / "dropped.txt").write_text("anna\n")
    nbgrader(tmp_path, "autograde", NAME)
    assert [path.name for path in (tiny.folder / "autograded").iterdir()] == ["ben"]
    nbgrader(tmp_path, "export", "--to", str(tmp_path / "grades.csv"))
    assert [row["student_id"] for row in csv_rows(tmp_path / "grades.csv")] == ["ben", "cem"]


@pytest.mark.parametrize("text", [None, "not a notebook"])
def test_a_submission_without_a_time_that_replaces_a_late_one_counts_as_on_time(tiny, text):
    """Whether it could be graded or not."""
    tiny.command("due", NAME, "2026-11-02 12:00+00:00")
    tiny.hand_in("cem", RIGHT)
    tiny.stamp("cem", "2026-11-02 14:00:00 UTC")
    tiny.grade_here("cem")
    tiny.hand_in("cem", RIGHT | {"answer-2": "implied = None"}, text=text)
    tiny.grade_here("cem")
    with tiny.api.gradebook as book:
        submission = book.find_submission(NAME, "cem")
        assert (submission.timestamp, submission.total_seconds_late) == (None, 0)
