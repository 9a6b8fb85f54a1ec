"""The command that validates checks: its seeds, its output and its exit code."""

from dataclasses import replace

import pytest

from authoring.__main__ import main
from authoring.chapter import load_chapter
from authoring.validate import validate


def once(answer, case):
    return answer(case["x"], case["v"])


@pytest.fixture
def first_check():
    return replace(load_chapter("02_external_gradients").checks["02.1"], scenario=once)


def counted(slips, others, right):
    """The columns of a row of the table in which all is as it should be."""
    return [str(slips), f"{slips}/{slips}", f"{slips}/{slips}", str(others), f"{right}/{right}"]


def test_the_table_has_a_line_for_each_chosen_check_and_their_sum(capsys):
    assert main(["validate", "02.1", "02.3", "--seeds=1", "--other-seeds=2", "--mutant-seeds=1"]) == 0
    shown = capsys.readouterr()
    heading, first, second, together, seeds, _ = shown.out.splitlines()
    assert heading.split() == ["exercise", "slips", "rejected", "named", "other", "right", "accepted", "apart"] + [
        "constants",
        "mutants",
        "explained",
        "unexplained",
    ]
    totals = [0, 0, 0]
    for row, check_id in ((first, "02.1"), (second, "02.3")):
        reference = load_chapter("02_external_gradients").checks[check_id].reference
        slips, others = len(reference.slips), len(reference.others)
        right = 2 * (1 + others)
        assert row.split()[:6] == [check_id, *counted(slips, others, right)]
        totals = [total + one for total, one in zip(totals, (slips, others, right), strict=True)]
    assert together.split()[:7] == ["2", "exercises", *counted(*totals)]
    assert seeds == "slips and constants on 1 seeds each, the solution and other right answers on 2"
    assert shown.err == ""  # the bar appears only on a terminal


def test_a_chapter_is_found_by_its_number(capsys):
    assert main(["validate", "04", "--seeds=0", "--other-seeds=1", "--mutant-seeds=0"]) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert rows == ["exercise", *(f"04.{n}" for n in range(1, 7)), "6", "slips", "apart:"]


@pytest.mark.parametrize(
    ("word", "says"),
    [("99", "There is no chapter '99'. Chapters: "), ("02.9", "There is no check '02.9' in any chapter.")],
)
def test_an_unknown_name_is_answered_with_the_known_ones(capsys, word, says):
    assert main(["validate", word]) == 1
    assert says in capsys.readouterr().err


def test_a_fault_is_named_and_ends_with_code_1(capsys, monkeypatch, first_check):
    def wrong(x, v):
        return x

    first_check.reference.slips[:] = [first_check.answer]
    first_check.reference.others[:] = [wrong]
    monkeypatch.setattr(first_check.answer, "__doc__", "No slip.")
    monkeypatch.setattr("authoring.__main__._chosen", lambda words: iter([first_check]))
    assert main(["validate", "--seeds=3", "--other-seeds=1"]) == 1
    said = capsys.readouterr().err
    assert "FAULT 02.1, seed 100 and 2 more: the slip 'pull back' passes" in said
    assert "FAULT 02.1, seed 100 and 2 more: the right answer wrong is rejected" in said


def test_a_right_answer_that_comes_near_the_tolerance_is_a_fault(first_check):
    def nearly(x, v):
        return 3 * x**2 * v * (1 + 5e-9)

    first_check.reference.others[:] = [nearly]
    assert "tolerances from the expected one" in validate(first_check, range(0), range(1)).faults[0]


def test_a_slip_that_would_be_named_as_another_is_a_fault(first_check):
    def doubled(x, v):
        """Twice as much."""
        return 6 * x**2 * v

    def doubled_in_vectors(x, v):
        """Twice as much, but for a scalar and a matrix."""
        return doubled(x, v) if x.dim() == 1 else 3 * x**2 * v

    def doubled_but_for_a_scalar(x, v):
        """Twice as much, but for a scalar."""
        return doubled(x, v) if x.dim() > 0 else 3 * x**2 * v

    first_check.reference.slips[:] = [doubled, doubled_in_vectors]
    assert validate(first_check, range(1), range(0)).faults == []  # two of four cases are not enough
    first_check.reference.slips[:] = [doubled, doubled_but_for_a_scalar]
    assert validate(first_check, range(1), range(0)).faults == [
        "02.1, seed 0: an answer like the slip 'doubled but for a scalar' would be named 'doubled'"
    ]
