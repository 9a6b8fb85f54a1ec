"""`make demo` grades a class of twelve; every cell of its table is checked."""

import pytest

from autograder import demo
from autograder.errors import ClassError

FULL = [1, 2, 2, 2, 3, 2]
NOT_SOLVED = "Not solved yet: your function still raises NotImplementedError."
SLIPS = {
    "02.1": "slip: the derivative alone",
    "02.2": "Your function returned, but should have raised an error.",
    "02.3": "slip: sum instead of mean",
    "02.4": "slip: every row the sum of all",
    "02.5": "slip: nothing passed on",
    "02.6": "slip: broadcast not undone",
}
UNDEFINED = (
    "The check did not finish: NameError: name 'loss_weights' is not defined. "
    "The cell that should define it is empty or raised an error."
)

EXPECTED = {
    "ada": (FULL, {}),
    "boris": (FULL, {}),
    "dana": ([0, 2, 2, 2, 3, 0], {check: SLIPS[check] for check in ("02.1", "02.6")}),
    "emil": ([0] * 6, SLIPS),
    "farid": ([1, 2, 2, 0, 0, 0], dict.fromkeys(["02.4", "02.5", "02.6"], NOT_SOLVED)),
    "gita": ([0] * 6, dict.fromkeys(SLIPS, NOT_SOLVED)),
    "hugo": ([1, 2, 0, 2, 3, 2], {"02.3": UNDEFINED}),
    "jonas": (FULL, {}),
    "kim": (FULL, {}),
    "lena": (FULL, {}),
    "mika": ([1, 2, 2, 2, 3, 0], {"02.6": "Solve this exercise by hand: your answer may not use torch's autograd."}),
}


def test_a_missing_edition_costs_no_earlier_demo(tmp_path):
    with pytest.raises(ClassError, match="make notebooks LANGUAGE=tlh"):
        demo.run(tmp_path, "tlh")
    assert tmp_path.exists()


@pytest.mark.exhaustive
def test_every_cell_of_the_table(tmp_path):
    """The broken notebook has a reason and no score."""
    shown = {row.student: row for row in demo.run(tmp_path / "class")}
    ines = shown.pop("ines")
    assert (ines.status, ines.score, ines.points) == ("could not be graded", None, {})
    assert ines.reasons[""].startswith("the notebook file is not valid JSON")
    assert {student: (list(row.points.values()), row.reasons) for student, row in shown.items()} == EXPECTED
    for row in shown.values():
        assert list(row.points) == [f"check-02-{number}" for number in range(1, 7)]
        assert (row.status, row.score) == ("graded", sum(row.points.values()))
