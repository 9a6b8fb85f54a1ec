"""Grade submissions through nbgrader's own steps on real kernels."""

import json
import re
from unittest.mock import Mock

import nbformat
import pytest
from tiny_class import IMPLIED, NAME, PULL_BACK, RIGHT, SLIP, TinyClass, cell_of, solved_notebook

from autograder.errors import ClassError
from autograder.steps.answer_key import load_answer_key
from gradlab.checks.check import OBSERVATION_MIME

AUTOGRAD = (
    "def pull_back(x, v):\n    leaf = x.clone().requires_grad_()\n    (3 * leaf**2).backward(v)\n    return leaf.grad"
)
KILLER = "def implied(y):\n    import os\n\n    os._exit(1)"


def old_metadata(nb):
    for cell in nb.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader |= {"schema_version": 1, "points": 100}


HONEST = {
    "right": (RIGHT, None, [2, 3]),
    "a slip": (SLIP, None, [0, 1.5]),
    "autograd where it is forbidden": (RIGHT | {"answer-1": AUTOGRAD}, None, [0, 3]),
    "stderr and warnings": (
        RIGHT
        | {"answer-1": "import sys, warnings\nprint('x', file=sys.stderr)\nwarnings.warn('old')\n\n\n" + PULL_BACK}
        | {"answer-2": IMPLIED.replace("    return", "    import warnings\n\n    warnings.warn('old')\n    return")},
        None,
        [2, 3],
    ),
    "metadata of a different time": (RIGHT, old_metadata, [2, 3]),
    "kernel killed in a check": (RIGHT | {"answer-2": KILLER}, None, [2, 0]),
    "a helper with the name of a function in the check's cell": (
        RIGHT | {"answer-2": IMPLIED.replace("implied", "scaled") + "\n\n\ndef implied(y):\n    return scaled(y)"},
        None,
        [2, 3],
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    tiny = TinyClass(tmp_path_factory.mktemp("grading") / "class")
    for student, (answers, change, _) in HONEST.items():
        tiny.hand_in(student, answers, change)
    with pytest.MonkeyPatch.context() as patch:  # the record is made with the assignment, so no chapter has to run
        patch.setattr("autograder.steps.answer_key._chapter", None)
        tiny.grade()
    return tiny


@pytest.mark.parametrize("case", HONEST)
def test_every_submission_gets_the_points_for_its_right_answers(graded, case):
    assert graded.points(case) == HONEST[case][2]
    assert OBSERVATION_MIME not in nbformat.writes(graded.autograded(case))


def test_a_check_cell_shows_the_verdict(graded):
    assert graded.verdict("right", "check-1") == "90.1 the gradient at x: passed. 2 cases agree with torch.\n"
    slip = "Likely slip: external gradient alone. It still has to be multiplied by dy/dx."
    for student, cell, text in [
        ("a slip", "check-1", slip),
        ("a slip", "check-2", "90.2 the implied one: passed."),
        ("a slip", "check-2", "90.3 the gradient at x, negative: not yet."),
        ("autograd where it is forbidden", "check-1", "your answer may not use torch's autograd"),
        ("kernel killed in a check", "check-2", "The kernel died while this cell ran."),
    ]:
        assert text in graded.verdict(student, cell)


def test_a_class_gets_cases_that_no_student_has_seen(graded):
    stored = json.loads((graded.folder / "records" / f"{NAME}.json").read_text())
    released = json.loads((graded.folder / "release" / NAME / f"{NAME}.record.json").read_text())
    cases = stored["record"]["checks"]["90.1"]["cases"]
    assert len(cases) == 2
    assert not any(case in released["checks"]["90.1"]["cases"] for case in cases)
    beside = json.loads((graded.folder / "autograded" / "right" / NAME / f"{NAME}.record.json").read_text())
    assert beside["checks"]["90.1"]["cases"] == []
    while_it_runs = load_answer_key(graded.api.coursedir, NAME).cases["check-1"]
    checks = json.loads(while_it_runs)["checks"]
    assert [checks[name]["cases"] for name in ("90.1", "90.2")] == [cases, []]
    assert checks["90.1"].keys().isdisjoint({"expected", "slips"})
    assert (graded.folder / "records" / f"{NAME}.json").stat().st_mode & 0o077 == 0


def test_grading_again_skips_graded_submissions_and_force_gives_the_same_grades(graded, said):
    assert graded.grade("right", "a slip") == {"right": "skipped", "a slip": "skipped"}
    before = graded.verdict("a slip", "check-1")
    shown = said(graded, "grade", NAME, "--student", "a slip", "--force")
    assert re.search(r"a slip +0 +1\.5 +1\.5\n", shown)
    assert "90.1  slip: external gradient alone" in shown
    assert shown.endswith(f"To see what changed: python -m autograder report {NAME} --changes\n1 graded\n")
    assert graded.verdict("a slip", "check-1") == before
    assert graded.points("a slip") == [0, 1.5]


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    """A class whose notebook has a lesson cell with outputs and a definition that no exercise needs."""
    solved = solved_notebook()
    shown = nbformat.v4.new_output("stream", text="as it was released\n")
    lesson = nbformat.v4.new_code_cell("six = 6\nprint('as it was run')", id="lesson", outputs=[shown])
    solved.cells.insert(2, lesson)
    tiny = TinyClass(tmp_path_factory.mktemp("lessons") / "class", solved=solved)
    tiny.hand_in("right", RIGHT)
    tiny.hand_in("uses", RIGHT | {"answer-1": "def pull_back(x, v):\n    return six * x * v"})
    tiny.hand_in("wrong", RIGHT | {"answer-2": "def implied(y):\n    return y"})
    tiny.hand_in("changed", RIGHT, lambda nb: cell_of(nb, "lesson").update(source="print('changed')"))
    tiny.grade()
    return tiny


@pytest.mark.parametrize(
    ("student", "points", "shown"),
    [
        ("right", [2, 3], "as it was released\n"),
        ("uses", [2, 3], "as it was run\n"),
        ("wrong", [2, 1.5], "as it was run\n"),
        ("changed", [2, 3], "changed\n"),
    ],
)
def test_lessons_run_only_if_changed_or_if_a_check_fails(lessons, student, points, shown):
    """Answers may use a lesson's definitions, and other submissions do not wait for lessons."""
    assert lessons.points(student) == points
    assert cell_of(lessons.autograded(student), "lesson").outputs[0].text == shown


def test_in_part_two_a_wrong_answer_costs_no_points_of_a_later_exercise_that_calls_it(tmp_path):
    nb = solved_notebook()
    nb.cells[2].metadata["tags"] = ["engine"]
    nb.cells[2].metadata["nbgrader"]["grade_id"] = "answer-90-1"
    tiny = TinyClass(tmp_path / "class", solved=nb)
    tiny.hand_in("ada", SLIP | {"answer-90-1": SLIP["answer-1"]})
    tiny.grade_here()
    assert tiny.points("ada") == [0, 3]  # the third check calls pull_back


def test_a_class_without_submissions_says_so(tiny):
    with pytest.raises(ClassError, match=r"There are no submissions of 90_tiny"):
        list(tiny.outcomes())


def test_an_earlier_submission_that_comes_back_after_an_interrupted_run_is_graded_again(tiny, monkeypatch):
    """The gradebook had the new submission's points already, the folder still the earlier one's notebook."""
    tiny.hand_in("anna", SLIP)
    tiny.grade_here()
    earlier = (tiny.submission("anna") / f"{NAME}.ipynb").read_text()
    tiny.hand_in("anna", RIGHT)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("autograder.run.folders.Folders.write", Mock(side_effect=KeyboardInterrupt))
        tiny.grade_here()
    tiny.hand_in("anna", text=earlier)
    assert tiny.grade_here() == ["anna"]
    assert tiny.points("anna") == [0, 1.5]
