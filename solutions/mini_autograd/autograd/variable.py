"""`Variable`, the former name of tensors with gradients."""

from ..core.tensor import Tensor, make


class _AnyTensor(type):
    def __instancecheck__(cls, value):
        return isinstance(value, Tensor)


class Variable(metaclass=_AnyTensor):
    """The former name of Tensor. A call returns a leaf that shares memory with `data`; every Tensor is an instance."""

    def __new__(cls, data, requires_grad=False):
        tensor = make(data._data)
        tensor.requires_grad = requires_grad
        return tensor
