"""`make demo` grades a class of twelve; every cell of its table is checked."""

import pytest

from autograder import demo

FULL = [1, 2, 2, 2, 3, 2]
NOT_SOLVED = "Not solved yet: your function still raises NotImplementedError."
NO_AUTOGRAD = "Solve this exercise by hand: your answer may not use torch's autograd."

EXPECTED = {
    "ada": (FULL, {}),
    "boris": (FULL, {}),
    "dana": ([0, 2, 2, 2, 3, 0], {"02.1": "slip: the derivative alone", "02.6": "slip: broadcast not undone"}),
    "emil": (
        [0, 0, 0, 0, 0, 0],
        {
            "02.1": "slip: the derivative alone",
            "02.2": "Your function returned, but should have raised an error.",
            "02.3": "slip: sum instead of mean",
            "02.4": "slip: every row the sum of all",
            "02.5": "slip: nothing passed on",
            "02.6": "slip: broadcast not undone",
        },
    ),
    "farid": ([1, 2, 2, 0, 0, 0], dict.fromkeys(["02.4", "02.5", "02.6"], NOT_SOLVED)),
    "gita": ([0] * 6, dict.fromkeys(["02.1", "02.2", "02.3", "02.4", "02.5", "02.6"], NOT_SOLVED)),
    "hugo": (
        [1, 2, 0, 2, 3, 2],
        {
            "02.3": "The check did not finish: NameError: name 'loss_weights' is not defined. "
            "The cell that should define it is empty or raised an error."
        },
    ),
    "jonas": (FULL, {}),
    "kim": (FULL, {}),
    "lena": (FULL, {}),
    "mika": ([1, 2, 2, 2, 3, 0], {"02.6": NO_AUTOGRAD}),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return {row.student: row for row in demo.run(tmp_path_factory.mktemp("demo") / "class")}


@pytest.mark.exhaustive
def test_the_demo_class_has_twelve_students(shown):
    assert sorted(shown) == sorted([*EXPECTED, "ines"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("student", EXPECTED)
def test_every_cell_of_the_table(shown, student):
    points, reasons = EXPECTED[student]
    row = shown[student]
    assert row.status == "graded"
    assert list(row.points) == [f"check-02-{number}" for number in range(1, 7)]
    assert list(row.points.values()) == points
    assert row.score == sum(points)
    assert row.reasons == reasons


@pytest.mark.exhaustive
def test_the_broken_notebook_has_a_reason_and_no_score(shown):
    row = shown["ines"]
    assert (row.status, row.score, row.points) == ("could not be graded", None, {})
    assert row.reasons[""].startswith("the notebook file is not valid JSON")
