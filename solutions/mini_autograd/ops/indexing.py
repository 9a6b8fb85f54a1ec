"""`x[…]` and `x[…] = v` for numbers, slices, None and `...`, split into views as in torch."""

import numpy as np

from ..core.operation import check_broadcast, operation
from ..core.tensor import Tensor
from . import shaping
from .elementwise import zeros_like
from .inplace import inplace


def view_at(tensor, index, lone_slice=False):
    """Return the view that `index` selects; with `lone_slice`, a full slice alone is a step too, as in torch."""
    if lone_slice and isinstance(index, slice):
        return _slice(tensor, 0, index, always=True)
    index = index if isinstance(index, tuple) else (index,)
    ndim, used = tensor._data.ndim, sum(_consumes(each) for each in index)
    if not ndim and used:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    if used > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    dim = 0
    for position, each in enumerate(index):
        if each is None:
            tensor = shaping.unsqueeze_(tensor, dim)
            dim += 1
        elif each is Ellipsis:
            dim = tensor._data.ndim - sum(_consumes(later) for later in index[position + 1 :])
        elif isinstance(each, slice):
            tensor = _slice(tensor, dim, each)
            dim += 1
        else:
            size = tensor._data.shape[dim]
            if not -size <= each < size:
                raise IndexError(f"index {each} is out of bounds for dimension {dim} with size {size}")
            tensor = shaping.select(tensor, dim, int(each) % size)
    return tensor


def _consumes(each):
    """Return how many dimensions of the tensor a part of an index uses up, or refuse the part."""
    if each is None or each is Ellipsis:
        return 0
    if isinstance(each, (int, np.integer, slice)) and not isinstance(each, bool):
        return 1
    raise TypeError(
        f"an index of type {type(each).__name__} is left out of the mini engine, which takes numbers, slices, None and "
        "`...`; torch takes tensors, lists and masks too"
    )


def _slice(tensor, dim, each, always=False):
    """Return the view of a slice; a full slice is not a step unless `always`."""
    if each.step is not None and each.step == 0:
        raise ValueError("slice step cannot be zero")
    if each.step is not None and each.step < 0:
        raise ValueError("step must be greater than zero")
    if not tensor._data.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    size = tensor._data.shape[dim]
    start, stop, step = each.indices(size)
    whole = (start, stop, step) == (0, size, 1)
    return tensor if whole and not always else shaping.slice_(tensor, dim, start, max(start, stop), step)


def getitem(self, index):
    """Return the view `self[index]`."""
    view = view_at(self, index, lone_slice=True)
    return shaping.alias(view) if view is self else view


def setitem(self, index, value):
    """Write `value`, a Tensor or number, to the elements at `index`, in place."""
    if not isinstance(value, (Tensor, int, float, np.integer, np.bool_)):
        raise TypeError(f"can't assign a {type(value).__name__} to a torch.{self._type_name()}")
    view = view_at(self, index)
    if isinstance(value, Tensor):
        shape = view._data.shape
        if value._data.ndim > len(shape):
            value = shaping.reshape_(value, value._data.shape[value._data.ndim - len(shape) :])
        shaping.check_expand(value._data.shape, shape)
        inplace(copy, view, value)
    else:
        inplace(fill, view, value)


def iterate(self):
    """Return an iterator over the first dimension."""
    if not self._data.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter([self[i] for i in range(len(self))])


# ----- what is written; only the old value's shape and dtype matter -----


def _copy(self, src):
    check_broadcast([self, src])
    return np.array(np.broadcast_to(src, np.broadcast_shapes(self.shape, src.shape)), self.dtype)


copy = operation("CopyBackwards", _copy, self=zeros_like, src=lambda grad: grad)
fill = operation("FillBackward2", lambda self, value: np.full(self.shape, value, self.dtype), self=zeros_like)
zero = operation("ZeroBackward0", lambda self: np.zeros_like(self), self=zeros_like)
