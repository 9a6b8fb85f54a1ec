"""Messages about submissions and typing errors are accurate."""

import json

import pytest
from nbformat.v4 import new_code_cell
from tiny_class import NAME, RIGHT, TinyClass, solved_notebook, write_settings

ENDLESS = "    while True:\n        pass"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A class with a summary at the end of its chapter, and a time limit of a second per cell."""
    home = tmp_path_factory.mktemp("words")
    tiny = TinyClass(write_settings(home, "c.Execute.timeout = 1"))
    solved = solved_notebook()
    solved.cells.append(new_code_cell("summary()", id="the-summary"))
    tiny.write_source(solved)
    assert tiny.api.generate_assignment(NAME, force=True)["success"]
    tiny.hand_in("half", RIGHT | {"answer-2": "def implied(y):\n    return y"})
    tiny.hand_in("loop", RIGHT | {"answer-2": f"def implied(y):\n{ENDLESS}"})
    tiny.hand_in("loop in a cell", RIGHT | {"answer-2": f"def implied(y):\n    return y\n\n\nif True:\n{ENDLESS}"})
    tiny.hand_in("loop before", RIGHT | {"answer-2": f"if True:\n{ENDLESS}\n\n\ndef implied(y):\n    return y"})
    tiny.grade_here()
    return tiny


def test_what_is_wrong_with_a_cell_is_named(tiny):
    """An answer that was defined before its cell was interrupted counts."""
    for student, cell, text in [
        ("loop", "check-2", "The check did not end within 1 s."),
        ("loop before", "answer-2", "This cell did not end within 1 s."),
        ("loop before", "check-2", "The cell for implied did not end within 1 s."),
    ]:
        assert text in tiny.verdict(student, cell)
    assert "KeyboardInterrupt" not in tiny.verdict("loop", "check-2")
    assert "did not end" not in tiny.verdict("loop in a cell", "check-2")
    assert tiny.points("loop") == tiny.points("loop before") == [2, 0]


def test_the_summary_counts_what_was_graded(tiny):
    cell = next(cell for cell in tiny.autograded("half").cells if cell.id == "the-summary")
    assert [output.text for output in cell.outputs] == ["2 of 3 checks passed.\n"]
    assert "0 of 3 checks" not in json.dumps(tiny.autograded("half"))


def test_an_unknown_student_gets_a_similar_suggestion(tiny, said):
    assert "Did you mean half?" in said(tiny, "grade", NAME, "--student", "Halves", code=1)
