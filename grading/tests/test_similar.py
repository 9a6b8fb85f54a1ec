"""Copied answers are listed as similar; coincidences, released text and common answers are not."""

import nbformat
import pytest
from tiny_class import NAME, RIGHT, TinyClass

from autograder.views.fingerprints import GRAM, WINDOW, grams, tokens, winnow
from autograder.views.similar import find, gather_similar, grouped

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
BACKWARD = """def smooth(x, width):
    left, found = x.numel() - width, {}
    while left >= 0:
        found[left] = sum(x[left + step] for step in range(width)) / float(width) if width else x.new_ones(1)[0]
        left -= 1
    if not found:
        raise ValueError(f"{width} is too wide for {x.numel()} values")
    return torch.cat([found[key].reshape(1) for key in sorted(found)], dim=0)"""
THREE_LINES = """def smooth(x, width):
    windows = x.unfold(0, width, 1)
    count = float(width)
    return windows.sum(dim=-1) / count"""


def listed(**answers: str) -> list[tuple[str, str]]:
    pairs = find({student: {"answer-1": text} for student, text in answers.items()}, GIVEN, [SOLVED])
    return [(pair.left, pair.right) for pair in pairs]


def test_a_copy_with_other_names_comments_and_layout_is_listed():
    assert listed(anna=LONG, bela=RENAMED, cleo=OTHER) == [("anna", "bela")]


def test_two_students_with_the_same_obvious_three_lines_are_not_listed():
    assert listed(anna=THREE_LINES, bela=THREE_LINES, cleo=OTHER) == []


def test_code_from_the_release_and_the_solved_chapter_does_not_count():
    assert find({"anna": {"a": LONG}, "bela": {"a": LONG}}, GIVEN, [LONG]) == []
    assert find({"anna": {"a": LONG}, "bela": {"a": RENAMED.replace("range", "range")}}, [*GIVEN, LONG], []) == []


def test_code_that_many_students_wrote_is_not_listed():
    crowd = {f"student {number}": LONG for number in range(8)}
    assert listed(**crowd, other=OTHER) == []


def test_additional_cells_and_modules_are_compared_too(tmp_path):
    tiny = TinyClass(tmp_path / "class")

    def with_cell(nb):
        nb.cells.insert(2, nbformat.v4.new_code_cell(LONG))

    tiny.hand_in("anna", RIGHT, with_cell)
    tiny.hand_in("bela", RIGHT)
    (tiny.submission("bela") / "helper.py").write_text(RENAMED)
    tiny.hand_in("cleo", RIGHT)
    tiny.grade()
    [group] = gather_similar(tiny.api.coursedir, NAME).groups
    assert (group.students, list(group.matches)) == (["anna", "bela"], ["other cells"])


def test_students_who_are_alike_are_one_group_with_each_ones_matching_lines():
    """Ten wrote the same loop, and two of the others another one."""
    ten, alone = [f"student {number}" for number in range(10)], {f"other {number}": OTHER for number in range(48)}
    answers = dict.fromkeys(ten, LONG) | {"anna": BACKWARD, "bela": BACKWARD} | alone
    pairs = find({student: {"answer-1": text} for student, text in answers.items()}, GIVEN, [SOLVED])
    assert len(pairs) == 45 + 1
    first, second = sorted(grouped(pairs), key=lambda group: group.students)
    assert (first.students, second.students) == (["anna", "bela"], ten)
    assert list(second.matches["answer-1"]) == ten
    assert {3, 4, 8} <= second.matches["answer-1"]["student 9"]


def test_the_same_lines_in_another_exercise_do_not_count():
    assert find({"anna": {"answer-1": LONG}, "bela": {"answer-2": LONG}}, GIVEN) == []


def test_the_most_unlikely_pair_is_first_and_its_matching_lines_are_given():
    twice = LONG + "\n\n\n" + LONG.replace("smooth", "again").replace("zeros", "full").replace("range(0", "range(1 * 0")
    answers = {"anna": twice, "bela": twice, "cleo": LONG, "dana": OTHER, "emil": THREE_LINES}
    first, *_ = find({student: {"answer-1": text} for student, text in answers.items()}, GIVEN)
    assert (first.left, first.right) == ("anna", "bela")
    assert 0.9 < first.share <= 1
    [fragment] = first.fragments
    assert fragment.left == fragment.right
    assert {3, 4, 8} <= fragment.left
    assert {1, 11} & fragment.left == set()


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
        "\f\t0777",
    ],
)
def test_any_submitted_source_can_be_compared(source):
    assert find({"anna": {"a": source + LONG}, "bela": {"a": source + RENAMED}}, GIVEN) is not None


def test_fifteen_tokens_in_a_row_are_never_missed():
    """Winnowing guarantees this at every position."""
    shared = " ".join(f"a{n} +" for n in range((GRAM + WINDOW) // 2)).split()[: GRAM + WINDOW - 1]
    names = {token for token in shared if token != "+"}
    for before in range(20):
        left, right = (tokens(" ".join(["0 -"] * n + shared + ["* 1"] * 9), names) for n in (before, 3))
        assert set(winnow(grams(left))) & set(winnow(grams(right)))
