"""Describe a map in words: how large its values are and where, so coarsely that rounding changes no word."""

import numpy as np

from ..words import N_, _

FAINT = 0.01  # times the largest magnitude: smaller values are hardly visible, and may be rounding errors
EDGES = (0.41, 0.59)  # the limits of upper, middle and lower, as fractions of the height; likewise for the width
NARROW = 0.23  # the largest standard deviation of values in one place, as a fraction of the map's size
PLACES = (
    (N_("mostly in the upper left"), N_("mostly at the top"), N_("mostly in the upper right")),
    (N_("mostly on the left"), N_("mostly in the middle"), N_("mostly on the right")),
    (N_("mostly in the lower left"), N_("mostly at the bottom"), N_("mostly in the lower right")),
)


def in_words(map):
    """Describe an array of shape (h, w): its range to two digits, and the position of its large values.

    >>> in_words(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.7312]]))
    'up to 0.73, mostly in the lower right'
    """
    known = np.isfinite(map)
    if not known.any():
        return _("no finite value")
    words = _magnitudes(np.where(known, map, 0.0))
    if known.all():
        return words
    return _("{map}; not finite: {unknown} of {total} values", map=words, unknown=(~known).sum(), total=known.size)


def _magnitudes(values):
    most = np.abs(values).max()
    if most == 0:
        return _("0 everywhere")
    below, above = (
        f"{sign}{float(f'{part.max():.2g}'):g}, {_place(part / most)}" if part.max() >= FAINT * most else ""
        for sign, part in (("−", (-values).clip(0)), ("", values.clip(0)))
    )
    # Translators: {below} and {above} are a number and its place: "0.73, mostly in the lower right"
    if below and above:
        return _("from {below}, to {above}", below=below, above=above)
    return _("up to {above}", above=above) if above else _("down to {below}", below=below)


def _place(part):
    """Return in words where values from 0 to 1 are large: their mean position, weighted by their squares.

    A weighted mean moves as little as the values do; the maximum jumps if two values are nearly equal.
    """
    weights = part**2 / (part**2).sum()
    means, variance = [], 0.0
    for along in (weights.sum(1), weights.sum(0)):
        places = (np.arange(len(along)) + 0.5) / len(along)
        means.append((along * places).sum())
        variance += (along * (places - means[-1]) ** 2).sum()
    if variance > NARROW**2:
        return _("not in one place")
    row, column = (sum(mean > edge for edge in EDGES) for mean in means)
    return _(PLACES[row][column])
