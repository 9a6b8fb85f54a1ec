"""One command returns feedback of every kind, makes changed pages again, and lists who gets none, with the reason."""

import os
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
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
def tiny(tiny):
    """A class with an exchange."""
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


def test_feedback_is_returned_and_students_without_it_are_listed_with_the_reason(tiny, said):
    """Only a page with changes is made again, such as manual points and a comment; a new submission waits."""
    good = through_the_exchange(tiny, "good", RIGHT)
    (tiny.submission("good") / "own.html").touch()
    misnamed = through_the_exchange(tiny, "misnamed", RIGHT)
    misname(tiny, "misnamed")
    tiny.hand_in("by hand", RIGHT)
    tiny.grade()
    tiny.hand_in("late", RIGHT)
    tiny.add("nobody")
    assert said(tiny, "feedback", NAME).splitlines() == [
        "Pages made: 3. Returned through the exchange: 2.",
        "Not returned (send students the pages that are named):",
        f"  by hand: it was not submitted through the exchange. {tiny.page('by hand')}",
        "  late: the submission has no grade yet; grade first.",
        "  nobody: nothing was submitted.",
    ]
    assert "5 of 5 points" in released(tiny, good).read_text()
    assert len(list(released(tiny, good).parent.iterdir())) == 2, "no page that a student wrote"
    assert "could not be graded" in released(tiny, misnamed).read_text()
    (tiny.folder / "autograded" / "good" / NAME / "submission_secret.txt").unlink()
    assert said(tiny, "feedback", NAME).startswith("Pages made: 3."), "a lost receipt is made again"

    made = {student: tiny.page(student).stat().st_mtime_ns for student in ("good", "misnamed", "by hand")}
    tiny.set_by_hand("good", 0.5, "Seen by me.")
    said(tiny, "feedback", NAME)
    assert "3.5 of 5 points" in released(tiny, good).read_text()
    assert "Seen by me." in released(tiny, good).read_text()
    assert {student for student, at in made.items() if tiny.page(student).stat().st_mtime_ns != at} == {"good"}
    through_the_exchange(tiny, "good", SLIP, "2026-11-03 10:00:00 UTC")
    assert "  good: the submission has no grade yet; grade first.\n" in said(tiny, "feedback", NAME)


def test_a_page_that_cannot_be_made_is_listed_and_the_others_are_returned(tiny, said):
    for student in ("anna", "ben"):
        through_the_exchange(tiny, student, RIGHT)
    tiny.grade()
    (tiny.folder / "feedback" / "anna").mkdir(parents=True)
    (tiny.folder / "feedback" / "anna" / NAME).write_text("in the way")
    shown = said(tiny, "feedback", NAME, code=1)
    assert "Pages made: 1. Returned through the exchange: 1." in shown
    assert "  anna: the page could not be made: " in shown


def test_output_from_grading_is_not_on_the_page(tiny, said):
    """It could reveal the graded cases. The page shows verdicts, and the kind and line of an answer's error."""
    keeps = "kept = []\n\n\ndef pull_back(x, v):\n    kept.append(x)\n    return v"
    fails = "answer = None\nraise ValueError('first line\\nlast line ' + 500 * 'y')"
    shows = new_code_cell("print('PRINTED', kept)\n1 / 0")
    tiny.hand_in("anna", RIGHT | {"answer-1": keeps, "answer-2": fails}, change=lambda nb: nb.cells.append(shows))
    tiny.grade()
    said(tiny, "feedback", NAME)
    text = tiny.page("anna").read_text()
    assert "PRINTED [tensor" in tiny.autograded("anna").cells[-1].outputs[0].text
    assert ("PRINTED [tensor" in text, "ZeroDivisionError" in text) == (False, False)
    assert "ValueError, line 2: raise ValueError(" in text
    assert ("last line yyy" in text, "first line\n" in text) == (False, False)
    assert "90.1 the gradient at x: not yet." in text
