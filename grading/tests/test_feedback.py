"""One command returns feedback: what has changed is made again, and who gets none is named, with the reason."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from test_receipts import misname, released, through_the_exchange
from tiny_class import NAME, RIGHT, TinyClass

from autograder.__main__ import main

SLIP = RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"}


@pytest.fixture
def tiny(tmp_path):
    return TinyClass(tmp_path / "class")


def command(tiny: TinyClass, capsys) -> list[str]:
    """Run the command, which has to succeed; returns the lines that it prints."""
    assert main(["--class", str(tiny.folder), "feedback", NAME]) == 0
    return capsys.readouterr().out.splitlines()


def page(tiny: TinyClass, student: str) -> str:
    return str(tiny.folder / "feedback" / student / NAME / f"{NAME}.html")


def test_feedback_is_handed_out_and_who_gets_none_is_named_with_the_reason(tiny, capsys):
    (tiny.folder / "exchange").mkdir()
    good = through_the_exchange(tiny, "good", RIGHT)
    misnamed = through_the_exchange(tiny, "misnamed", RIGHT)
    misname(tiny, "misnamed")
    tiny.hand_in("by hand", RIGHT)
    tiny.grade()
    tiny.hand_in("late", RIGHT)
    with tiny.api.gradebook as gradebook:
        gradebook.add_student("nobody")
    assert command(tiny, capsys) == [
        "3 pages made, 2 handed out by the exchange.",
        "Not handed out:",
        f"  by hand: it was not handed in through the exchange. Give them {page(tiny, 'by hand')}",
        "  late: what was handed in has no grade yet; grade first.",
        "  nobody: nothing was handed in.",
    ]
    assert "5 of 5 points" in released(tiny, good).read_text()
    assert "could not be graded" in released(tiny, misnamed).read_text()


def test_what_has_changed_since_is_on_the_page_that_is_handed_out(tiny, capsys):
    """Another grade, a comment, points given by hand."""
    (tiny.folder / "exchange").mkdir()
    secret = through_the_exchange(tiny, "anna", RIGHT)
    tiny.grade()
    command(tiny, capsys)
    assert "5 of 5 points" in released(tiny, secret).read_text()
    with tiny.api.gradebook as gradebook:
        gradebook.find_grade("check-1", NAME, NAME, "anna").manual_score = 0.5
        gradebook.find_comment("answer-1", NAME, NAME, "anna").manual_comment = "Seen by me."
        gradebook.db.commit()
    command(tiny, capsys)
    assert "3.5 of 5 points" in released(tiny, secret).read_text()
    assert "Seen by me." in released(tiny, secret).read_text()


def test_what_was_handed_in_again_waits_for_its_grade(tiny, capsys):
    (tiny.folder / "exchange").mkdir()
    through_the_exchange(tiny, "anna", RIGHT)
    tiny.grade()
    secret = through_the_exchange(tiny, "anna", SLIP, "2026-11-03 10:00:00 UTC")
    assert command(tiny, capsys)[-1] == "  anna: what was handed in has no grade yet; grade first."
    tiny.grade()
    assert command(tiny, capsys) == ["1 page made, 1 handed out by the exchange."]
    assert "1.5 of 5 points" in released(tiny, secret).read_text()


def test_without_an_exchange_the_pages_are_made_and_it_says_where(tiny, capsys):
    tiny.hand_in("anna", RIGHT)
    tiny.grade()
    assert command(tiny, capsys) == [
        "1 page made, 0 handed out by the exchange.",
        f"There is no exchange to hand them out by. They are in {tiny.folder}/feedback/STUDENT/{NAME}.",
    ]
    assert "5 of 5 points" in Path(page(tiny, "anna")).read_text()


def test_what_was_graded_before_receipts_were_kept_can_be_returned(tiny, capsys):
    (tiny.folder / "exchange").mkdir()
    secret = through_the_exchange(tiny, "anna", RIGHT)
    tiny.grade()
    (tiny.folder / "autograded" / "anna" / NAME / "submission_secret.txt").unlink()
    assert command(tiny, capsys) == ["1 page made, 1 handed out by the exchange."]
    assert "5 of 5 points" in released(tiny, secret).read_text()


def test_a_page_that_cannot_be_made_is_named_and_the_others_are_returned(tiny, capsys):
    (tiny.folder / "exchange").mkdir()
    for student in ("anna", "ben"):
        through_the_exchange(tiny, student, RIGHT)
    tiny.grade()
    (tiny.folder / "feedback" / "anna").mkdir(parents=True)
    (tiny.folder / "feedback" / "anna" / NAME).write_text("in the way")
    assert main(["--class", str(tiny.folder), "feedback", NAME]) == 1
    said = capsys.readouterr().out
    assert "1 page made, 1 handed out" in said
    assert "  anna: the page could not be made: " in said


def test_what_a_submission_printed_while_it_was_graded_is_not_on_the_page(tiny, capsys):
    """It can hold the graded cases. A verdict is there, and the last line of the error that an answer ended in."""
    keeps = "kept = []\n\n\ndef pull_back(x, v):\n    kept.append(x)\n    return v"
    fails = "raise ValueError('first line\\nlast line ' + 500 * 'y')"
    shows = new_code_cell("print('PRINTED', kept)\n1 / 0")
    tiny.hand_in("anna", RIGHT | {"answer-1": keeps, "answer-2": fails}, change=lambda nb: nb.cells.append(shows))
    tiny.grade()
    command(tiny, capsys)
    text = Path(page(tiny, "anna")).read_text()
    assert "PRINTED [tensor" in tiny.autograded("anna").cells[-1].outputs[0].text
    assert ("PRINTED [tensor" in text, "ZeroDivisionError" in text) == (False, False)
    assert ("last line yyy" in text, "first line\n" in text, 300 * "y" in text) == (True, False, False)
    assert "90.1 the gradient at x: not yet." in text
