"""Names from torch's early days that are still in use: `LongTensor`, `Tensor(2, 3)`, `x.new`, `x._grad_fn`."""

import numpy as np

from ..core.tensor import Tensor, make
from ..values import dtypes
from ..values.size import Size
from .creation import tensor


def _array(data, dtype):
    """Return the array of `FloatTensor(*data)`: integers are sizes; anything else is one argument with the values."""
    if not data:
        return np.zeros(0, dtype.numpy)
    if all(type(each) is int for each in data):
        return np.zeros(data, dtype.numpy)
    if len(data) > 1:
        raise TypeError("new() takes sizes as integers, or all values in one list")
    (values,) = data
    if isinstance(values, Tensor):
        if values.dtype is not dtype:
            raise TypeError(f"expected a torch.{dtype.type_name} (got a torch.{values._type_name()})")
        return values._data
    if isinstance(values, Size):
        return np.zeros(values, dtype.numpy)
    if isinstance(values, np.ndarray):
        return values.astype(dtype.numpy, copy=False)
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"new(): data must be a sequence (got {type(values).__name__})")
    return tensor(values, dtype=dtype)._data


class _ByType(type):
    """The metaclass of `LongTensor` and the like: calling one makes a Tensor; `isinstance` checks the dtype."""

    def __call__(cls, *data):
        return make(_array(data, cls.dtype))

    def __instancecheck__(cls, value):
        return isinstance(value, Tensor) and value.dtype is cls.dtype


BY_TYPE = {
    dtype.type_name: _ByType(dtype.type_name, (), {"__module__": "torch", "dtype": dtype})
    for dtype in dtypes.BY_NUMPY.values()
}


def _new_tensor(cls, *data):
    if len(data) == 1 and isinstance(data[0], Tensor):
        return make(data[0]._data, cls)
    return make(_array(data, dtypes.get_default_dtype()), cls)


def _new(self, *data):
    return make(_array(data, self.dtype))


def _type(self, dtype=None):
    """Return torch's name for this tensor's type, or the tensor converted to a dtype, type or type name."""
    if dtype is None:
        return "torch." + self._type_name()
    if isinstance(dtype, str):
        dtype = BY_TYPE[dtype.removeprefix("torch.")]
    return self.to(getattr(dtype, "dtype", dtype))


def _set_grad_fn(self, new):
    if new is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    self.detach_()


def _refuse(message):
    def delete(self):
        raise RuntimeError(message)

    return delete


Tensor.__new__ = _new_tensor
Tensor.new = _new
Tensor.type = _type
Tensor._grad_fn = property(
    lambda self: self.grad_fn,
    _set_grad_fn,
    _refuse("Deletion of _grad_fn not allowed. Detach tensor instead!"),
)
Tensor._backward_hooks = property(
    lambda self: self._hooks,
    lambda self, hooks: setattr(self, "_hooks", hooks),
    _refuse("Deletion of _backwards_hooks not allowed!"),
)
