"""The losses: means, each of which is one node."""

import math
import warnings

import numpy as np

from ..core.operation import operation
from ..values import dtypes
from .elementwise import div, keep, mul
from .reductions import log_softmax
from .shaping import expand_


def _mse_loss(self, target):
    difference = self - target
    return (difference * difference).sum() / difference.dtype.type(difference.size)


def _mse_gradient(grad, self, target):
    difference = self - target
    return mul(div(grad, math.prod(difference.shape)), difference * 2)


mse_loss_ = operation(
    "MseLossBackward0",
    _mse_loss,
    promote="same",
    self=_mse_gradient,
    target=lambda grad, self, target: _mse_gradient(grad, target, self),
)


def mse_loss(input, target):
    """Return the mean of (input - target)²."""
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=2,
        )
    return mse_loss_(input, target)


def _nll_gradient(grad, self_sym_sizes, target):
    """Return the negative gradient at each row's class and 0 elsewhere."""
    rows, classes = self_sym_sizes
    return keep(expand_(-div(grad, rows), self_sym_sizes), target[:, None] == np.arange(classes))


nll_loss_ = operation(
    "NllLossBackward0",
    lambda self, target: -self[np.arange(len(target)), target].sum() / self.dtype.type(len(target)),
    constants=("target",),
    self=_nll_gradient,
)


def nll_loss(input, target):
    """Return the mean of -input[row, target[row]]. input: (n, classes), log-probabilities; target: (n,), int64."""
    if input.ndim != 2 or target.ndim != 1 or target.dtype is not dtypes.int64:
        raise NotImplementedError(
            "a loss of the mini engine takes an input of shape (n, classes) and a target of shape (n,), which holds "
            f"class indices in int64, but got {list(input.shape)} and {list(target.shape)} ({target.dtype})"
        )
    if len(input) != len(target):
        raise ValueError(f"Expected input batch_size ({len(input)}) to match target batch_size ({len(target)}).")
    wrong = target._data[(target._data < 0) | (target._data >= input.shape[1])]
    if wrong.size:
        raise IndexError(f"Target {wrong[0]} is out of bounds.")
    return nll_loss_(input, target._data)


def cross_entropy(input, target):
    """Return the negative log-likelihood of softmax(input) at the class indices `target`; `input` holds logits."""
    return nll_loss(log_softmax(input, -1), target)
