"""Functions that create tensors, from sizes or from data."""

import numpy as np

from ..core.tensor import Tensor, make
from ..values import dtypes
from .shaping import sizes_of

_generator = np.random.default_rng(0)


def manual_seed(seed):
    """Seed the random numbers. They are NumPy's, so the same seed gives different numbers from torch's."""
    global _generator
    _generator = np.random.default_rng(seed)


def _finish(array, dtype, requires_grad):
    if dtype is not None:
        array = array.astype(dtype.numpy, copy=False)
    if requires_grad and array.dtype.kind != "f":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    tensor = make(array)
    tensor._requires_grad = requires_grad
    return tensor


def tensor(data, *, dtype=None, requires_grad=False):
    """Return a new leaf with a copy of `data` (a number, nested lists, an array).

    Python floats get the default dtype (float32); arrays keep theirs.
    """
    if isinstance(data, Tensor):
        raise TypeError(
            "tensor() of the mini engine takes numbers, lists or an array; copy a Tensor with x.detach().clone()"
        )
    array = np.array(data)
    if array.dtype.kind not in "bif":
        raise TypeError(f"tensor() takes numbers, nested lists of numbers or an array, not {type(data).__name__}")
    if array.dtype.kind == "f" and not isinstance(data, (np.ndarray, np.generic)):
        dtype = dtype or dtypes.DEFAULT
    if dtype is None:
        dtypes.of(array.dtype)  # raises TypeError for other dtypes
    return _finish(array, dtype, requires_grad)


def from_numpy(array):
    """Return a tensor that shares memory with `array`."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array.dtype)
    return make(array)


def _filled(value):
    def fill(*size, dtype=None, requires_grad=False):
        return _finish(np.full(sizes_of(size), value, (dtype or dtypes.DEFAULT).numpy), None, requires_grad)

    def fill_like(input, *, dtype=None, requires_grad=False):
        return fill(input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)

    return fill, fill_like


zeros, zeros_like = _filled(0)
ones, ones_like = _filled(1)


def arange(start, end=None, step=1, *, dtype=None, requires_grad=False):
    """Return start, start + step, … below end."""
    start, end = (0, start) if end is None else (start, end)
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    array = np.arange(start, end, step)
    return _finish(array, dtype or (dtypes.DEFAULT if array.dtype.kind == "f" else None), requires_grad)


def rand(*size, dtype=None, requires_grad=False):
    """Return uniform random numbers in [0, 1)."""
    return _finish(np.asarray(_generator.random(sizes_of(size))), dtype or dtypes.DEFAULT, requires_grad)
