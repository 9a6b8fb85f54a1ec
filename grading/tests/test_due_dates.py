"""Due dates, extensions and their penalties; students who leave the class."""

from datetime import UTC, datetime

import pytest
from tiny_class import NAME, RIGHT, TinyClass, nbgrader, write_settings

from autograder.__main__ import main
from autograder.errors import ClassError
from autograder.run import return_feedback
from autograder.settings import class_api
from autograder.term import dates
from autograder.term.written import local, read_date
from autograder.views.report import gather

PER_HOUR = """
from nbgrader.plugins import BasePlugin


class PerHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600
"""


@pytest.fixture
def tiny(tmp_path):
    """A class in which anna submitted at two in the afternoon, ben at eleven in the morning, and cem not at all."""
    tiny = TinyClass(tmp_path / "class")
    (tiny.folder / "late_per_hour.py").write_text(PER_HOUR)
    (tiny.folder / "nbgrader_config.py").write_text(
        "c = get_config()\nc.AssignLatePenalties.plugin_class = 'late_per_hour.PerHour'\n"
    )
    with tiny.api.gradebook as book:
        book.add_student("cem")
        for student, hour in (("anna", 14), ("ben", 11)):
            book.add_student(student)
            submission = book.add_submission(NAME, student, timestamp=f"2026-11-02 {hour}:00:00")
            for grade in submission.notebooks[0].grades:
                grade.auto_score = grade.cell.max_score
        book.db.commit()
    return tiny


def run(tiny, *words):
    return main([*words, "--class", str(tiny.folder)])


def scores(tiny):
    """Return each student's score, or the status if there is none."""
    rows = gather(class_api(tiny.folder).coursedir, NAME).rows
    return {row.student: row.score if row.score is not None else str(row.status) for row in rows}


def test_a_due_date_deducts_penalties_from_graded_submissions(tiny, capsys):
    assert scores(tiny) == {"anna": 5, "ben": 5, "cem": "not submitted"}
    assert run(tiny, "due", NAME, "2026-11-02 12:00+00:00") == 0
    assert scores(tiny) == {"anna": 3, "ben": 5, "cem": "not submitted"}
    shown = capsys.readouterr().out
    assert f"{NAME} is due {local(datetime(2026, 11, 2, 12))}.\n" in shown
    assert "anna: 0 -> 2 points" in shown
    assert run(tiny, "due", NAME, "none") == 0
    assert "has no due date." in capsys.readouterr().out
    assert scores(tiny)["anna"] == 5


def test_an_extension_applies_to_one_student_only(tiny, capsys):
    run(tiny, "due", NAME, "2026-11-02 10:00+00:00")
    assert scores(tiny) == {"anna": 1, "ben": 4, "cem": "not submitted"}
    assert run(tiny, "extend", "anna", NAME, "2026-11-02 13:00+00:00") == 0
    assert scores(tiny) == {"anna": 4, "ben": 4, "cem": "not submitted"}
    assert f"anna until {local(datetime(2026, 11, 2, 13))}" in capsys.readouterr().out
    run(tiny, "extend", "anna", NAME, "none")
    assert scores(tiny)["anna"] == 1


def test_a_student_with_only_an_extension_has_not_submitted(tiny):
    run(tiny, "due", NAME, "2026-11-02 10:00+00:00")
    assert run(tiny, "extend", "cem", NAME, "2026-11-09") == 0
    assert scores(tiny)["cem"] == "not submitted"
    tiny.hand_in("cem", RIGHT)
    (tiny.submission("cem") / "timestamp.txt").write_text("2026-11-09 10:00:00 UTC")
    assert tiny.grade("cem") == {"cem": "graded"}
    assert scores(tiny)["cem"] == 5
    run(tiny, "extend", "cem", NAME, "2026-11-09 08:00+00:00")
    assert scores(tiny)["cem"] == 3


def test_a_removed_extension_leaves_nothing_behind(tiny):
    run(tiny, "due", NAME, "2026-11-02 10:00+00:00")
    run(tiny, "extend", "cem", NAME, "2026-11-09")
    run(tiny, "extend", "cem", NAME, "none")
    assert scores(tiny)["cem"] == "not submitted"


def test_a_new_due_date_keeps_later_extensions(tiny, capsys):
    """nbgrader stores an extension as an offset from the due date, so moving the due date would move it."""
    run(tiny, "due", NAME, "2026-11-02 10:00+00:00")
    run(tiny, "extend", "anna", NAME, "2026-11-02 13:00+00:00")
    run(tiny, "due", NAME, "2026-11-02 11:00+00:00")
    assert scores(tiny) == {"anna": 4, "ben": 5, "cem": "not submitted"}
    capsys.readouterr()
    run(tiny, "due", NAME, "2026-11-02 13:30+00:00")
    assert "No longer extended: anna" in capsys.readouterr().out
    assert scores(tiny)["anna"] == 4.5


def test_dates_are_in_this_machines_time_zone_and_a_day_counts_to_its_end(monkeypatch):
    assert read_date("2026-11-02 18:00+01:00") == datetime(2026, 11, 2, 17)
    here = datetime(2026, 11, 2, 23, 59, 59).astimezone(UTC).replace(tzinfo=None)
    assert read_date("2026-11-02") == here
    assert read_date("none") is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["due", NAME, "tomorrow"], "'tomorrow' is not a date. Expected \"2026-11-02 18:00\""),
        (["due", "90_tin", "none"], "90_tin is not in the gradebook; run nbgrader generate_assignment 90_tin. Did you"),
        (["extend", "anna", NAME, "2026-11-02"], "has no due date to extend"),
        (["extend", "ana", NAME, "2026-11-02"], "The gradebook has no student ana. Did you mean anna?"),
        (["drop", "ana"], "The class has no student ana. Did you mean anna?"),
        (["drop", "anna", "--undo"], "anna was not dropped with this command."),
    ],
)
def test_an_impossible_request_is_refused(tiny, capsys, words, said):
    assert run(tiny, *words) == 1
    assert said in capsys.readouterr().err


def test_an_extension_before_the_due_date_is_refused(tiny):
    run(tiny, "due", NAME, "2026-11-02 10:00+00:00")
    with pytest.raises(ClassError, match="an extension must be later"):
        dates.extend(tiny.folder, "anna", NAME, datetime(2026, 11, 2, 10))


def test_a_dropped_student_stays_dropped_when_collecting_again(tiny, capsys):
    assert run(tiny, "drop", "anna") == 0
    assert f"Grades kept in the gradebook, where Formgrader shows them: {NAME}" in capsys.readouterr().out
    for student in ("anna", "cem"):
        tiny.hand_in(student, RIGHT)
    assert tiny.grade() == {"cem": "graded"}
    with pytest.raises(ClassError, match=r"Dropped: anna\. To take them back: autograder drop anna --undo"):
        tiny.grade("anna")
    assert list(scores(tiny)) == ["ben", "cem"]
    assert [one.student for one in return_feedback.return_feedback(class_api(tiny.folder), NAME)] == ["ben", "cem"]
    run(tiny, "drop", "anna", "--undo")
    assert scores(tiny)["anna"] == "to be graded again", "the grade that was kept is that of an earlier submission"
    assert tiny.grade() == {"anna": "graded", "cem": "skipped"}


def test_nbgraders_own_commands_leave_out_dropped_students(tmp_path):
    folder = write_settings(tmp_path)
    folder.rmdir() if folder.exists() else None
    tiny = TinyClass(folder)
    for student in ("anna", "ben"):
        tiny.hand_in(student, RIGHT)
        with tiny.api.gradebook as book:
            book.add_student(student)
    run(tiny, "drop", "anna")
    nbgrader(tmp_path, "autograde", NAME)
    assert [path.name for path in (folder / "autograded").iterdir()] == ["ben"]
    nbgrader(tmp_path, "export", "--to", str(tmp_path / "grades.csv"))
    lines = (tmp_path / "grades.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == ["ben"]


def test_grades_are_removed_only_with_remove_grades(tiny, capsys):
    tiny.hand_in("anna", RIGHT)
    (tiny.submission("anna") / "timestamp.txt").write_text("2026-11-02 14:00:00 UTC")
    tiny.grade("anna")
    assert run(tiny, "drop", "anna", "--remove-grades") == 0
    assert f"Grades removed, submissions kept: {NAME}" in capsys.readouterr().out
    assert not (tiny.folder / "autograded" / "anna" / NAME).exists()
    with tiny.api.gradebook as book:
        assert book.student_submissions("anna") == []
    run(tiny, "drop", "anna", "--undo")
    assert scores(tiny)["anna"] == "not graded yet"
    assert tiny.grade("anna") == {"anna": "graded"}
