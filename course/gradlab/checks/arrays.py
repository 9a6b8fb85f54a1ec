"""Compare two tensors or arrays, element by element."""

import numpy as np

from .observation import Array, Tensor, shape_of
from .plain import TOLERANCES, as_array


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
