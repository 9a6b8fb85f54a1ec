"""Conversions of tensors to Python and NumPy."""

import numpy as np

from ..core.modes import state


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
    return float(item(self))


def to_bool(self):
    """Return whether a tensor of one element is not zero."""
    if self._data.size != 1:
        amount = "no values" if not self._data.size else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
    return bool(self._data.item())


def length(self):
    """Return the size of the first dimension."""
    if self._data.ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return len(self._data)


def numel(self):
    """Return the number of elements."""
    return self._data.size
