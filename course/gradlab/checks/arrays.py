"""Compare two tensors or arrays, element by element."""

import math
from typing import Any

import numpy as np

from ..words import _
from .observation import Array, Float, Tensor, Value, shape_of
from .plain import TOLERANCES, as_array, nonfinite

ALMOST = 1e-3  # a relative error between the tolerance and this value means a correct formula with too few digits
MOST_TIMES = 1e6  # a larger factor is not reported: it means that the expected values are rounding errors around 0


def compare_arrays(want: Tensor | Array, got: Tensor | Array) -> tuple[str, tuple[int, ...] | None] | None:
    """Return the kind of the first difference between two encoded tensors or arrays, and its element's index if any.

    None if they agree.
    """
    if want == got:
        return None
    if shape_of(want) != shape_of(got):
        return "shape", None
    if want.dtype != got.dtype:
        return "dtype", None
    g, _w, differs = elements(got, want)
    if differs.any():
        index = tuple(int(i) for i in np.argwhere(differs)[0])
        return "nan" if g.dtype.kind == "f" and np.isnan(g[index]) else "value", index
    if isinstance(want, Tensor) and isinstance(got, Tensor) and want.requires_grad != got.requires_grad:
        return "graph", None
    return None


def elements(got: Tensor | Array, want: Tensor | Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the numbers of two tensors or arrays of one shape and dtype, and a mask of those that differ."""
    g, w = as_array(got), as_array(want)
    tolerance = TOLERANCES.get(want.dtype)
    if tolerance is None:
        return g, w, w != g
    g, w = g.astype(float), w.astype(float)
    with np.errstate(invalid="ignore"):
        close = np.isfinite(w) & (np.abs(w - g) <= tolerance.atol + tolerance.rtol * np.abs(w))
    return g, w, ~((w == g) | close | (np.isnan(w) & np.isnan(g)))


def scalar(number: Any) -> Value:
    """Return an element of an array as an encoded value."""
    value = number.item()
    return value if type(value) is not float or math.isfinite(value) else Float(nonfinite(value))


def pattern(g: np.ndarray, w: np.ndarray) -> str:
    """Return a sentence on an error that all elements of `g` share, compared with `w`; "" if there is no simple one."""
    if w.dtype.kind != "f" or g.dtype.kind != "f" or not np.isfinite(g).all() or not np.isfinite(w).all():
        return ""
    error = np.abs(g - w) / np.where(w == 0, 1, np.abs(w))
    if error.max(initial=0) <= ALMOST:
        digits = round(-math.log10(error.max()))  # at least 3
        return _("Right to about {count} digits, and the check needs more.", count=digits)
    if w.size < 2 or not w.all():
        return ""
    if not g.any():
        return _("All your values are zero.")
    ratio = g / w
    if np.allclose(ratio, ratio.flat[0], rtol=1e-6, atol=0) and 1 / MOST_TIMES <= abs(ratio.flat[0]) <= MOST_TIMES:
        return _("Each of your values is {ratio:.4g} times the expected one.", ratio=ratio.flat[0])
    offset = g - w
    if np.allclose(offset, offset.flat[0], rtol=1e-6, atol=1e-12):
        if offset.flat[0] > 0:
            return _("Each of your values is too large by {by:.4g}.", by=offset.flat[0])
        return _("Each of your values is too small by {by:.4g}.", by=-offset.flat[0])
    if w.ndim == 2 and w.shape[0] == w.shape[1] and np.allclose(g, w.T, rtol=1e-6, atol=1e-12):
        return _("Your result is the transpose of the expected one.")
    if np.allclose(np.sort(g, axis=None), np.sort(w, axis=None), rtol=1e-6, atol=1e-12):
        return _("Your result has the right values in a different order.")
    return ""
