"""The losses that are computed by a single operation, so that each is one node."""

import math

import numpy as np

from ..core.operation import operation
from .elementwise import div, keep, mul
from .shaping import expand_, unsqueeze_


def _reduce(values, reduction):
    if reduction == "mean":
        return values.sum() / values.dtype.type(values.size)
    return values.sum() if reduction == "sum" else values


def _mse_loss(self, target, reduction):
    difference = self - target
    return _reduce(difference * difference, reduction)


def _mse_gradient(grad, self, target, reduction):
    difference = self - target
    if reduction == "mean":
        grad = div(grad, math.prod(difference.shape))
    return mul(grad, difference * 2)


mse_loss = operation(
    "MseLossBackward0",
    _mse_loss,
    promote="same",
    self=_mse_gradient,
    target=lambda grad, self, target, reduction: _mse_gradient(grad, target, self, reduction),
)


def _nll_gradient(grad, self_sym_sizes, target, reduction):
    """Return the negative gradient at each row's class and 0 elsewhere."""
    rows, classes = self_sym_sizes
    share = -div(grad, rows) if reduction == "mean" else -grad
    if reduction == "none":
        share = unsqueeze_(share, 1)
    return keep(expand_(share, self_sym_sizes), target[:, None] == np.arange(classes))


nll_loss = operation(
    "NllLossBackward0",
    lambda self, target, reduction: _reduce(-self[np.arange(len(target)), target], reduction),
    constants=("target",),
    self=_nll_gradient,
)
