"""The losses that are one node each."""

import numpy as np

from ..operation import operation
from .elementwise import div, mul, sigmoid, softplus
from .shape import gather, scatter, unsqueeze


def _reduce(values, reduction):
    if reduction == "mean":
        with np.errstate(all="ignore"):
            return values.sum() / values.dtype.type(values.size)
    return values.sum() if reduction == "sum" else values


def _scaled(grad, shape, reduction):
    """Return the gradient of each element's own loss."""
    return div(grad, int(np.prod(shape))) if reduction == "mean" else grad


def _mse_loss(self, target, reduction):
    difference = self - target
    return _reduce(difference * difference, reduction)


mse_loss = operation(
    "MseLossBackward0",
    _mse_loss,
    promote="same",
    self=lambda grad, self, target, reduction: _mse_gradient(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: _mse_gradient(grad, target, self, reduction),
)


def _mse_gradient(grad, self, other, reduction):
    difference = self - other
    return mul(_scaled(grad, difference.shape, reduction), difference * 2)


# The target picks one number along `dim`; `factor` weighs each of them, and is 0 where the target is to be ignored.


def _nll_loss(self, target, dim, factor, reduction):
    picked = -gather(self, dim, np.expand_dims(target, dim)).squeeze(dim)
    losses = np.where(factor != 0, picked * factor, 0).astype(self.dtype)
    if reduction == "mean":
        total = factor.sum()
        return losses.sum() / total if total else total * np.nan
    return losses.sum() if reduction == "sum" else losses


def _nll_gradient(grad, self_sym_sizes, target, dim, factor, reduction):
    with np.errstate(all="ignore"):
        factor = -factor / factor.sum() if reduction == "mean" else -factor
    return scatter(unsqueeze(grad * factor, dim), dim, np.expand_dims(target, dim), self_sym_sizes)


nll_loss = operation("NllLossBackward0", _nll_loss, self=_nll_gradient)


def _binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction):
    tail = np.log1p(np.exp(-np.abs(self))) + np.maximum(-self, 0)
    losses = (1 - target) * self + (tail if pos_weight is None else ((pos_weight - 1) * target + 1) * tail)
    return _reduce(losses if weight is None else losses * weight, reduction)


def _bce_self(grad, self, target, weight, pos_weight, reduction):
    scale = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    gradient = (sigmoid(self) - 1) * scale + (1 - target)
    gradient = _scaled(grad, self.shape, reduction) * gradient
    return gradient if weight is None else gradient * weight


def _bce_target(grad, self, weight, pos_weight, reduction):
    gradient = -self
    if pos_weight is not None:
        gradient = gradient + softplus(-self, 1.0, 20.0) * (pos_weight - 1)
    gradient = _scaled(grad, self.shape, reduction) * gradient
    return gradient if weight is None else gradient * weight


binary_cross_entropy_with_logits = operation(
    "BinaryCrossEntropyWithLogitsBackward0",
    _binary_cross_entropy_with_logits,
    promote="same",
    self=_bce_self,
    target=_bce_target,
)
