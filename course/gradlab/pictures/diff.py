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


YOURS, DIFFERENCE = N_("yours"), N_("difference")
# Translators: {name} is "expected" or "torch's", {largest} may be "−8 at index (1,)"
_DIFFER = N_(
    "{count} of {total} elements differ; the largest difference is {largest}: yours {yours}, {name} {expected}."
)


def difference_picture(yours, expected, name, wrong):
    """Draw two arrays of one shape and their difference side by side, with the differing elements marked.

    `name` is shown above the expected array. `wrong` is a boolean array that marks the differing elements. Arrays of
    more than two dimensions are drawn as rows of their last dimension. Large arrays are cropped to the region around
    the largest difference.
    """
    a, b = yours.astype(float), expected.astype(float)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, a - b)
    difference = np.where((difference != 0) & ~wrong, ROUNDING, difference)
    size = np.where(np.isfinite(difference), np.abs(difference), np.inf)
    worst = np.unravel_index(int(np.argmax(np.where(wrong, size, -1))), a.shape)
    at = [number(float(array[worst])) for array in (difference, a, b)]
    largest = _("{number} at index {index}", number=at[0], index=tuple(map(int, worst)))
    counts = {"count": int(wrong.sum()), "total": a.size}
    text = _(_DIFFER, **counts, largest=largest, yours=at[1], name=_(name), expected=at[2])
    panels = {YOURS: _flat(a), name: _flat(b), DIFFERENCE: _flat(difference)}
    return _draw(panels, _flat(wrong), text, np.unravel_index(int(np.argmax(size)), _flat(size).shape))


def _difference(value):
    """Return a difference as text: "≈ 0" if it is only a rounding error."""
    return "≈ 0" if 0 < abs(value) <= ROUNDING else number(value)


def _flat(array):
    """Return the array as rows and columns."""
    return array.reshape(-1, array.shape[-1])


def _window(length, centre):
    """Return the range of indices to show around `centre`."""
    first = max(0, min(centre - SHOWN // 2, length - SHOWN))
    return slice(first, min(length, first + SHOWN))


def _draw(panels, wrong, text, centre):
    """Draw arrays of rows and columns, given by name, around the element `centre`; the expected ones have no marks."""
    window = tuple(map(_window, wrong.shape, centre))
    wrong = wrong[window]
    tables = {name: array[window].tolist() for name, array in panels.items()}
    written = max(wrong.shape) <= WRITTEN
    w, h = (cell_width(*tables.values()), CELL_H) if written else (TILE, TILE)
    common = max(largest(rows) for name, rows in tables.items() if name != DIFFERENCE)
    few = written or wrong.mean() < 0.25  # many marks hide the colors
    body, x, y, width, height = [], 6, 0, 0, 0
    for name, rows in tables.items():
        wide = max(text_width(_(name), TITLE, bold=True), len(rows[0]) * w) + 26
        if written and x > 6 and x + wide > WIDE:
            x, y = 6, height + 14
        body.append(label(x + 26, y + 14, _(name), "gl-t gl-note", "start"))
        if written:
            numbers = [range(part.start, part.stop) for part in window]
            body += [label(x + 26 + w // 2 + j * w, y + 32, str(n), "gl-note") for j, n in enumerate(numbers[1])]
            body += [label(x + 20, y + 38 + i * h + 16, str(n), "gl-note", "end") for i, n in enumerate(numbers[0])]
        marked = (wrong & (few and name in (YOURS, DIFFERENCE))).item
        most, shown = (largest(rows), _difference) if name == DIFFERENCE else (common, number)
        at = x + 26, y + 38
        body.append(table(*at, rows, w, most, "", marked, shown) if written else mosaic(*at, rows, most, marked))
        height = max(height, y + 38 + len(rows) * h)
        x += wide + 22
        width = max(width, x)
    lines = [] if written else wrapped(text)  # numbers and marks say it all
    body += [label(6, height + 20 + 16 * k, line, "gl-note", "start") for k, line in enumerate(lines)]
    width, height = max([width, *(text_width(line) + 12 for line in lines)]), height + 12 + 16 * len(lines)
    image = svg(width, height, "".join(body), text, static("cells.css"), beside=PAGE if written else None)
    return Picture(image, text, text)
