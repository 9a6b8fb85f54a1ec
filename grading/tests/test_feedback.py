"""One command returns feedback, makes changed pages again, and lists students who get none, with the reason."""

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
    """Run the command, which must succeed; return the lines that it prints."""
    assert main(["--class", str(tiny.folder), "feedback", NAME]) == 0
    return capsys.readouterr().out.splitlines()


def page(tiny: TinyClass, student: str) -> str:
    return str(tiny.folder / "feedback" / student / NAME / f"{NAME}.html")


def test_feedback_is_returned_and_students_without_it_are_listed_with_the_reason(tiny, capsys):
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
        "3 pages made, 2 returned through the exchange.",
        "Not returned:",
        f"  by hand: it was not submitted through the exchange. Send them {page(tiny, 'by hand')}",
        "  late: the submission has no grade yet; grade first.",
        "  nobody: nothing was submitted.",
    ]
    assert "5 of 5 points" in released(tiny, good).read_text()
    assert "could not be graded" in released(tiny, misnamed).read_text()


def test_the_returned_page_shows_what_changed_since(tiny, capsys):
    """A changed grade, a comment, manual points."""
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


def test_an_unchanged_page_is_not_made_again(tiny, capsys):
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", RIGHT)
    tiny.grade()
    command(tiny, capsys)
    made = {student: Path(page(tiny, student)).stat().st_mtime_ns for student in ("anna", "ben")}
    with tiny.api.gradebook as gradebook:
        gradebook.find_comment("answer-1", NAME, NAME, "anna").manual_comment = "Seen by me."
        gradebook.db.commit()
    command(tiny, capsys)
    again = {student for student, at in made.items() if Path(page(tiny, student)).stat().st_mtime_ns != at}
    assert again == {"anna"}
    assert "Seen by me." in Path(page(tiny, "anna")).read_text()


def test_a_new_submission_waits_for_its_grade(tiny, capsys):
    (tiny.folder / "exchange").mkdir()
    through_the_exchange(tiny, "anna", RIGHT)
    tiny.grade()
    secret = through_the_exchange(tiny, "anna", SLIP, "2026-11-03 10:00:00 UTC")
    assert command(tiny, capsys)[-1] == "  anna: the submission has no grade yet; grade first."
    tiny.grade()
    assert command(tiny, capsys) == ["1 page made, 1 returned through the exchange."]
    assert "1.5 of 5 points" in released(tiny, secret).read_text()


def test_without_an_exchange_the_pages_are_made_and_their_folder_is_printed(tiny, capsys):
    tiny.hand_in("anna", RIGHT)
    tiny.grade()
    assert command(tiny, capsys) == [
        "1 page made, 0 returned through the exchange.",
        f"There is no exchange to return them through. Find them in {tiny.folder}/feedback/STUDENT/{NAME}.",
    ]
    assert "5 of 5 points" in Path(page(tiny, "anna")).read_text()


def test_feedback_graded_before_receipts_were_kept_can_be_returned(tiny, capsys):
    (tiny.folder / "exchange").mkdir()
    secret = through_the_exchange(tiny, "anna", RIGHT)
    tiny.grade()
    (tiny.folder / "autograded" / "anna" / NAME / "submission_secret.txt").unlink()
    assert command(tiny, capsys) == ["1 page made, 1 returned through the exchange."]
    assert "5 of 5 points" in released(tiny, secret).read_text()


def test_a_page_that_cannot_be_made_is_listed_and_the_others_are_returned(tiny, capsys):
    (tiny.folder / "exchange").mkdir()
    for student in ("anna", "ben"):
        through_the_exchange(tiny, student, RIGHT)
    tiny.grade()
    (tiny.folder / "feedback" / "anna").mkdir(parents=True)
    (tiny.folder / "feedback" / "anna" / NAME).write_text("in the way")
    assert main(["--class", str(tiny.folder), "feedback", NAME]) == 1
    said = capsys.readouterr().out
    assert "1 page made, 1 returned" in said
    assert "  anna: the page could not be made: " in said


def test_output_from_grading_is_not_on_the_page(tiny, capsys):
    """It could reveal the graded cases. The page shows verdicts, and the last line of an answer's error."""
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
