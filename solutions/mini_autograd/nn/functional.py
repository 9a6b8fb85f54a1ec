"""The functions of `torch.nn.functional`: the linear layer, activations, and two losses."""

import warnings

from ..ops import losses
from ..ops.elementwise import relu, sigmoid, tanh  # noqa: F401
from ..ops.matrices import linear  # noqa: F401
from ..ops.reductions import log_softmax
from ..values import dtypes


def mse_loss(input, target, reduction="mean"):
    """Return the mean of (input - target)², or with `reduction` their "sum", or each of them ("none")."""
    _check_reduction(reduction)
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=2,
        )
    return losses.mse_loss(input, target, reduction)


def nll_loss(input, target, reduction="mean"):
    """Return the mean of -input[row, target[row]]. input: (n, classes), log-probabilities; target: (n,), int64."""
    _check_reduction(reduction)
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
    return losses.nll_loss(input, target._data, reduction)


def cross_entropy(input, target, reduction="mean"):
    """Return the negative log-likelihood of softmax(input) at the class indices `target`; `input` holds logits."""
    return nll_loss(log_softmax(input, -1), target, reduction)


def _check_reduction(reduction):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
