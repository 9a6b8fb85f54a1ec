"""One command returns feedback, makes changed pages again, and lists students who get none, with the reason."""

import pytest
from nbformat.v4 import new_code_cell
from test_receipts import misname, released, through_the_exchange
from tiny_class import NAME, RIGHT, SLIP, TinyClass


@pytest.fixture
def tiny(tmp_path):
    tiny = TinyClass(tmp_path / "class")
    (tiny.folder / "exchange").mkdir()
    return tiny


def test_feedback_is_returned_and_students_without_it_are_listed_with_the_reason(tiny, said):
    """Only a page with changes is made again, such as manual points and a comment; a new submission waits."""
    good = through_the_exchange(tiny, "good", RIGHT)
    (tiny.submission("good") / "own.html").touch()
    misnamed = through_the_exchange(tiny, "misnamed", RIGHT)
    misname(tiny, "misnamed")
    tiny.hand_in("by hand", RIGHT)
    tiny.grade()
    tiny.hand_in("late", RIGHT)
    with tiny.api.gradebook as gradebook:
        gradebook.add_student("nobody")
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


def test_a_page_that_cannot_be_made_is_listed_and_the_others_are_returned(tiny, capsys):
    for student in ("anna", "ben"):
        through_the_exchange(tiny, student, RIGHT)
    tiny.grade()
    (tiny.folder / "feedback" / "anna").mkdir(parents=True)
    (tiny.folder / "feedback" / "anna" / NAME).write_text("in the way")
    assert tiny.command("feedback", NAME) == 1
    shown = capsys.readouterr().out
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
