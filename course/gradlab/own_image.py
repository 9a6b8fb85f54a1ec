"""A learner's own image: chosen from a file, and resized for a network."""

import io
from dataclasses import dataclass

from .words import _

ACCEPTED = ".png,.jpg,.jpeg,.webp,.bmp,.gif,.tif,.tiff"  # pillow reads these everywhere


class ImageError(ValueError):
    """Raised for a file that is not a readable image; the message is for the learner."""


@dataclass(frozen=True)
class ImageFile:
    """A button that lets the learner choose an image file; a control for `payoff`, whose value is a tuple of files."""

    says: str
    accept: str = ACCEPTED


def image_file():
    """Return a control for `payoff`: a button that lets the learner choose an image file.

    The page passes the file only to the kernel, in one message; Jupyter's server accepts up to 10 MB.
    """
    return ImageFile(_("Choose an image under 10 MB"))


def small_image(files, side):
    """Return the first file's image as light lines on black: a tensor of shape (1, side, side), from 0 to 1.

    files: the button's value. The central square is used, in gray; a light image, such as ink on paper, is inverted.
    Raises ImageError for a file that is not an image.
    """
    import torch
    from torch.nn import functional as F

    gray = torch.from_numpy(_gray(files[0]))
    height, width = gray.shape
    square = min(height, width)
    top, left = (height - square) // 2, (width - square) // 2
    middle = gray[None, None, top : top + square, left : left + square]
    small = F.interpolate(middle, size=(side, side), mode="area")[0]
    small = small - small.min()
    small = small / small.max().clamp(min=1e-6)
    return 1 - small if small.mean() > 0.5 else small


def _gray(file):
    """Return the brightness of each pixel, as float32 (H, W); transparent pixels are white."""
    from matplotlib.image import imread

    name = file["name"]
    try:
        pixels = imread(io.BytesIO(bytes(file["content"])), format="jpg")  # for anything but PNG, pillow detects it
    except Exception as error:  # pillow raises many kinds for damaged files
        text = _("{name} cannot be opened as an image. Choose a PNG or JPEG file.", name=name)
        raise ImageError(text) from error
    import numpy as np

    pixels = np.atleast_3d(pixels).astype(np.float32)
    pixels /= pixels.max() or 1
    colors, opaque = (pixels[..., :-1], pixels[..., -1]) if pixels.shape[2] in (2, 4) else (pixels, 1)
    return np.asarray(colors.mean(2) * opaque + 1 - opaque, np.float32)
