"""Feedback can be returned for every kind of submission and result, and corrected submissions are graded."""

import os
import shutil
from pathlib import Path

import pytest
from nbgrader.utils import notebook_hash
from tiny_class import NAME, RIGHT, TinyClass

from autograder.steps import receipt

WHEN = "2026-11-02 10:00:00.123456 UTC"
SLIP = RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"}


def through_the_exchange(tiny: TinyClass, student: str, answers: dict[str, str], when: str = WHEN) -> str:
    """Submit with a timestamp and secret as from nbgrader's exchange; return the secret."""
    tiny.hand_in(student, answers)
    secret = f"secret of {student} at {when}"
    (tiny.submission(student) / "timestamp.txt").write_text(when)
    (tiny.submission(student) / "submission_secret.txt").write_text(secret)
    return secret


def misname(tiny: TinyClass, student: str) -> None:
    """Rename the notebook as a browser does on a second download."""
    path = tiny.submission(student) / f"{NAME}.ipynb"
    path.rename(path.with_name(f"{NAME} (1).ipynb"))


def released(tiny: TinyClass, secret: str) -> Path:
    """Return the page that nbgrader's fetch_feedback reads for a submission with this secret."""
    name = notebook_hash(secret=secret, notebook_id=NAME)
    return tiny.folder / "exchange" / "autograd" / "feedback" / f"{name}.html"


@pytest.fixture
def tiny(tmp_path):
    tiny = TinyClass(tmp_path / "class")
    (tiny.folder / "exchange").mkdir()
    return tiny


def test_a_misnamed_and_a_manually_placed_submission_stop_nobodys_feedback(tiny):
    good, misnamed = (through_the_exchange(tiny, student, RIGHT) for student in ("good", "misnamed"))
    misname(tiny, "misnamed")
    tiny.hand_in("by hand", RIGHT)
    assert set(tiny.grade().items()) == {
        ("good", "graded"),
        ("by hand", "graded"),
        ("misnamed", "could not be graded"),
    }
    for result in (tiny.api.generate_feedback(NAME), tiny.api.release_feedback(NAME)):
        assert result["success"], result
    assert "5 of 5 points" in released(tiny, good).read_text()
    assert f"{NAME} (1).ipynb" in released(tiny, misnamed).read_text()
    assert (tiny.folder / "feedback" / "by hand" / NAME / f"{NAME}.html").exists()


def test_the_same_holds_for_nbgraders_own_autograde(tiny):
    secret = through_the_exchange(tiny, "broken", RIGHT)
    (tiny.submission("broken") / f"{NAME}.ipynb").write_text("{")
    (tiny.submission("broken") / "link").symlink_to("/etc/hostname")
    tiny.hand_in("by hand", RIGHT)
    misnamed = through_the_exchange(tiny, "misnamed", RIGHT)
    misname(tiny, "misnamed")
    tiny.submission("nothing").mkdir(parents=True)
    for student in ("broken", "by hand", "misnamed", "*"):
        result = tiny.api.autograde(NAME, student)
        assert result["success"], result
    for result in (tiny.api.generate_feedback(NAME), tiny.api.release_feedback(NAME)):
        assert result["success"], result
    assert "could not be graded" in released(tiny, secret).read_text()
    assert f"{NAME} (1).ipynb" in released(tiny, misnamed).read_text()
    assert set(tiny.grade().values()) == {"skipped"}
    assert tiny.grade().keys() == {"broken", "by hand", "misnamed", "nothing"}


def test_nbgraders_own_autograde_does_not_copy_unfit_submissions(tiny, monkeypatch):
    """A sparse file takes no space in the submission, but its copy would fill the disk; a manual grade stays."""
    tiny.hand_in("zeros", RIGHT)
    with (tiny.submission("zeros") / "zeros.bin").open("wb") as file:
        file.truncate(60_000_000)
    copied, copy = [], shutil.copy
    monkeypatch.setattr(shutil, "copy", lambda path, *to: [copied.append(Path(path).name), copy(path, *to)][1])
    assert tiny.api.autograde(NAME, "zeros")["success"]
    assert copied == []
    with tiny.api.gradebook as gradebook:
        for grade in gradebook.find_submission_notebook(NAME, NAME, "zeros").grades:
            grade.manual_score, grade.needs_manual_grade = 1.0, False
        gradebook.db.commit()
    assert tiny.api.autograde(NAME, "zeros", force=False)["success"]
    with tiny.api.gradebook as gradebook:
        assert not gradebook.find_submission(NAME, "zeros").needs_manual_grade


@pytest.mark.parametrize("when", [None, WHEN, "2026-11-03 10:00:00 UTC"])
def test_a_corrected_notebook_is_graded_with_and_without_a_newer_timestamp(tiny, when):
    if when:
        through_the_exchange(tiny, "anna", RIGHT)
    else:
        tiny.hand_in("anna", RIGHT)
    misname(tiny, "anna")
    assert tiny.grade() == {"anna": "could not be graded"}
    assert tiny.grade() == {"anna": "skipped"}
    if when:
        through_the_exchange(tiny, "anna", SLIP, when)
    else:
        tiny.hand_in("anna", SLIP)
    assert tiny.grade() == {"anna": "graded"}
    assert tiny.points("anna") == [0, 1.5]
    assert tiny.grade() == {"anna": "skipped"}


def test_jupyters_leftover_files_do_not_make_a_new_submission(tiny):
    tiny.hand_in("anna", RIGHT)
    tiny.grade()
    (tiny.submission("anna") / ".ipynb_checkpoints").mkdir()
    (tiny.submission("anna") / ".ipynb_checkpoints" / f"{NAME}-checkpoint.ipynb").write_text("{}")
    assert tiny.grade() == {"anna": "skipped"}


def test_without_a_timestamp_a_submission_is_not_late(tiny):
    """The time invented for nbgrader's commands does not count as the submission time."""
    tiny.hand_in("anna", RIGHT)
    with tiny.api.gradebook as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2020-01-01 00:00:00")
    tiny.grade()
    with tiny.api.gradebook as gradebook:
        submission = gradebook.find_submission(NAME, "anna")
        assert (submission.timestamp, submission.total_seconds_late) == (None, 0)


@pytest.mark.parametrize("secret", [b"", b"\xff", b"x" * 5000])
def test_a_secret_that_nbgrader_cannot_use_is_replaced(tmp_path, secret):
    (tmp_path / "submission_secret.txt").write_bytes(secret)
    receipt.keep(tmp_path, tmp_path / "autograded")
    assert len((tmp_path / "autograded" / "submission_secret.txt").read_text()) == 128


def test_a_folder_submitted_as_the_secret_is_replaced(tmp_path):
    for folder in (tmp_path, tmp_path / "autograded"):
        (folder / "submission_secret.txt").mkdir(parents=True)
    receipt.keep(tmp_path, tmp_path / "autograded")
    assert len((tmp_path / "autograded" / "submission_secret.txt").read_text()) == 128


def test_a_linked_submission_gets_nobody_elses_secret(tmp_path):
    """Otherwise its page would replace the other student's."""
    anna, ben = tmp_path / "anna", tmp_path / "ben"
    anna.mkdir()
    (anna / "submission_secret.txt").write_text("anna's")
    ben.symlink_to(anna)
    assert (receipt.secret(anna), receipt.secret(ben)) == ("anna's", "")
    ben.unlink()
    ben.mkdir()
    os.link(anna / "submission_secret.txt", ben / "submission_secret.txt")
    assert receipt.secret(ben) == ""


def test_submissions_graded_before_receipts_are_compared_by_timestamp(tiny):
    through_the_exchange(tiny, "anna", RIGHT)
    tiny.grade()
    path = tiny.folder / "autograded" / "anna" / NAME / f"{NAME}.ipynb"
    text = path.read_text()
    path.chmod(0o644)
    path.write_text(text.replace('"handed_in"', '"once"'))
    assert tiny.grade() == {"anna": "skipped"}
    through_the_exchange(tiny, "anna", RIGHT, "2026-11-03 10:00:00 UTC")
    assert tiny.grade() == {"anna": "graded"}
