"""Matrix products, named like the steps into which torch splits `matmul` and `linear`."""

import numpy as np

from ..core.operation import operation
from .shape import expand, reshape, squeeze_dim, t, unsafe_view, unsqueeze

dot = operation(
    "DotBackward0",
    lambda self, tensor: np.dot(self, tensor),
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)
mv = operation(
    "MvBackward0",
    lambda self, vec: self @ vec,
    self=lambda grad, vec: unsqueeze(grad, 1) * vec,
    vec=lambda grad, self: mv(t(self), grad),
)


def _dims(shape):
    return "x".join(map(str, shape))


def _check_product(mat1, mat2):
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_dims(mat1.shape)} and {_dims(mat2.shape)})")


def _mm(self, mat2):
    _check_product(self, mat2)
    return self @ mat2


mm = operation(
    "MmBackward0",
    _mm,
    self=lambda grad, mat2: mm(grad, t(mat2)),
    mat2=lambda grad, self, mat2_sym_strides: _like_second(grad, self, mat2_sym_strides),
)


def _like_second(grad, mat1, mat2_sym_strides):
    """Return mat1ᵀ·grad, the gradient of mat2, with the memory layout of mat2 (weights are used transposed)."""
    if mat2_sym_strides[0] >= mat2_sym_strides[1]:
        return mm(t(mat1), grad)
    return t(mm(t(grad), mat1))


bmm = operation(
    "BmmBackward0",
    lambda self, mat2: self @ mat2,
    self=lambda grad, mat2: bmm(grad, mat2.mT),
    mat2=lambda grad, self: bmm(self.mT, grad),
)


def _addmm(self, mat1, mat2):
    _check_product(mat1, mat2)
    out = mat1 @ mat2
    out += self
    return out


addmm = operation(
    "AddmmBackward0",
    _addmm,
    self=lambda grad: grad,
    mat1=lambda grad, mat2: mm(grad, t(mat2)),
    mat2=_like_second,
)


def _same_dtype(message, *tensors):
    """Raise RuntimeError unless all tensors have one dtype; `message` has {0}, {1}, … for their dtypes."""
    if any(tensor.dtype is not tensors[0].dtype for tensor in tensors):
        raise RuntimeError(message.format(*[tensor._type_name().removesuffix("Tensor") for tensor in tensors]))


def _same_dtype_mm(a, b):
    names = [{"Long": "long int"}.get(name, name.lower()) for name in (x._type_name()[:-6] for x in (a, b))]
    _same_dtype(f"expected m1 and m2 to have the same dtype, but got: {names[0]} != {names[1]}", a, b)


def _multiply(a, b):
    """Compute `mm` after torch's checks."""
    _check_product(a._data, b._data)
    _same_dtype_mm(a, b)
    return mm(a, b)


def matmul(self, other):
    """Multiply like `@`: vectors, matrices, and batches of matrices with broadcasting."""
    if not self.ndim or not other.ndim:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {self.ndim}D and {other.ndim}D"
        )
    if self.ndim == 1 and other.ndim == 1:
        if self.shape != other.shape:
            a, b = self.shape[0], other.shape[0]
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same number of elements, "
                f"but got {a} and {b} elements respectively"
            )
        _same_dtype("dot : expected both vectors to have same dtype, but found {} and {}", self, other)
        return dot(self, other)
    if self.ndim == 2 and other.ndim == 1:
        if self.shape[1] != other.shape[0]:
            raise RuntimeError(
                f"size mismatch, got input ({self.shape[0]}), mat ({_dims(self.shape)}), vec ({other.shape[0]})"
            )
        _same_dtype("addmv input tensors must have the same dtype, but got {1}, {0}, and {1}", self, other)
        return mv(self, other)
    if self.ndim == 1 and other.ndim == 2:
        return squeeze_dim(_multiply(unsqueeze(self, 0), other), 0)
    if self.ndim == 2 and other.ndim == 2:
        return _multiply(self, other)
    if other.ndim <= 2:
        folded = matmul(reshape(self, (-1, self.shape[-1])), other)
        return unsafe_view(folded, (*self.shape[:-1], *other.shape[1:]))
    return _batched(self, other)


def _batched(self, other):
    a = unsqueeze(self, 0) if self.ndim == 1 else self
    b = unsqueeze(other, other.ndim) if other.ndim == 1 else other
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    n, k, p = a.shape[-2], a.shape[-1], b.shape[-1]
    if b.shape[-2] != k:
        size = int(np.prod(batch))
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size}, {k}] "
            f"but got: [{size}, {b.shape[-2]}]."
        )
    a = reshape(expand(a, (*batch, n, k)), (-1 if n * k else int(np.prod(batch)), n, k))
    b = reshape(expand(b, (*batch, k, p)), (-1 if k * p else int(np.prod(batch)), k, p))
    _same_dtype("expected scalar type {} but found {}", a, b)
    shape = (*batch, *((n,) if self.ndim > 1 else ()), *((p,) if other.ndim > 1 else ()))
    return unsafe_view(bmm(a, b), shape)


def linear(input, weight, bias=None):
    """Return `input @ weight.T + bias`. input: (…, in), weight: (out, in), bias: (out,) or None."""
    if bias is None:
        return matmul(input, t(weight))
    flat = input if input._data.ndim == 2 else reshape(input, (-1, input.shape[-1]))
    if not bias._data.dtype is weight._data.dtype is flat._data.dtype:
        _check_product(flat._data, weight._data.T)
        _same_dtype("self and mat2 must have the same dtype, but got {} and {}", bias, weight)
        _same_dtype("mat1 and mat2 must have the same dtype, but got {} and {}", flat, weight)
    out = addmm(bias, flat, t(weight))
    return out if flat is input else reshape(out, (*input.shape[:-1], weight.shape[0]))
