"""`Parameter`: a tensor that a module learns."""

from ..core.tensor import Tensor, make


class Parameter(Tensor):
    """A leaf that shares memory with `data`; assigned to a module's attribute, it appears in its `parameters()`."""

    __slots__ = ()

    def __new__(cls, data, requires_grad=True):
        if requires_grad and not data.dtype.is_floating_point:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        parameter = make(data._data, cls)
        parameter._version_cell = data._version_cell
        parameter._requires_grad = requires_grad
        return parameter

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()
