"""The picture of a wrong answer marks the elements that differ, and can draw any two arrays of one shape."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from gradlab.pictures.diff import difference_picture

SVG = "{http://www.w3.org/2000/svg}"


def drawn(yours, expected, name="expected"):
    yours, expected = np.array(yours), np.array(expected)
    return difference_picture(yours, expected, name, ~np.isclose(yours, expected, equal_nan=True))


def marked(picture):
    return [
        g.find(f"{SVG}text").text
        for g in ET.fromstring(picture.svg).iter(f"{SVG}g")
        if "gl-marked" in g.get("class", "")
    ]


def test_it_names_the_largest_difference():
    expected = np.arange(6.0).reshape(2, 3)
    yours = expected.copy()
    yours[1, 2] = 6.5
    yours[0, 1] = 0.5
    picture = drawn(yours, expected, "torch's")
    assert picture.text == (
        "2 of 6 elements differ; the largest difference is 1.5 at index (1, 2): yours 6.5, torch's 5."
    )
    assert marked(picture) == ["0.5", "6.5", "−0.5", "1.5"], "in yours, then in the difference"
    texts = [t.text for t in ET.fromstring(picture.svg).iter(f"{SVG}text")]
    assert [t for t in texts if t in ("yours", "torch's", "difference")] == ["yours", "torch's", "difference"]


def test_what_is_only_rounding_is_shown_as_such():
    picture = drawn([1.0, 0.1 + 0.2, 5.0], [1.0, 0.3, 2.0])
    texts = [t.text for t in ET.fromstring(picture.svg).iter(f"{SVG}text")]
    assert "≈ 0" in texts
    assert not any("e−" in text for text in texts)
    assert marked(picture) == ["5", "3"]
    assert picture.text.startswith("1 of 3 elements differ; the largest difference is 3 at index (2,)")


@pytest.mark.parametrize(
    ("yours", "expected", "text"),
    [
        ([np.nan, 1.0], [0.0, 1.0], "the largest difference is nan at index (0,): yours nan, expected 0."),
        ([np.inf, 1.0], [np.inf, 9.0], "the largest difference is −8 at index (1,): yours 1, expected 9."),
        ([True, False], [True, True], "the largest difference is −1 at index (1,): yours 0, expected 1."),
        (np.zeros((2, 3, 4)), np.ones((2, 3, 4)), "24 of 24 elements differ; the largest difference is −1"),
    ],
)
def test_any_two_arrays_of_one_shape_can_be_drawn(yours, expected, text):
    picture = drawn(yours, expected)
    assert text in picture.text
    ET.fromstring(picture.svg)
    assert picture.svg == drawn(yours, expected).svg


def test_large_arrays_are_cut_around_the_difference():
    """The picture stays small, and the wrong element is in it."""
    expected = np.random.default_rng(0).normal(size=(200, 300))
    yours = expected.copy()
    yours[150, 20] += 100
    picture = drawn(yours, expected)
    assert "at index (150, 20)" in picture.text
    assert len(picture.html()) < 150_000
    assert re.search(r'class="gl-outline" d="M[^"]+"', picture.svg)
