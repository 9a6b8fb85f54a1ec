"""A drawing of the learner's own: whatever its size and place, it fills the small image as handwritten digits do."""

import numpy as np
import pytest

from gradlab import small_drawing

SEVEN = [[[0.2, 0.1], [0.6, 0.1], [0.3, 0.9]], [[0.3, 0.5], [0.5, 0.5]]]


def test_a_drawing_anywhere_in_the_field_and_of_any_size_gives_the_same_image():
    small = [[[0.5 + x / 4, 0.6 + y / 4] for x, y in stroke] for stroke in SEVEN]
    assert np.abs(small_drawing(SEVEN, 8) - small_drawing(small, 8)).max() <= 1 / 16
    assert (small_drawing(SEVEN, 8).max(1) > 0).all(), "it fills the height"


@pytest.mark.parametrize("strokes", [[[[0.5, 0.5]]], [[[0.1, 0.5], [0.9, 0.5]]], [[[0.4, 0.0], [0.4, 1.0]]]])
def test_a_dot_and_straight_lines_have_ink_and_stay_inside(strokes):
    image = small_drawing(strokes, 8)
    assert image.shape == (8, 8)
    assert 0 < image.sum() < 24
    assert 0.5 <= image.max() <= 1
