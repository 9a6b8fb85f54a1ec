"""Feedback can be returned for every kind of submission and result, and corrected submissions are graded."""

import os
from pathlib import Path

import pytest
from nbgrader.utils import notebook_hash
from tiny_class import NAME, RIGHT, SLIP, TinyClass

from autograder.steps import receipt

WHEN = "2026-11-02 10:00:00.123456 UTC"


def through_the_exchange(tiny: TinyClass, student: str, answers: dict[str, str], when: str = WHEN) -> str:
    """Submit with a timestamp and secret as from nbgrader's exchange; return the secret."""
    tiny.hand_in(student, answers)
    secret = f"secret of {student} at {when}"
    tiny.stamp(student, when)
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


@pytest.mark.parametrize("when", [None, WHEN, "2026-11-03 10:00:00 UTC"])
def test_a_corrected_notebook_is_graded_with_and_without_a_newer_timestamp(tiny, when):
    through_the_exchange(tiny, "anna", RIGHT) if when else tiny.hand_in("anna", RIGHT)
    misname(tiny, "anna")
    assert tiny.grade() == {"anna": "could not be graded"}
    assert tiny.grade() == {"anna": "skipped"}
    through_the_exchange(tiny, "anna", SLIP, when) if when else tiny.hand_in("anna", SLIP)
    assert tiny.grade() == {"anna": "graded"}
    assert tiny.points("anna") == [0, 1.5]
    (tiny.submission("anna") / ".ipynb_checkpoints").mkdir()
    (tiny.submission("anna") / ".ipynb_checkpoints" / f"{NAME}-checkpoint.ipynb").write_text("{}")
    assert tiny.grade() == {"anna": "skipped"}, "Jupyter's leftover files are no new submission"


@pytest.mark.parametrize("secret", [b"\xff", b"x" * 5000, None], ids=["no text", "long", "a folder"])
def test_a_secret_that_nbgrader_cannot_use_is_replaced(tmp_path, secret):
    for folder in (tmp_path, tmp_path / "autograded"):
        path = folder / "submission_secret.txt"
        folder.mkdir(exist_ok=True)
        path.mkdir() if secret is None else path.write_bytes(secret)
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
