"""`make demo`: a class of a dozen, and every cell of its table."""

import pytest

from autograder import demo

FULL = [1, 2, 2, 2, 3, 2]
NOT_SOLVED = "Not solved yet: your function still raises NotImplementedError."
NO_AUTOGRAD = "This exercise is to be done by hand: torch's autograd may not be used here."

EXPECTED = {
    "ada": (FULL, {}),
    "boris": (FULL, {}),
    "dana": ([0, 2, 2, 2, 3, 0], {"02.1": "slip: external gradient ignored", "02.6": "slip: broadcast not undone"}),
    "emil": (
        [0, 0, 0, 0, 0, 0],
        {
            "02.1": "slip: external gradient ignored",
            "02.2": "Your function returned where an error was expected.",
            "02.3": "slip: sum instead of mean",
            "02.4": "slip: the same tensor in every row",
            "02.5": "slip: nothing handed over",
            "02.6": "slip: broadcast not undone",
        },
    ),
    "farid": ([1, 2, 2, 0, 0, 0], dict.fromkeys(["02.4", "02.5", "02.6"], NOT_SOLVED)),
    "gita": ([0] * 6, dict.fromkeys(["02.1", "02.2", "02.3", "02.4", "02.5", "02.6"], NOT_SOLVED)),
    "hugo": (
        [1, 2, 0, 2, 3, 2],
        {
            "02.3": "The check could not run to its end: NameError: name 'loss_weights' is not defined. "
            "The cell that should define it is empty or failed."
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
def test_the_class_is_a_dozen(shown):
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
