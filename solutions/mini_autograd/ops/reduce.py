"""Operations over dimensions: sums, means, extremes, softmax.

`dim` is a tuple, or an int if only one dimension is possible.
"""

import builtins
import math

import numpy as np

from ..core.operation import operation
from .elementwise import div, exp, keep, raw
from .shape import expand, reshape, scatter_add, unsqueeze


def spread(value, shape, dim, keepdim):
    """Reshape the result of reducing a tensor of `shape` over `dim` so that it broadcasts with `shape`."""
    if keepdim or value.shape == shape:
        return value
    return reshape(value, tuple(1 if i in dim else n for i, n in enumerate(shape)))


def _count(shape, dim):
    return math.prod(shape[i] for i in dim)


def _sum_type(self):
    return np.int64 if self.dtype.kind in "bi" else self.dtype


sum = operation(
    "SumBackward0",
    lambda self: self.sum(dtype=_sum_type(self)),
    self=lambda grad, self_sym_sizes: expand(grad, self_sym_sizes),
)
sum_dim = operation(
    "SumBackward1",
    lambda self, dim, keepdim: self.sum(dim, dtype=_sum_type(self), keepdims=keepdim),
    self=lambda grad, self_sym_sizes, dim, keepdim: expand(spread(grad, self_sym_sizes, dim, keepdim), self_sym_sizes),
)


def _mean(self, dim=None, keepdim=False):
    with np.errstate(all="ignore"):
        total = self.sum(dim, keepdims=keepdim)
        return total / self.dtype.type(self.size if dim is None else _count(self.shape, dim))


mean = operation(
    "MeanBackward0",
    lambda self: _mean(self),
    self=lambda grad, self_sym_sizes: expand(div(grad, math.prod(self_sym_sizes) or 1), self_sym_sizes),
)
mean_dim = operation(
    "MeanBackward1",
    _mean,
    self=lambda grad, self_sym_sizes, dim, keepdim: _mean_gradient(grad, self_sym_sizes, dim, keepdim),
)


def _mean_gradient(grad, shape, dim, keepdim):
    return expand(div(spread(grad, shape, dim, keepdim), _count(shape, dim) or 1), shape)


def _var(self, dim, correction, keepdim):
    with np.errstate(all="ignore"):
        centred = self - _mean(self, dim, True)
        free = builtins.max(_count(self.shape, dim) - correction, 0)
        return (centred * centred).sum(dim, keepdims=keepdim) / self.dtype.type(free)


def _var_gradient(grad, self, dim, correction, keepdim):
    free = _count(self.shape, dim) - correction
    scale = 2 / free if free else float("nan")
    centred = self - div(sum_dim(self, dim, True), _count(self.shape, dim))
    return spread(grad, self.shape, dim, keepdim) * (centred * scale)


def _norm_gradient(grad, self, dim, keepdim, result):
    grad, result = (spread(each, self.shape, dim, keepdim) for each in (grad, result))
    return grad * keep(div(self, result), raw(result) != 0)


var = operation("VarBackward0", _var, self=_var_gradient)
std = operation(
    "StdBackward0",
    lambda self, dim, correction, keepdim: np.sqrt(_var(self, dim, correction, keepdim)),
    self=lambda grad, self, dim, correction, keepdim, result: _var_gradient(
        keep(div(grad, result * 2), raw(result) != 0), self, dim, correction, keepdim
    ),
)
norm = operation(
    "LinalgVectorNormBackward0",
    lambda self, dim, keepdim: np.sqrt((self * self).sum(dim, keepdims=keepdim)),
    self=_norm_gradient,
)

# ----- extremes; without an index, ties share the gradient equally -----


def _shared(grad, self, result, dim, keepdim):
    chosen = raw(self) == spread(raw(result), self.shape, dim, keepdim)
    share = div(spread(grad, self.shape, dim, keepdim), chosen.sum(dim, keepdims=True).astype(raw(grad).dtype))
    return keep(share, chosen)


def _over_all(self):
    return tuple(range(len(self.shape)))


max = operation(
    "MaxBackward1",
    lambda self: self.max(),
    self=lambda grad, self, result: _shared(grad, self, result, _over_all(self), False),
)
min = operation(
    "MinBackward1",
    lambda self: self.min(),
    self=lambda grad, self, result: _shared(grad, self, result, _over_all(self), False),
)
amax = operation("AmaxBackward0", lambda self, dim, keepdim: self.max(dim, keepdims=keepdim), self=_shared)
amin = operation("AminBackward0", lambda self, dim, keepdim: self.min(dim, keepdims=keepdim), self=_shared)


def _chosen(argument):
    def forward(self, dim, keepdim):
        if not self.ndim:
            return self.copy(), np.zeros((), np.int64)
        indices = np.expand_dims(argument(self, dim), dim)
        values = np.take_along_axis(self, indices, dim)
        return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))

    return forward


def _to_chosen(grad, self_sym_sizes, dim, keepdim, result1):
    grad, indices = grad[0], raw(result1)
    if not self_sym_sizes:
        return grad
    if not keepdim:
        grad, indices = unsqueeze(grad, dim), np.expand_dims(indices, dim)
    return scatter_add(grad, dim, indices, self_sym_sizes)


max_dim = operation("MaxBackward0", _chosen(np.argmax), self=_to_chosen)
min_dim = operation("MinBackward0", _chosen(np.argmin), self=_to_chosen)

# ----- softmax and its relatives -----


def _logsumexp(self, dim, keepdim):
    with np.errstate(all="ignore"):
        top = self.max(dim, keepdims=True)
        top = np.where(np.isfinite(top), top, 0)
        total = np.log(np.exp(self - top).sum(dim, keepdims=True)) + top
        return total if keepdim else total.squeeze(dim)


logsumexp = operation(
    "LogsumexpBackward0",
    _logsumexp,
    self=lambda grad, self, dim, keepdim, result: (
        spread(grad, self.shape, dim, keepdim) * exp(self - spread(result, self.shape, dim, keepdim))
    ),
)


def _softmax(self, dim):
    powers = np.exp(self - self.max(dim, keepdims=True, initial=-np.inf))
    powers /= powers.sum(dim, keepdims=True)
    return powers


softmax = operation(
    "SoftmaxBackward0",
    _softmax,
    self=lambda grad, result, dim: result * (grad - sum_dim(grad * result, (dim,), True)),
)


def _log_softmax(self, dim):
    shifted = self - self.max(dim, keepdims=True, initial=-np.inf)
    shifted -= np.log(np.exp(shifted).sum(dim, keepdims=True))
    return shifted


log_softmax = operation(
    "LogSoftmaxBackward0",
    _log_softmax,
    self=lambda grad, result, dim: grad - exp(result) * sum_dim(grad, (dim,), True),
)
