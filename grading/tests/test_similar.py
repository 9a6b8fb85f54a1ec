"""Copied answers are similar; released text, common answers and coincidences are not. test_report.py has the page."""

import pytest

from autograder.views.similar import find

STUB = 'def smooth(x, width):\n    """Return the mean of each window of x."""\n    raise NotImplementedError'
GIVEN = ["import torch\nfrom gradlab import check", STUB]
SOLVED = "def smooth(x, width):\n    return x.unfold(0, width, 1).mean(dim=-1)"
LONG = """def smooth(x, width):
    parts = []
    for start in range(0, x.numel() - width + 1):
        window = x[start : start + width]
        total = torch.zeros((), dtype=x.dtype)
        for value in window:
            total = total + value
        parts.append(total / max(width, 1))
    return torch.stack(parts)"""
RENAMED = """def smooth(x, width):
    "Ganz allein geschrieben."
    teile = []  # die Teile
    for anfang in range(0, x.numel()-width+1):
        fenster = x[anfang:anfang+width]

        summe = torch.zeros((),
                            dtype=x.dtype)
        for wert in fenster:
            summe = summe+wert
        teile.append(summe/max(width, 1))
    return torch.stack(teile)
"""
OTHER = """def smooth(x, width):
    sums = torch.cumsum(x, dim=0)
    before = torch.cat([sums.new_zeros(1), sums[:-width]])
    return (sums[width - 1 :] - before) / width"""
THREE_LINES = """def smooth(x, width):
    windows = x.unfold(0, width, 1)
    count = float(width)
    return windows.sum(dim=-1) / count"""


def listed(given=(*GIVEN, SOLVED), **answers: str) -> list[tuple[str, str]]:
    return [pair.students for pair in find(answers, given)]


def test_code_from_the_release_or_of_many_students_does_not_count():
    assert listed(anna=LONG, bela=RENAMED, cleo=OTHER) == [("anna", "bela")], "a copy with other names and layout"
    assert listed([*GIVEN, LONG], anna=LONG, bela=RENAMED) == []
    assert listed(**{f"student {number}": LONG for number in range(8)}, other=OTHER) == []


def test_obvious_three_lines_are_not_listed_and_the_pair_with_most_in_common_is_first():
    assert listed(anna=THREE_LINES, bela=THREE_LINES, cleo=OTHER) == []
    twice = f"{LONG}\n\n\n{OTHER}"
    assert listed(anna=LONG, bela=twice, cleo=twice)[0] == ("bela", "cleo")


@pytest.mark.parametrize(
    "source",
    [
        "(" * 29_000,
        "\\\n" * 15_000,
        "'" * 30_000,
        "if x:\n" + " " * 29_000,
        "é\x00\ud800 €€",
        "%%bash\nrm -rf /",
        "x = '''",
    ],
)
def test_any_submitted_source_can_be_compared(source):
    assert listed(anna=source + LONG, bela=source + RENAMED) in ([], [("anna", "bela")])
