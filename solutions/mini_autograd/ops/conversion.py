"""Conversions of tensors to Python and NumPy."""

import warnings

import numpy as np

from ..core.modes import state
from ..values.size import Size
from .shaping import dim_of

TO_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)


def item(self):
    """Return the value of a one-element tensor as a Python number."""
    if self._data.size != 1:
        raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
    return self._data.item()


def tolist(self):
    """Return the values as nested lists of Python numbers."""
    return self._data.tolist()


def numpy(self, *, force=False):
    """Return the array itself, which shares memory; raises RuntimeError if a gradient would be lost silently."""
    if self.requires_grad and state.grad and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return self._data


def to_array(self, dtype=None, copy=None):
    """Return what `np.asarray(x)` gives, under the condition of `numpy`."""
    return np.array(numpy(self), dtype=dtype, copy=copy)


def to_float(self):
    """Return `float(x)` for a tensor of one element."""
    if self._data.size == 1 and self.requires_grad:
        warnings.warn(TO_SCALAR, UserWarning, stacklevel=2)
    if self._data.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return float(self._data.item())


def to_bool(self):
    """Return whether a tensor of one element is not zero."""
    if self._data.size != 1:
        amount = "no values" if not self._data.size else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
    return bool(self._data.item())


def to_text(self, spec):
    """Return the text of an f-string, in which a 0-dimensional tensor is a number."""
    return format(self.item(), spec) if self._data.ndim == 0 else object.__format__(self, spec)


def length(self):
    """Return the size of the first dimension."""
    if self._data.ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return len(self._data)


def size(self, dim=None):
    """Return the shape, or the size of dimension `dim`."""
    return Size(self._data.shape) if dim is None else self._data.shape[dim_of(dim, self._data.ndim)]


def numel(self):
    """Return the number of elements."""
    return self._data.size


def dim(self):
    """Return the number of dimensions."""
    return self._data.ndim
