"""`Parameter`: a tensor that a module learns."""

import numpy as np

from ..core.tensor import Tensor, make
from ..values import dtypes


class Parameter(Tensor):
    """A leaf that shares memory with `data`; assigned to a module's attribute, it appears in its `parameters()`."""

    __slots__ = ()

    def __new__(cls, data=None, requires_grad=True):
        data = make(np.empty(0, dtypes.get_default_dtype().numpy)) if data is None else data.detach()
        if requires_grad and data._data.dtype.kind != "f":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        parameter = make(data._data, cls)
        parameter._version_cell = data._version_cell
        parameter._requires_grad = requires_grad
        return parameter

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo):
        """Return a copy without `grad`, as torch does."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(make(self._data.copy()), self.requires_grad)
        return memo[id(self)]
