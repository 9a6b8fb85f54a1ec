"""The losses that are computed by a single operation, so that each is one node."""

import numpy as np

from ..core.operation import operation
from .elementwise import div, mul, sigmoid, softplus
from .shape import scatter, unsqueeze


def _reduce(values, reduction):
    if reduction == "mean":
        with np.errstate(all="ignore"):
            return values.sum() / values.dtype.type(values.size)
    return values.sum() if reduction == "sum" else values


def _scaled(grad, shape, reduction):
    """Return the gradient of each element's loss, scaled for `reduction`."""
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


# The target selects one number along `dim`. `factor` has a weight for each of these numbers, 0 for an ignored target;
# None weights all numbers equally.


def _picks(target, dim):
    """Return the index of the elements that `target` selects along `dim`."""
    index = [np.arange(n).reshape(-1, *[1] * (target.ndim - 1 - i)) for i, n in enumerate(target.shape)]
    index.insert(dim, target)
    return tuple(index)


def _total(target, factor):
    """Return the divisor of the mean loss, or nan if it is 0."""
    return (target.size if factor is None else factor.sum().item()) or float("nan")


def _nll_loss(self, target, dim, factor, reduction):
    losses = -self[_picks(target, dim)]
    if factor is not None:
        losses = np.where(factor != 0, losses, 0) * factor
    if reduction == "none":
        return losses
    return losses.sum() / self.dtype.type(_total(target, factor)) if reduction == "mean" else losses.sum()


def _nll_gradient(grad, self_sym_sizes, target, dim, factor, reduction):
    share = -grad / _total(target, factor) if reduction == "mean" else -grad
    if factor is not None:
        share = share * factor
    return scatter(unsqueeze(share, dim) if share.shape else share, dim, np.expand_dims(target, dim), self_sym_sizes)


nll_loss = operation("NllLossBackward0", _nll_loss, constants=("target", "factor"), self=_nll_gradient)


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
    constants=("weight", "pos_weight"),
    self=_bce_self,
    target=_bce_target,
)
