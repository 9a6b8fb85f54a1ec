"""A submission's error affects only that submission; an error of the class or machine stops the run."""

import errno
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy.exc import DataError, OperationalError
from tiny_class import NAME, PER_HOUR, RIGHT, TinyClass, write_settings
from traitlets import TraitError

from autograder.errors import ClassError, SubmissionError
from autograder.steps import outcome
from autograder.steps.faults import reason_for
from autograder.steps.outcome import NotebookOutcome, Status

FOLDER = Path("/class/submitted/anna/90_tiny")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return TinyClass(tmp_path_factory.mktemp("faults") / "class")


@pytest.fixture
def grader(tiny):
    for student in ("anna", "ben"):
        tiny.hand_in(student, RIGHT)
    return tiny.grader()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SubmissionError("it is too late."), "it is too late."),
        (RecursionError("too deep\nand more"), "RecursionError: too deep"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", str(FOLDER / "90_tiny.ipynb")), "IsADirectoryError: "),
        (PermissionError(errno.EACCES, "Permission denied", str(FOLDER / "data.txt")), "PermissionError: "),
        (OSError(errno.ENAMETOOLONG, "File name too long", "/class/autograded/anna/x"), "OSError: "),
        (DataError("INSERT", {}, ValueError("a value that it does not take")), "DataError: "),
    ],
)
def test_a_submissions_fault_becomes_its_reason(error, reason):
    assert reason_for(error, FOLDER).startswith(reason)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            FileExistsError(errno.EEXIST, "File exists", "/srv/my class/autograded/anna/90_tiny/files_figures_file"),
            "files",
        ),
        (SubmissionError("nbgrader could not process it: no /srv/class/a/x.ipynb or /srv/y"), "no x.ipynb or y"),
        (
            SubmissionError("it took 3/4 of a second and/or https://example.org/a/b"),
            "3/4 of a second and/or https://ex",
        ),
    ],
)
def test_a_reason_reveals_no_path_of_the_class(error, reason):
    said = reason_for(error, FOLDER)
    assert reason in said
    assert "/srv" not in said
    assert "class" not in said


@pytest.mark.parametrize(
    "error",
    [
        ClassError("generate it first"),
        OperationalError("SELECT", {}, OSError("the server has gone")),
        ModuleNotFoundError("No module named 'plugin'"),
        TraitError("no such plugin"),
        OSError(errno.ENOSPC, "No space left on device", str(FOLDER / "data.txt")),
        PermissionError(errno.EACCES, "Permission denied", "/class/autograded/anna"),
    ],
)
def test_a_fault_of_the_class_or_machine_is_raised(error):
    with pytest.raises((ClassError, OperationalError), match=r"generate|gone|plugin|space|denied"):
        reason_for(error, FOLDER)


@pytest.mark.parametrize("step", ["autograder.steps.runs.execute", "autograder.steps.save.Rows.save"])
def test_a_machine_that_is_no_longer_ready_stops_the_run(grader, monkeypatch, step):
    monkeypatch.setattr(step, Mock(side_effect=ClassError("what it needs was taken away")))
    with pytest.raises(ClassError, match="taken away"):
        grader.grade_here("anna")


def late_class(folder: Path, place: str, penalty: str, monkeypatch) -> TinyClass:
    """A class with one submission, two hours late, and a late-penalty plugin in a module."""
    tiny = TinyClass(folder / "class")
    module = f"late_{abs(hash(folder))}"
    (folder / place).mkdir(exist_ok=True)
    (folder / place / f"{module}.py").write_text(PER_HOUR.replace("total_seconds_late / 3600", penalty))
    write_settings(folder, f"c.AssignLatePenalties.plugin_class = '{module}.PerHour'")
    monkeypatch.setattr("sys.path", list(sys.path))
    with tiny.api.gradebook as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2026-11-02 08:00:00")
    tiny.hand_in("anna", RIGHT)
    tiny.stamp("anna", "2026-11-02 10:00:00 UTC")
    return tiny


@pytest.mark.parametrize("place", [".", "class"])
def test_a_plugin_is_found_beside_the_configuration_and_in_the_class_folder(tmp_path, place, monkeypatch):
    """As nbgrader documents it, from any working folder."""
    tiny = late_class(tmp_path, place, "total_seconds_late / 3600", monkeypatch)
    assert tiny.grader().grade_here("anna").status == Status.GRADED
    with tiny.api.gradebook as gradebook:
        assert gradebook.find_submission(NAME, "anna").late_submission_penalty == 2


@pytest.mark.parametrize(
    ("place", "penalty", "fault"),
    [(".", "1 / 0", "division by zero"), (".", "(", "SyntaxError"), ("elsewhere", "0", "could not be imported")],
)
def test_a_plugin_that_fails_or_is_missing_stops_the_run(tmp_path, place, penalty, fault, monkeypatch, said):
    """It is not a student's reason."""
    tiny = late_class(tmp_path, place, penalty, monkeypatch)
    shown = said(tiny, "grade", NAME, code=1)
    assert fault in shown
    assert "Traceback" not in shown
    assert (
        not (tiny.folder / "autograded" / "anna" / NAME / f"{NAME}.ipynb").exists()
        or not outcome.read(tiny.autograded("anna")).saved
    )
    with tiny.api.gradebook as gradebook:
        comments = [
            c.auto_comment for s in gradebook.assignment_submissions(NAME) for n in s.notebooks for c in n.comments
        ]
    assert not any(comments)


def test_an_unreadable_configuration_is_named(tmp_path, said):
    tiny = TinyClass(tmp_path / "class")
    (tmp_path / "nbgrader_config.py").write_text("c = get_config(\n")
    shown = said(tiny, "grade", NAME, code=1)
    assert f"{tmp_path}/nbgrader_config.py cannot be loaded (SyntaxError" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("url", "named", "why"),
    [
        ("postgresql+psycopg://grader:hidden@127.0.0.1:1/book", "grader:***@127.0.0.1:1/book", "Connection refused"),
        ("sqlite:////nowhere/gradebook.db", "sqlite:////nowhere/gradebook.db", "unable to open database file"),
    ],
)
def test_a_gradebook_that_cannot_be_opened_is_named_without_its_password(tmp_path, said, url, named, why):
    write_settings(tmp_path, f"c.CourseDirectory.db_url = {url!r}")
    shown = said(TinyClass(tmp_path / "class"), "grade", NAME, code=1)
    assert f"{named} cannot be opened: " in shown
    assert why in shown
    assert "hidden" not in shown
    assert ("See grading/POSTGRESQL.md." in shown) == url.startswith("postgresql")


def test_the_reason_is_recorded_the_same_way_wherever_it_arose_and_the_next_one_is_graded(tiny, grader, monkeypatch):
    """Before, in, between or after nbgrader's steps: gradebook and notebook agree."""
    tiny.hand_in("in nbgrader", text="{")
    tiny.hand_in("before", RIGHT)
    (tiny.submission("before") / f"{NAME}.ipynb").unlink()
    ended = [grader.grade_here("in nbgrader"), grader.grade_here("before"), grader.give_up("anna", "it was lost.\0")]
    for student, step in {
        "judged": "autograder.steps.runs.show_verdicts",
        "saved": "autograder.run.folders.find_all_files",
    }.items():
        tiny.hand_in(student, RIGHT)
        with monkeypatch.context() as patch:
            patch.setattr(step, Mock(side_effect=ZeroDivisionError("of what it handed in")))
            ended.append(grader.grade_here(student))
    assert {one.reason for one in ended[3:]} == {"ZeroDivisionError: of what it handed in"}
    for one in ended:
        assert one.status == Status.UNGRADABLE
        assert tiny.points(one.student) == [None, None]
        with tiny.api.gradebook as gradebook:
            submitted = gradebook.find_submission_notebook(NAME, NAME, one.student)
            reason = outcome.reason_in_gradebook(submitted)
            assert submitted.needs_manual_grade
        assert reason == one.reason.replace("\0", r"\x00") != ""
        said = outcome.read(tiny.autograded(one.student))
        assert (said.could_not_grade, said.saved) == (reason, True)
        assert not grader.why_due(one.student)
    assert grader.grade_here("ben").status == Status.GRADED
    assert tiny.points("ben") == [2, 3]


def test_an_outcome_is_read_from_any_metadata():
    for found in (None, [], "x", {"seconds": True, "could_not_grade": 1, "saved": "yes"}, {"seconds": None}):
        assert outcome.read({"metadata": {"autograder": found}}) == NotebookOutcome()
        assert all(not v.passed for v in outcome.read_verdicts({"metadata": {"autograder": found}}).values())
