"""Cumulative sums, and products along a dimension, with gradients that are right even for zero elements.

The derivative of a product with respect to one factor is the product of the others. They are computed explicitly: in a
matrix of all factors with 1 on its diagonal, each row contains the other factors of one element. The formulas consist
of operations with gradient formulas, so they can be differentiated any number of times.
"""

import numpy as np

from ..core.operation import operation
from .elementwise import keep, where
from .reduce import sum_dim
from .shape import flip, reshape, transpose, unsqueeze

cumsum = operation(
    "CumsumBackward0",
    lambda self, dim: np.cumsum(self, dim) if self.ndim else np.array(self),
    self=lambda grad, dim: flip(cumsum(flip(grad, (dim,)), dim), (dim,)) if grad.ndim else grad,
)


def _others(self):
    """Return, for each element of the last dimension, the whole dimension with that element replaced by 1."""
    return where(1.0, unsqueeze(self, self.ndim - 1), np.eye(self.shape[-1], dtype=bool))


def _prod_gradient(grad, self, dim, keepdim):
    if not self.ndim:
        return grad
    last = self.ndim - 1
    without = prod_dim(_others(transpose(self, dim, last)), last + 1, False)
    return (grad if keepdim else unsqueeze(grad, dim)) * transpose(without, dim, last)


def _prod(self, dim, keepdim):
    return self.prod(dim, keepdims=keepdim) if self.ndim else np.array(self)


prod = operation(
    "ProdBackward0",
    lambda self: np.prod(self),
    self=lambda grad, self: reshape(_prod_gradient(grad, reshape(self, (-1,)), 0, False), self.shape),
)
prod_dim = operation("ProdBackward1", _prod, self=_prod_gradient)


def _cumprod_gradient(grad, self, dim):
    if not self.ndim:
        return grad
    last = self.ndim - 1
    without = cumprod(_others(transpose(self, dim, last)), last + 1)  # row i, column k: the factors up to k, without i
    reached = np.triu(np.ones((self.shape[dim],) * 2, bool))  # factor i appears from k = i on
    terms = keep(unsqueeze(transpose(grad, dim, last), last) * without, reached)
    return transpose(sum_dim(terms, (last + 1,), False), dim, last)


cumprod = operation(
    "CumprodBackward0",
    lambda self, dim: np.cumprod(self, dim) if self.ndim else np.array(self),
    self=_cumprod_gradient,
)
