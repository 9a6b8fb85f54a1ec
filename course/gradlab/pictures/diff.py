"""A small picture of a wrong answer: yours, the expected array, and the difference."""

import numpy as np

from ..words import N_, _
from .cells import CELL_H, TILE, cell_width, largest, mosaic, table
from .graph import number
from .picture import PAGE, TITLE, Picture, label, static, svg, text_width, wrapped

WRITTEN = 8  # maximum number of rows and columns with numbers in the cells
SHOWN = 32  # maximum number of rows and columns shown
WIDE = 520  # maximum px for tables side by side: the width of a small window
ROUNDING = float(np.finfo(float).tiny)  # replaces every difference that is only a rounding error


YOURS, EXPECTED, DIFFERENCE = N_("yours"), N_("expected"), N_("difference")
# Translators: {name} is "expected" or "torch's", {largest} may be "−8 at index (1,)"
_DIFFER = N_(
    "{count} of {total} elements differ; the largest difference is {largest}: yours {yours}, {name} {expected}."
)


def difference_picture(yours, expected, expected_name=EXPECTED, wrong=None):
    """Draw two arrays and their difference side by side, with the differing elements marked.

    `wrong` is a boolean array of the shape of `expected` that marks the differing elements; by default, those outside
    NumPy's usual tolerance. Arrays of more than two dimensions are drawn as rows of their last dimension. Large arrays
    are cropped to the region around the largest difference. If the shapes differ, there is no difference to draw.
    """
    a, b = np.asarray(yours), np.asarray(expected)
    if a.shape != b.shape:
        shapes = {"yours": a.shape, "name": _(expected_name), "expected": b.shape}
        # Translators: {name} is "expected" or "torch's"
        text = _("The shapes differ: yours is {yours}, {name} is {expected}.", **shapes)
        panels = [(YOURS, _flat(a), None), (expected_name, _flat(b), None)]
        return _draw(panels, text, (0, 0))
    a, b = (array.astype(float) for array in (a, b))
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, a - b)
        if wrong is None:
            wrong = ~np.isclose(a, b, equal_nan=True)
        wrong = np.broadcast_to(np.asarray(wrong, bool), a.shape)
    difference = np.where((difference != 0) & ~wrong, ROUNDING, difference)
    size = np.where(np.isfinite(difference), np.abs(difference), np.inf)
    text = _words(a, b, difference, wrong, size, _(expected_name))
    worst = np.unravel_index(int(np.argmax(_flat(size))), _flat(size).shape) if size.size else (0, 0)
    marks = _flat(wrong)
    panels = [(YOURS, _flat(a), marks), (expected_name, _flat(b), None), (DIFFERENCE, _flat(difference), marks)]
    return _draw(panels, text, worst)


def _difference(value):
    """Return a difference as text: "≈ 0" if it is only a rounding error."""
    return "≈ 0" if 0 < abs(value) <= ROUNDING else number(value)


def _flat(array):
    """Return the array as rows and columns."""
    return array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)


def _words(a, b, difference, wrong, size, name):
    count = int(wrong.sum())
    if not count:
        # Translators: {name} is "expected" or "torch's"
        return _("All {count} elements agree with {name}.", count=a.size, name=name)
    index = tuple(map(int, np.unravel_index(int(np.argmax(np.where(wrong, size, -1))), a.shape)))
    largest, mine, wanted = (number(float(array[index])) for array in (difference, a, b))
    if a.ndim:
        largest = _("{number} at index {index}", number=largest, index=index)
    parts = {"count": count, "total": a.size, "largest": largest, "yours": mine, "name": name, "expected": wanted}
    return _(_DIFFER, **parts)


def _window(length, centre):
    """Return the range of indices to show around `centre`: the first, and one past the last."""
    first = max(0, min(centre - SHOWN // 2, length - SHOWN))
    return first, min(length, first + SHOWN)


def _draw(panels, text, worst):
    tables = []
    for name, array, marks in panels:
        array = array.astype(float)
        (top, bottom), (left, right) = _window(array.shape[0], worst[0]), _window(array.shape[1], worst[1])
        cut = array[top:bottom, left:right]
        tables.append((name, cut.tolist(), None if marks is None else marks[top:bottom, left:right], top, left))
    written = all(len(rows) <= WRITTEN and all(len(row) <= WRITTEN for row in rows) for name, rows, *rest in tables)
    w, h = (cell_width(*(rows for name, rows, *rest in tables)), CELL_H) if written else (TILE, TILE)
    common = max((largest(rows) for name, rows, *rest in tables if name != DIFFERENCE), default=0)
    body, x, y, width, height = [], 6, 0, 0, 0
    for name, rows, marks, top, left in tables:
        wide = max(text_width(_(name), TITLE, bold=True), max((len(row) for row in rows), default=0) * w) + 26
        if written and x > 6 and x + wide > WIDE:
            x, y = 6, height + 14
        body.append(label(x + 26, y + 14, _(name), "gl-t gl-note", "start"))
        most = largest(rows) if name == DIFFERENCE else common
        if written:
            columns = range(len(rows[0]) if rows else 0)
            body += [label(x + 26 + w // 2 + j * w, y + 32, str(left + j), "gl-note") for j in columns]
            body += [label(x + 20, y + 38 + i * h + 16, str(top + i), "gl-note", "end") for i in range(len(rows))]
        few = marks is not None and (written or marks.mean() < 0.25)  # many marks hide the colors
        marked = (lambda i, j, m=marks: bool(m[i, j])) if few else (lambda i, j: False)
        shown = _difference if name == DIFFERENCE else number
        at = x + 26, y + 38
        body.append(table(*at, rows, w, most, "", marked, shown) if written else mosaic(*at, rows, most, marked))
        height = max(height, y + 38 + len(rows) * h)
        x += wide + 22
        width = max(width, x)
    lines = [] if written and len(tables) == 3 else wrapped(text)  # numbers and marks say it all
    body += [label(6, height + 20 + 16 * k, line, "gl-note", "start") for k, line in enumerate(lines)]
    width, height = max([width, *(text_width(line) + 12 for line in lines)]), height + 12 + 16 * len(lines)
    image = svg(width, height, "".join(body), text, static("cells.css"), beside=PAGE if written else None)
    return Picture(image, text, text)
