"""Products of vectors and matrices, named like the steps into which torch splits `matmul` and `linear`."""

import numpy as np

from ..core.operation import operation
from ..core.tensor import Tensor
from .shaping import reshape, t_, unsqueeze_

dot = operation(
    "DotBackward0",
    lambda self, tensor: np.dot(self, tensor),
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)
mv = operation(
    "MvBackward0",
    lambda self, vec: self @ vec,
    self=lambda grad, vec: unsqueeze_(grad, 1) * vec,
    vec=lambda grad, self: mv(t_(self), grad),
)
mm = operation(
    "MmBackward0",
    lambda self, mat2: self @ mat2,
    self=lambda grad, mat2: mm(grad, t_(mat2)),
    mat2=lambda grad, self, mat2_sym_strides: _like_second(grad, self, mat2_sym_strides),
)


# The row that is the product of a vector and a matrix, as a vector.
squeeze_row = operation("SqueezeBackward4", lambda self: self[0], self=lambda grad: unsqueeze_(grad, 0))


def _addmm(self, mat1, mat2):
    out = mat1 @ mat2
    out += self
    return out


def _like_second(grad, mat1, mat2_sym_strides):
    """Return mat1ᵀ·grad, the gradient of mat2, with the memory layout of mat2 (weights are used transposed)."""
    if mat2_sym_strides[0] >= mat2_sym_strides[1]:
        return mm(t_(mat1), grad)
    return t_(mm(t_(grad), mat1))


addmm = operation(
    "AddmmBackward0",
    _addmm,
    self=lambda grad: grad,
    mat1=lambda grad, mat2: mm(grad, t_(mat2)),
    mat2=_like_second,
)


def matmul(self, other):
    """Multiply like `@`: vectors and matrices."""
    if not isinstance(other, Tensor):
        raise TypeError(f"matmul(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    a, b = self._data.ndim, other._data.ndim
    if not a or not b:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a > 2 or b > 2:
        raise NotImplementedError(
            f"products of batches of matrices are left out of the mini engine, which multiplies vectors and matrices, "
            f"but these tensors are {a}D and {b}D; use torch.matmul"
        )
    if self.dtype is not other.dtype:
        raise RuntimeError(
            f"expected both factors to have the same dtype, but got {self.dtype} and {other.dtype}; convert one with to"
        )
    if a == 1 and b == 1:
        if len(self) != len(other):
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor [{len(self)}] and src [{len(other)}] to have the same "
                f"number of elements, but got {len(self)} and {len(other)} elements respectively"
            )
        return dot(self, other)
    if b == 1:
        if self.shape[1] != other.shape[0]:
            raise RuntimeError(
                f"size mismatch, got input ({self.shape[0]}), mat ({_dims(self)}), vec ({other.shape[0]})"
            )
        return mv(self, other)
    if a == 1:
        return squeeze_row(matmul(unsqueeze_(self, 0), other))
    _check_product(self, other)
    return mm(self, other)


def linear(input, weight, bias=None):
    """Return `input @ weight.T + bias`. input: (in,) or (n, in), weight: (out, in), bias: (out,) or None."""
    mat2 = t_(weight)
    if bias is None:
        return matmul(input, mat2)
    flat = input if input._data.ndim == 2 else reshape(input, -1, input.shape[-1])
    _check_product(flat, mat2)
    b, w, x = bias._data, weight._data, input._data
    if b.shape != w.shape[:1] or not b.dtype is w.dtype is x.dtype:
        raise RuntimeError(
            f"expected a bias of shape {[len(weight)]}, and one dtype for input, weight and bias, but got a bias of "
            f"shape {list(bias.shape)}, and {input.dtype}, {weight.dtype} and {bias.dtype}"
        )
    out = addmm(bias, flat, mat2)
    return out if flat is input else reshape(out, *input.shape[:-1], weight.shape[0])


def _dims(tensor):
    return "x".join(map(str, tensor.shape))


def _check_product(mat1, mat2):
    if mat1._data.shape[1] != mat2._data.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_dims(mat1)} and {_dims(mat2)})")
