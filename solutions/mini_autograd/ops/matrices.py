"""Products of matrices, named like the steps into which torch splits `matmul` and `linear`."""

from ..core.operation import operation
from ..core.tensor import Tensor
from .shaping import t_

mm = operation(
    "MmBackward0",
    lambda self, mat2: self @ mat2,
    self=lambda grad, mat2: mm(grad, t_(mat2)),
    mat2=lambda grad, self, mat2_sym_strides: _like_second(grad, self, mat2_sym_strides),
)


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
    """Multiply two matrices, like `@`."""
    if not isinstance(other, Tensor):
        raise TypeError(f"matmul(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    _check_product(self, other)
    if self.dtype is not other.dtype:
        raise RuntimeError(
            f"expected both factors to have the same dtype, but got {self.dtype} and {other.dtype}; convert one with to"
        )
    return mm(self, other)


def linear(input, weight, bias=None):
    """Return `input @ weight.T + bias`. input: (n, in), weight: (out, in), bias: (out,) or None."""
    mat2 = t_(weight)
    if bias is None:
        return matmul(input, mat2)
    _check_product(input, mat2)
    b, w, x = bias._data, weight._data, input._data
    if b.shape != w.shape[:1] or not b.dtype is w.dtype is x.dtype:
        raise RuntimeError(
            f"expected a bias of shape {[len(weight)]}, and one dtype for input, weight and bias, but got a bias of "
            f"shape {list(bias.shape)}, and {input.dtype}, {weight.dtype} and {bias.dtype}"
        )
    return addmm(bias, input, mat2)


def _check_product(mat1, mat2):
    a, b = mat1._data, mat2._data
    if a.ndim != 2 or b.ndim != 2:
        raise NotImplementedError(
            f"the mini engine multiplies matrices, but these tensors are {a.ndim}D and {b.ndim}D; give a vector a "
            "dimension with unsqueeze, or use torch.matmul"
        )
    if a.shape[1] != b.shape[0]:
        shapes = " and ".join("x".join(map(str, array.shape)) for array in (a, b))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({shapes})")
