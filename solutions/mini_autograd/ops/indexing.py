"""`x[…]` and `x[…] = v`, split into steps as in torch: views first, then one selection with arrays."""

import types
import warnings

import numpy as np

from ..core.tensor import Tensor
from . import shape
from .assign import copy, fill
from .elementwise import raw
from .inplace import inplace

LIST = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], "
    "which will result either in an error or a different result"
)
WRONG = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"

# A list that contains one of these is treated as a tuple of indices.
NO_NUMBER = (Tensor, list, tuple, slice, np.ndarray, types.EllipsisType, types.NoneType)


def _steps(tensor, index, lone_slice=False):
    """Return the view selected by the basic part of `index`, and an array or slice(None) for the view's dimensions."""
    if lone_slice and isinstance(index, slice):
        return _slice(tensor, 0, index, always=True), (slice(None),)
    if isinstance(index, list) and len(index) < 32 and any(isinstance(each, NO_NUMBER) for each in index):
        warnings.warn(LIST, UserWarning, stacklevel=3)
        index = tuple(index)
    index = index if isinstance(index, tuple) else (index,)
    index = [np.asarray(raw(i)) if isinstance(i, (Tensor, list, np.ndarray, np.generic)) else i for i in index]
    index = [int(i) if isinstance(i, np.ndarray) and not i.ndim and i.dtype.kind in "iu" else i for i in index]
    used = sum(_consumes(i) for i in index)
    if tensor.ndim == 0 and used and all(isinstance(i, int) for i in index):
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    if used > tensor.ndim:
        raise IndexError(f"too many indices for tensor of dimension {tensor.ndim}")
    dim, picks = 0, []
    for each in index:
        if each is None:
            tensor = shape.unsqueeze(tensor, dim)
            picks.append(slice(None))
            dim += 1
        elif each is Ellipsis:
            picks += [slice(None)] * (tensor.ndim - dim - _remaining(index, each))
            dim = len(picks)
        elif isinstance(each, slice):
            tensor = _slice(tensor, dim, each)
            picks.append(slice(None))
            dim += 1
        elif isinstance(each, (bool, np.bool_)):
            tensor = shape.unsqueeze(tensor, dim)
            picks.append(np.asarray([each]))
            dim += 1
        elif isinstance(each, int):
            size = tensor.shape[dim]
            if not -size <= each < size:
                raise IndexError(f"index {each} is out of bounds for dimension {dim} with size {size}")
            tensor = shape.select(tensor, dim, each % size)
        else:
            picks.append(_array(tensor, dim, each))
            dim += max(each.ndim, 1) if each.dtype == bool else 1
            picks += [None] * (dim - len(picks))
    return tensor, tuple(pick for pick in picks if pick is not None)


def _consumes(each):
    if each is None or each is Ellipsis or isinstance(each, (bool, np.bool_)):
        return 0
    if isinstance(each, str):
        raise TypeError("new(): invalid data type 'str'")
    if not isinstance(each, (int, slice, np.ndarray)):
        raise IndexError(WRONG.format(type(each).__name__))
    return each.ndim if isinstance(each, np.ndarray) and each.dtype == bool else 1


def _remaining(index, ellipsis):
    position = next(i for i, each in enumerate(index) if each is ellipsis)
    return sum(_consumes(each) for each in index[position + 1 :])


def _slice(tensor, dim, each, always=False):
    """Return the view of a slice; a full slice is not a step, except (as in torch) if it is the only index."""
    if each.step is not None and each.step == 0:
        raise ValueError("slice step cannot be zero")
    if each.step is not None and each.step < 0:
        raise ValueError("step must be greater than zero")
    size = tensor.shape[dim]
    start, stop, step = each.indices(size)
    whole = (start, stop, step) == (0, size, 1)
    return tensor if whole and not always else shape.slice_(tensor, dim, start, max(start, stop), step)


def _array(tensor, dim, each):
    if each.dtype == bool:
        for i, size in enumerate(each.shape):
            if size != tensor.shape[dim + i]:
                raise IndexError(
                    f"The shape of the mask {list(each.shape)} at index {i} does not match the shape of the indexed "
                    f"tensor {list(tensor.shape)} at index {dim + i}"
                )
        return each
    if each.size == 0:
        each = each.astype(np.int64)
    if each.dtype.kind not in "iu":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    size = tensor.shape[dim]
    outside = each[(each < -size) | (each >= size)]
    if outside.size:
        raise IndexError(f"index {outside[0]} is out of bounds for dimension {dim} with size {size}")
    return each


def getitem(self, index):
    """Return `self[index]`: a view for numbers and slices, a copy for arrays and masks."""
    found, picks = _steps(self, index, lone_slice=True)
    if any(isinstance(pick, np.ndarray) for pick in picks):
        return shape.index(found, picks)
    return shape.alias(found) if found is self else found


def setitem(self, index, value):
    """Write `value` (a Tensor or number) to the elements at `index`, in place."""
    if not isinstance(value, (Tensor, int, float, np.integer, np.bool_)):
        kind = type(value)
        name = f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
        raise TypeError(f"can't assign a {name} to a torch.{self._type_name()}")
    found, picks = _steps(self, index)
    if any(isinstance(pick, np.ndarray) for pick in picks):
        unset = np.ones(found.shape, bool)
        unset[picks] = False
        inplace(shape.index_put, found, value, picks, unset)
    elif isinstance(value, Tensor):
        if value.ndim > found.ndim:
            value = shape.reshape(value, value.shape[value.ndim - found.ndim :])
        _check_expand(value.shape, found.shape)
        inplace(copy, found, value)
    else:
        inplace(fill, found, value)


def _check_expand(sizes, target):
    """Raise torch's error if a tensor of `sizes` cannot be expanded to the shape `target`."""
    offset = len(target) - len(sizes)
    for i, n in enumerate(sizes):
        if n not in (1, target[i + offset]):
            raise RuntimeError(
                f"The expanded size of the tensor ({target[i + offset]}) must match the existing size ({n}) at "
                f"non-singleton dimension {i + offset}.  Target sizes: {list(target)}.  Tensor sizes: {list(sizes)}"
            )
