"""A learner's own drawing: made with the mouse, a pen or a finger, and reduced to a small image."""

from dataclasses import dataclass

from .words import _

PEN, NARROW = 7 / 32, 0.65  # the width of a line, and the most that a drawing may be wide, as parts of the image's side
FINE = 4  # pixels along each side of a pixel of the result


@dataclass(frozen=True)
class Drawing:
    """A field to draw in; a control for `payoff`. Its value is a list of strokes, empty if nothing is drawn.

    A stroke is a list of points [x, y], each number from 0 to 1; y grows downward.
    """

    says: str


def drawing(says=""):
    """Return a control for `payoff`: a field to draw in, with these words above it; by default, "Draw here".

    Give the payoff another control that shows the same without drawing, such as a list of examples.
    """
    return Drawing(says or _("Draw here"))


def small_drawing(strokes, side):
    """Return a drawing as an array (side, side), from 0 to 1: the ink in each pixel.

    strokes: the field's value, with at least one point. The drawing is stretched to the full height and at most 65 % of
    the width, as in collections of handwritten digits.
    """
    import numpy as np

    points = np.concatenate([np.array(stroke, float) for stroke in strokes])
    low, high = points.min(0), points.max(0)
    width, height = np.maximum(high - low, 0.05)
    fine = FINE * side
    room = fine * (1 - PEN)
    scale = np.array([min(room / height, NARROW * room / width), room / height])
    centers = np.arange(fine) + 0.5
    pixels = np.stack(np.meshgrid(centers, centers), -1)[:, :, None]
    ink = np.zeros((fine, fine), bool)
    for stroke in strokes:
        corners = (np.array(stroke, float) - (low + high) / 2) * scale + fine / 2
        lines = np.diff(corners, axis=0, append=corners[-1:])  # the last one has no length: a stroke may be a dot
        along = ((pixels - corners) * lines).sum(-1) / np.maximum((lines**2).sum(-1), 1e-9)
        away = pixels - corners - along.clip(0, 1)[..., None] * lines
        ink |= ((away**2).sum(-1) <= (PEN * fine / 2) ** 2).any(-1)
    return ink.reshape(side, FINE, side, FINE).mean((1, 3))
