"""Operations over dimensions: sum, mean, log-softmax."""

import math

import numpy as np

from ..core.operation import operation
from .elementwise import div, exp
from .shaping import dim_of, expand_, reshape_


def spread(grad, shape, dim, keepdim):
    """Repeat `grad`, the gradient of a tensor of `shape` that was reduced over `dim`, in that shape."""
    if not keepdim:
        grad = reshape_(grad, tuple(1 if i in dim else n for i, n in enumerate(shape)))
    return expand_(grad, shape)


def _sum_type(self):
    return np.int64 if self.dtype.kind in "bi" else self.dtype


def _count(shape, dim):
    return math.prod(shape[i] for i in dim)


sum_all = operation(
    "SumBackward0",
    lambda self: self.sum(dtype=_sum_type(self)),
    self=lambda grad, self_sym_sizes: expand_(grad, self_sym_sizes),
)
sum_dim = operation(
    "SumBackward1",
    lambda self, dim, keepdim: self.sum(dim, dtype=_sum_type(self), keepdims=keepdim),
    self=lambda grad, self_sym_sizes, dim, keepdim: spread(grad, self_sym_sizes, dim, keepdim),
)


def _mean(self, dim, keepdim):
    return self.sum(dim, keepdims=keepdim) / self.dtype.type(_count(self.shape, dim))


mean_all = operation(
    "MeanBackward0",
    lambda self: _mean(self, tuple(range(self.ndim)), False),
    self=lambda grad, self_sym_sizes: expand_(div(grad, math.prod(self_sym_sizes) or 1), self_sym_sizes),
)
mean_dim = operation(
    "MeanBackward1",
    _mean,
    self=lambda grad, self_sym_sizes, dim, keepdim: spread(
        div(grad, _count(self_sym_sizes, dim) or 1), self_sym_sizes, dim, keepdim
    ),
)


NOT_GIVEN = object()  # torch's nodes distinguish sum() from sum(None)


def dims_of(dim, ndim):
    """Return one or several dimensions as a tuple of numbers counted from the front; None and () mean all."""
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(ndim))
    dims = tuple(dim_of(each, ndim) for each in dims)
    for each in dims:
        if dims.count(each) > 1:
            raise RuntimeError(f"dim {each} appears multiple times in the list of dims")
    return dims if ndim else ()


def sum(input, dim=NOT_GIVEN, keepdim=False):
    """Return the sum, over all dimensions or over `dim`."""
    return sum_all(input) if dim is NOT_GIVEN else sum_dim(input, dims_of(dim, input._data.ndim), keepdim)


def mean(input, dim=NOT_GIVEN, keepdim=False):
    """Return the mean, over all dimensions or over `dim`."""
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + input._type_name().removesuffix("Tensor")
        )
    return mean_all(input) if dim is NOT_GIVEN else mean_dim(input, dims_of(dim, input._data.ndim), keepdim)


def _log_softmax(self, dim):
    shifted = self - self.max(dim, keepdims=True, initial=-np.inf)
    shifted -= np.log(np.exp(shifted).sum(dim, keepdims=True))
    return shifted


log_softmax_ = operation(
    "LogSoftmaxBackward0",
    _log_softmax,
    self=lambda grad, result, dim: grad - exp(result) * sum_dim(grad, (dim,), True),
)


def log_softmax(input, dim):
    """Return the logarithm of exp(input) / Σ exp(input) along `dim`, without overflow."""
    dim = dim_of(dim, input._data.ndim)
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"log_softmax takes floating-point numbers, as in torch, but got {input.dtype}")
    return log_softmax_(input, dim)
