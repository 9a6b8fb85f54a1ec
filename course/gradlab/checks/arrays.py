"""Compare two tensors or arrays, element by element."""

import math

import numpy as np

from .difference import TOLERANCES, Difference
from .observation import Array, Float, Tensor, Value, shape_of
from .plain import as_array, nonfinite
from .show import show, shown_apart

ALMOST = 1e-3  # a relative error between the tolerance and this value means a correct formula with too few digits
MOST_TIMES = 1e6  # a larger factor is not reported: it means that the expected values are rounding errors around 0
_FLOAT32 = "In torch, .float() returns float32, and so do zeros, ones, eye and tensor of floats without dtype=."


def compare_arrays(want: Tensor | Array, got: Tensor | Array, where: str) -> Difference | None:
    """Return the first difference between two encoded tensors or arrays, or None if they agree."""
    if want == got:
        return None
    if shape_of(want) != shape_of(got):
        yours, expected = shape_of(got), shape_of(want)
        turned = len(expected) == 2 and yours == expected[::-1]
        note = "Your two dimensions are swapped." if turned else ""
        return Difference("shape", where, f"shape {yours}", f"shape {expected}", note)
    if want.dtype != got.dtype:
        note = _FLOAT32 if isinstance(got, Tensor) and (got.dtype, want.dtype) == ("float32", "float64") else ""
        return Difference("dtype", where, got.dtype, want.dtype, note)
    w, g = as_array(want), as_array(got)
    tolerance = TOLERANCES.get(want.dtype)
    if tolerance is None:
        differs = w != g
    else:
        w, g = w.astype(float), g.astype(float)
        with np.errstate(invalid="ignore"):
            close = np.isfinite(w) & (np.abs(w - g) <= tolerance.atol + tolerance.rtol * np.abs(w))
        differs = ~((w == g) | close | (np.isnan(w) & np.isnan(g)))
    if differs.any():
        return _array_difference(want, got, w, g, differs, where)
    if isinstance(want, Tensor) and isinstance(got, Tensor) and want.requires_grad != got.requires_grad:
        return Difference("graph", where, _graph_text(got), _graph_text(want))
    return None


def _array_difference(
    want: Value, got: Value, w: np.ndarray, g: np.ndarray, differs: np.ndarray, where: str
) -> Difference:
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    kind = "nan" if g.dtype.kind == "f" and np.isnan(g[index]) else "value"
    at = f"index {list(index)}" if index else "the value"
    at += f" ({int(differs.sum())} of {differs.size} elements differ)" if differs.size > 1 else ""
    at += f" in {where}" if where else ""
    yours, expected = shown_apart(_scalar(g[index]), _scalar(w[index]))
    if w.size > 1:
        yours, expected = f"{yours}   in {show(got)}", f"{expected}   in {show(want)}"
    return Difference(kind, at, yours, expected, _pattern(w, g), arrays=(g, w, differs) if w.size > 1 else ())


def _scalar(number: np.generic) -> Value:
    value = number.item()
    return value if type(value) is not float or math.isfinite(value) else Float(nonfinite(value))


def _pattern(w: np.ndarray, g: np.ndarray) -> str:
    """Return a sentence on an error that all elements of `g` share, compared with `w`; "" if there is no simple one."""
    if w.dtype.kind != "f" or g.dtype.kind != "f" or not np.isfinite(g).all() or not np.isfinite(w).all():
        return ""
    error = np.abs(g - w) / np.where(w == 0, 1, np.abs(w))
    if error.max(initial=0) <= ALMOST:
        return f"Right to about {-math.log10(error.max()):.0f} digits, and the check needs more."
    if w.size < 2 or not w.all():
        return ""
    if not g.any():
        return "All your values are zero."
    ratio = g / w
    if np.allclose(ratio, ratio.flat[0], rtol=1e-6, atol=0) and 1 / MOST_TIMES <= abs(ratio.flat[0]) <= MOST_TIMES:
        return f"Each of your values is {ratio.flat[0]:.4g} times the expected one."
    offset = g - w
    if np.allclose(offset, offset.flat[0], rtol=1e-6, atol=1e-12):
        return f"Each of your values is too {'large' if offset.flat[0] > 0 else 'small'} by {abs(offset.flat[0]):.4g}."
    if w.ndim == 2 and w.shape[0] == w.shape[1] and np.allclose(g, w.T, rtol=1e-6, atol=1e-12):
        return "Your result is the transpose of the expected one."
    if np.allclose(np.sort(g, axis=None), np.sort(w, axis=None), rtol=1e-6, atol=1e-12):
        return "Your result has the right values in a different order."
    return ""


def _graph_text(tensor: Tensor) -> str:
    if tensor.grad_fn:
        return f"a tensor that is part of a graph (grad_fn=<{tensor.grad_fn}>)"
    return f"requires_grad={tensor.requires_grad}"
