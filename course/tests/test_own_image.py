"""An image of the learner's own: any usual file becomes light lines on black, and anything else is refused in words."""

import io

import numpy as np
import pytest
import torch
from matplotlib.image import imsave

from gradlab import small_image
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
