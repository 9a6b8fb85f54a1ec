"""Messages about submissions and typing errors are accurate."""

import json

import pytest
from nbformat.v4 import new_code_cell
from tiny_class import IMPLIED, NAME, RIGHT, TinyClass, cell_of, solved_notebook, write_settings

ENDLESS = "    while True:\n        pass"
INTERRUPTED = {  # cells that take too long or write too much, and what is said; what they defined before counts
    "loop after": (f"{IMPLIED}\n\nif True:\n{ENDLESS}", "This cell did not end within 1 s."),
    "floods": (f"{IMPLIED}\n\nwhile True:\n    print('x' * 1000)", "all output exceeded 0.05 MB"),
    "much": (f"print('x' * 60_000)\n\n\n{IMPLIED}", "all output exceeded 0.05 MB"),
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A class with a summary at the end of its chapter, and limits in its settings: 1 s for a cell, and 50 KB."""
    home = tmp_path_factory.mktemp("words")
    solved = solved_notebook()
    solved.cells.append(new_code_cell("summary()", id="the-summary"))
    limits = ["c.RunCells.max_output_bytes = 50_000", "c.Execute.timeout = 1"]
    tiny = TinyClass(write_settings(home, *limits), solved=solved)
    tiny.hand_in("half", RIGHT | {"answer-2": "def implied(y):\n    return y"})
    tiny.hand_in("loop", RIGHT | {"answer-2": f"def implied(y):\n{ENDLESS}"})
    tiny.hand_in("loop before", RIGHT | {"answer-2": f"if True:\n{ENDLESS}\n\n\ndef implied(y):\n    return y"})
    for student, (source, _) in INTERRUPTED.items():
        tiny.hand_in(student, RIGHT | {"answer-2": source})
    tiny.grade_here()
    return tiny


def test_what_is_wrong_with_a_cell_is_named(tiny):
    for student, cell, text in [
        ("loop", "check-2", "The check did not end within 1 s."),
        ("loop before", "answer-2", "This cell did not end within 1 s."),
        ("loop before", "check-2", "The cell for implied did not end within 1 s."),
    ]:
        assert text in tiny.verdict(student, cell)
    assert "KeyboardInterrupt" not in tiny.verdict("loop", "check-2")
    assert tiny.points("loop") == tiny.points("loop before") == [2, 0]


@pytest.mark.parametrize("student", INTERRUPTED)
def test_limits_are_settings_of_the_class(tiny, student):
    assert tiny.points(student) == [2, 3]
    assert INTERRUPTED[student][1] in tiny.verdict(student, "answer-2")


def test_the_summary_counts_what_was_graded(tiny):
    outputs = cell_of(tiny.autograded("half"), "the-summary").outputs
    assert [output.text for output in outputs] == ["2 of 3 checks passed.\n"]
    assert "0 of 3 checks" not in json.dumps(tiny.autograded("half"))


def test_an_unknown_student_gets_a_similar_suggestion(tiny, said):
    assert "Did you mean half?" in said(tiny, "grade", NAME, "--student", "Halves", code=1)
