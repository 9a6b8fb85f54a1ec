"""nbgrader's own commands check a submission's files before copying or showing them."""

import os
import re
import shutil
import signal

import pytest
from tiny_class import NAME, RIGHT, TinyClass, changed, csv_rows, nbgrader, write_settings

from autograder.errors import ClassError
from autograder.run.grade import grade
from autograder.run.lock import only_run
from autograder.steps import outcome
from autograder.steps.execute import LimitedClient

COMMAND = "\x1b[2J\x9b31m"  # clears a terminal and turns its text red
REASONS = {
    "zeros": "its files exceed 50 MB in total.",
    "linked": "notes.txt is a link or a special file; only regular files can be submitted.",
    "renamed": f"it contains no {NAME}.ipynb (found: {NAME}.record.json, Untitled.ipynb).",
    "nothing": f"it contains no {NAME}.ipynb (found: nothing).",
    "late": "its timestamp.txt does not contain a time after 1990.",
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A class graded by nbgrader autograde, with the copied files and the log."""
    tiny = TinyClass(write_settings(tmp_path_factory.mktemp("alone")))
    for student in ("anna", *REASONS, f"m{COMMAND}"):
        tiny.hand_in(student, RIGHT)
    shutil.rmtree(tiny.submission("nothing"))
    tiny.submission("nothing").mkdir()
    with (tiny.submission("zeros") / "big").open("wb") as file:
        file.truncate(1 << 40)
    (tiny.submission("linked") / "notes.txt").symlink_to(tiny.folder / "gradebook.db")
    (tiny.submission("renamed") / f"{NAME}.ipynb").rename(tiny.submission("renamed") / "Untitled.ipynb")
    (tiny.submission("late") / "timestamp.txt").write_text("0001-01-01 00:00:00 UTC")
    (tiny.submission("anna") / f"notes{COMMAND}\n[AutogradeApp | ERROR] all is lost").write_text("")
    tiny.copied = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "copy", lambda *paths, copy=shutil.copy: (tiny.copied.append(paths[0]), copy(*paths)))
        patch.setattr("sys.stderr", (tiny.folder / "log").open("w"))
        nbgrader(tiny.folder.parent, "autograde", NAME)
        nbgrader(tiny.folder.parent, "generate_feedback", NAME)
    tiny.log = (tiny.folder / "log").read_text()
    return tiny


@pytest.mark.parametrize("student", REASONS)
def test_nbgrader_copies_nothing_from_an_unfit_submission_and_says_why(alone, student):
    copied = {os.path.relpath(path, alone.submission(student)) for path in alone.copied}
    assert all(path.startswith("..") for path in copied)
    assert outcome.read(alone.autograded(student)).could_not_grade == REASONS[student]
    assert alone.points(student) == [None, None]


def test_the_export_says_why_and_leaves_the_score_empty(alone, tmp_path):
    alone.add("absent")
    nbgrader(alone.folder.parent, "export", "--to", str(tmp_path / "grades.csv"))
    rows = csv_rows(tmp_path / "grades.csv")
    found = {row["student_id"]: (row["status"], row["score"], row["reason"]) for row in rows}
    assert found["anna"] == ("graded", "5.0", "")
    assert found["absent"] == ("not submitted", "", "")
    for student, reason in REASONS.items():
        assert found[student] == ("could not be graded", "", reason)
        with alone.api.gradebook as gradebook:
            assert gradebook.find_submission(NAME, student).needs_manual_grade


def test_the_feedback_says_why_until_it_is_graded_manually_and_its_points_stay_until_the_next_submission(alone):
    page = alone.page("zeros").read_text()
    assert [text in page for text in ("could not be graded", REASONS["zeros"], "points")] == [True, True, False]
    assert "5 of 5 points" in alone.page("anna").read_text()
    with alone.api.gradebook as gradebook:
        for cell in gradebook.find_submission_notebook(NAME, NAME, "zeros").grades:
            cell.manual_score, cell.needs_manual_grade = 1.0, False
        gradebook.db.commit()
    for force in (False, True):
        assert alone.api.autograde(NAME, "zeros", force=force)["success"]
        assert alone.points("zeros") == [1, 1]
        with alone.api.gradebook as gradebook:
            assert not gradebook.find_submission(NAME, "zeros").needs_manual_grade
    assert alone.api.generate_feedback(NAME)["success"]
    assert "2 of 5 points" in alone.page("zeros").read_text()
    alone.hand_in("zeros", text="[")
    assert alone.api.autograde(NAME, "zeros")["success"]
    row = alone.rows()["zeros"]
    assert row.score is None
    assert "points were set manually for an earlier submission" in row.reason


def test_no_name_in_a_submission_controls_the_terminal_or_forges_a_log_line(alone):
    for name in ("notes", "m"):
        assert f"{name}\N{REPLACEMENT CHARACTER}[2J" in alone.log
    assert [line for line in alone.log.split("\n") if not line.isprintable()] == []
    assert "\n[AutogradeApp | ERROR] all is lost" not in alone.log


@pytest.fixture
def tiny(tmp_path):
    tiny = TinyClass(write_settings(tmp_path))
    for student in ("anna", "ben"):
        tiny.hand_in(student, RIGHT)
    return tiny


def test_the_chosen_submissions_without_a_current_grade_are_graded_or_all_of_them_with_force(tiny):
    def graded(*words):
        """Return when each student's autograded notebook was written."""
        nbgrader(tiny.folder.parent, "autograde", NAME, *words)
        found = tiny.folder.glob(f"autograded/*/{NAME}/{NAME}.ipynb")
        return {path.parent.parent.name: path.stat().st_mtime_ns for path in found}

    first = graded("--student=anna")
    assert list(first) == ["anna"]
    both = graded()
    assert both.keys() == {"anna", "ben"}
    assert both["anna"] == first["anna"]
    again = graded("--student=ben", "--force")
    assert again["anna"] == first["anna"]
    assert again["ben"] > both["ben"]


NOT_READY = {  # a change of a class, and why nothing can be graded then
    "without source": (
        lambda tiny: (tiny.folder / "source" / NAME).rename(tiny.folder / "away"),
        r"Grading needs the solved notebook .*, which is missing",
    ),
    "not generated": (
        lambda tiny: (tiny.folder / "gradebook.db").unlink(),
        r"is not in the gradebook; run nbgrader generate_assignment",
    ),
    "without release": (
        lambda tiny: tiny.write_source(changed(points=4)),
        r"different check cells.*: check-1.*python -m autograder update 90_tiny",
    ),
    "in capitals": (lambda tiny: tiny.add("Anna"), r"folder anna must be called Anna"),
}


@pytest.mark.parametrize(("break_it", "why"), NOT_READY.values(), ids=NOT_READY.keys())
def test_a_class_that_is_not_ready_ends_every_command_with_the_reason(tiny, break_it, why):
    break_it(tiny)
    with pytest.raises(ClassError, match=why):
        list(grade(tiny.folder, NAME))
    result = tiny.api.autograde(NAME, "anna")
    assert not result["success"]
    assert re.search(why, result["log"])
    with pytest.raises(SystemExit) as end:
        nbgrader(tiny.folder.parent, "autograde", NAME)
    assert end.value.code == 1
    assert not (tiny.folder / "autograded").exists()


def test_a_second_run_is_refused_while_one_grades(tiny):
    with only_run(tiny.folder):
        result = tiny.api.autograde(NAME, "anna")
        with pytest.raises(ClassError, match="Another run"):
            list(grade(tiny.folder, NAME))
    assert (result["success"], "Another run" in result["log"]) == (False, True)


def test_ctrl_c_during_a_cell_costs_no_points(tiny, monkeypatch):
    async def pressed():
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(LimitedClient, "_watch", lambda *_: pressed())
    with pytest.raises(KeyboardInterrupt):
        nbgrader(tiny.folder.parent, "autograde", NAME)
    assert tiny.grader().why_due("anna")


def test_scores_before_nbgraders_run_are_kept_for_changes(tiny, said):
    """Of a new submission, only points that changed are listed."""
    tiny.grade_here()
    tiny.hand_in("anna", RIGHT | {"answer-2": "def implied(y):\n    return y"})
    tiny.hand_in("ben", text="{")
    for student in ("anna", "ben"):
        tiny.stamp(student, "2026-11-02 10:00:00 UTC")
    nbgrader(tiny.folder.parent, "autograde", NAME)
    anna, *of_ben = [" ".join(line.split()) for line in said(tiny, "report", NAME, "--changes").splitlines()[2:]]
    assert anna == "anna 2 3 1.5 submitted again"
    assert [line[:10] for line in of_ben] == ["ben 1 2 no", "ben 2 3 no"]
    assert all(re.search("none the notebook file is not valid JSON.*; submitted again$", line) for line in of_ben)


def test_no_setting_leaves_out_the_run_without_which_no_check_fails(tiny):
    tiny.hand_in("anna")
    nbgrader(tiny.folder.parent, "autograde", NAME, "--no-execute")
    assert (tiny.points("anna"), tiny.points("ben")) == ([0, 0], [2, 3])
