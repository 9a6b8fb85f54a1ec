"""A learner's own image or drawing becomes light lines on black, as handwritten digits are."""

import io

import numpy as np
import pytest
import torch
from matplotlib.image import imsave

from gradlab import small_drawing, small_image
from gradlab.own_image import ImageError


def file_of(pixels, kind="png"):
    """A file of pixels from 0 to 1, (H, W) or (H, W, 4), as the button holds it."""
    data = io.BytesIO()
    imsave(data, pixels, format=kind, cmap="gray", vmin=0, vmax=1)
    return [{"name": f"mine.{kind}", "content": memoryview(data.getvalue())}]


def drawing(ink, paper):
    """A square of 40 pixels a side in the middle of a wide sheet."""
    sheet = np.full((80, 160), paper)
    sheet[20:60, 60:100] = ink
    return sheet


MIDDLE = torch.nn.functional.pad(torch.ones(1, 2, 2), (1, 1, 1, 1))


@pytest.mark.parametrize("kind", ["png", "jpg", "webp", "tiff"])
def test_ink_on_paper_becomes_light_on_black_in_the_middle_square(kind):
    assert torch.allclose(small_image(file_of(drawing(0.1, 0.9), kind), 4), MIDDLE, atol=0.05)


def test_light_lines_stay_light_and_what_is_transparent_is_paper():
    assert torch.allclose(small_image(file_of(drawing(1.0, 0.0)), 4), MIDDLE, atol=0.02)
    clear = np.zeros((80, 80, 4))
    clear[20:60, 20:60, 3] = 1
    assert torch.allclose(small_image(file_of(clear), 4), MIDDLE, atol=0.02)


@pytest.mark.parametrize("content", [b"", b"words", file_of(drawing(0.0, 1.0))[0]["content"][:200]])
def test_a_file_without_an_image_is_refused_in_words(content):
    with pytest.raises(ImageError, match=r"notes.txt cannot be opened as an image. Choose a PNG or JPEG file."):
        small_image([{"name": "notes.txt", "content": content}], 4)


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
