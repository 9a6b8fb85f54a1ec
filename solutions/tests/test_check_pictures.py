"""The pictures of failed checks: every known slip has one if its values can be drawn."""

import pytest

from authoring.chapter import chapter_names, load_chapter
from gradlab.checks.encoding import decode
from gradlab.checks.plain import as_python
from gradlab.checks.verdict import judge_check
from gradlab.pictures.picture import Picture

DRAWN = [(name, i) for name in chapter_names() for i, check in load_chapter(name).checks.items() if check.picture]


def test_exercises_about_graphs_draw_them():
    assert {"04.2", "04.3", "04.4", "04.5", "04.6", "13.5"} <= {check_id for _, check_id in DRAWN}


@pytest.mark.parametrize(("name", "check_id"), DRAWN)
def test_every_slip_can_be_drawn(name, check_id):
    """In each wrong case of each slip, in full: no error, which a student's run would pass over in silence."""
    check = load_chapter(name).checks[check_id]
    record = check.record([5])
    pictures = []
    for slip in check.reference.slips:
        seen = check.observe(slip, record.cases)
        assert not judge_check(record, seen, check.judge).passed
        for case, want, got in zip(record.cases, record.expected, seen, strict=True):
            if list(map(type, got.values)) == list(map(type, want.values)):
                sides = [[as_python(value) for value in side.values] for side in (got, want)]
                pictures.append(check.picture(decode(case.inputs), *sides))
    found = [picture for picture in pictures if picture is not None]
    assert found
    assert all(isinstance(picture, Picture) for picture in found)


def marked(check_id: str, slip_name: str) -> list[str]:
    """The marked lines of the picture that the student sees who has made this slip."""
    check = load_chapter("04_grad_fn").checks[check_id]
    record = check.record([1])
    slip = next(slip for slip in check.reference.slips if slip.__name__ == slip_name)
    seen = check.observe(slip, record.cases)
    wrong = judge_check(record, seen, check.judge).wrong
    sides = [[as_python(value) for value in side[wrong].values] for side in (seen, record.expected)]
    text = check.picture(decode(record.cases[wrong].inputs), *sides).text
    return sorted({line.strip("├└─│ ").split("  saved")[0] for line in text.splitlines() if "✗" in line})


def test_the_mark_stands_where_the_slip_shows():
    """The lost leaf, the extra node, the wrong count, the call that comes too early, the gradient that was lost.

    In 04.2 and 04.4 the seed names the nodes.
    """

    def without_name(check_id: str, slip_name: str) -> list[str]:
        return [line.partition(" ")[2] for line in marked(check_id, slip_name)]

    assert without_name("04.2", "only_first_entries_followed") == ["(2,) leaf  ✗ missing"]
    assert marked("04.3", "each_node_counted_once") == ["a = MulBackward0 (2,)  ✗ 2 arrive, you count 1"]
    assert without_name("04.4", "in_the_order_of_a_depth_first_walk") == [
        "= MulBackward0 (2,)  ✗ your call 2, too early"
    ]
    assert without_name("04.4", "leaves_left_out") == ["(2,) leaf  ✗ missing"]
    assert marked("04.6", "tensors_instead_of_nodes") == ["x (2,) leaf  ✗ lost: not in your dict"]
    (line,) = marked("04.6", "only_the_first_to_arrive")
    assert line.startswith("x (2,) leaf  ✗ yours [")
