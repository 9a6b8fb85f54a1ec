"""Functions that create tensors, from sizes or from data."""

import warnings

import numpy as np

from ..core.tensor import Tensor, make
from ..values import dtypes
from ..values.size import Size

COPY_TENSOR = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)

_generator = np.random.default_rng(0)


def manual_seed(seed):
    """Seed the random numbers. They are NumPy's, so the same seed gives different numbers from torch's."""
    global _generator
    _generator = np.random.default_rng(seed)
    return _generator


def generator():
    """Return the generator that every random operation draws from."""
    return _generator


def _finish(array, dtype, requires_grad):
    if dtype is not None:
        array = array.astype(dtype.numpy, copy=False)
    if requires_grad and array.dtype.kind != "f":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    tensor = make(array)
    tensor._requires_grad = requires_grad
    return tensor


def _plain(data):
    """Return `data`, a number or nested lists, with each tensor in it replaced by a number or nested lists."""
    if isinstance(data, Tensor):
        return data._data.item() if data._data.size == 1 else data.tolist()
    return [_plain(item) for item in data] if isinstance(data, (list, tuple)) else data


def _check_lengths(data, dim=0):
    if not isinstance(data, (list, tuple)) or not data or not isinstance(data[0], (list, tuple)):
        return
    for item in data:
        if len(item) != len(data[0]):
            raise ValueError(f"expected sequence of length {len(data[0])} at dim {dim + 1} (got {len(item)})")
        _check_lengths(item, dim + 1)


def tensor(data, *, dtype=None, device=None, requires_grad=False):
    """Return a new leaf with a copy of `data` (numbers, nested lists, an array).

    Python floats get the default dtype (float32); arrays keep theirs.
    """
    if isinstance(data, Tensor):
        warnings.warn(COPY_TENSOR, UserWarning, stacklevel=2)
        return _finish(data._data.copy(), dtype, requires_grad)
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.array(data)
        dtypes.of(array.dtype)
    else:
        data = _plain(data)
        _check_lengths(data)
        array = np.array(data)
        if array.dtype.kind == "f":
            array = array.astype((dtype or dtypes.get_default_dtype()).numpy)
        elif array.dtype.kind not in "bi":
            raise TypeError(f"tensor() takes numbers, nested lists of numbers or an array, not {type(data).__name__}")
    return _finish(array, dtype, requires_grad)


def as_tensor(data, dtype=None, device=None):
    """Return `data` as a tensor, sharing memory if possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return _finish(data, dtype, False) if isinstance(data, np.ndarray) else tensor(data, dtype=dtype)


def from_numpy(array):
    """Return a tensor that shares memory with `array`."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array.dtype)
    return make(array)


def _shape(sizes):
    if len(sizes) == 1 and not isinstance(sizes[0], int):
        sizes = sizes[0]
    return Size(int(n) for n in sizes)


def _filled(value):
    def fill(*size, dtype=None, device=None, requires_grad=False):
        dtype = dtype or dtypes.get_default_dtype()
        return _finish(np.full(_shape(size), value, dtype.numpy), None, requires_grad)

    return fill


zeros, ones, empty = _filled(0), _filled(1), _filled(0)


def full(size, fill_value, *, dtype=None, device=None, requires_grad=False):
    """Return a tensor of shape `size` filled with `fill_value`, whose type determines the dtype."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    if dtype is None:
        dtype = dtypes.bool if isinstance(value, bool) else dtypes.int64 if isinstance(value, int) else None
    return _finish(np.full(_shape((size,)), value, (dtype or dtypes.get_default_dtype()).numpy), None, requires_grad)


def arange(start, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """Return start, start + step, … below end."""
    start, end = (0, start) if end is None else (start, end)
    array = np.arange(start, end, step)
    if dtype is None and array.dtype.kind == "f":
        dtype = dtypes.get_default_dtype()
    return _finish(array, dtype, requires_grad)


def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False):
    """Return `steps` numbers from start to end, both included."""
    return _finish(np.linspace(start, end, steps), dtype or dtypes.get_default_dtype(), requires_grad)


def eye(n, m=None, *, dtype=None, device=None, requires_grad=False):
    """Return the identity matrix."""
    return _finish(np.eye(n, m), dtype or dtypes.get_default_dtype(), requires_grad)


def rand(*size, dtype=None, device=None, requires_grad=False):
    """Return uniform random numbers in [0, 1)."""
    return _finish(_generator.random(_shape(size)), dtype or dtypes.get_default_dtype(), requires_grad)


def randn(*size, dtype=None, device=None, requires_grad=False):
    """Return normally distributed random numbers."""
    array = np.asarray(_generator.standard_normal(_shape(size)))
    return _finish(array, dtype or dtypes.get_default_dtype(), requires_grad)


def randint(low, high=None, size=None, *, dtype=None, device=None):
    """Return random integers from low (default 0) up to high, which is excluded."""
    if size is None:
        low, high, size = 0, low, high
    return _finish(np.asarray(_generator.integers(low, high, _shape((size,)))), dtype or dtypes.int64, False)


def randperm(n, *, dtype=None, device=None):
    """Return the numbers 0, …, n - 1 in random order."""
    return _finish(_generator.permutation(n), dtype or dtypes.int64, False)


def _like(make_one):
    def like(input, *, dtype=None, device=None, requires_grad=False):
        return make_one(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)

    return like


def _named_shape(function):
    return lambda *size, **options: function(tuple(size), **options)


zeros_like, ones_like, empty_like = (_like(_named_shape(f)) for f in (zeros, ones, empty))


def full_like(input, fill_value, *, dtype=None, device=None, requires_grad=False):
    """Return a tensor like `input`, filled with `fill_value`."""
    return full(input.shape, fill_value, dtype=dtype or input.dtype, requires_grad=requires_grad)
