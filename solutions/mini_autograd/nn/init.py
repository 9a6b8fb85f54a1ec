"""Initialize parameters. Each function fills a tensor and returns it; nothing is recorded.

The random numbers are NumPy's, seeded by `manual_seed`; the same seed gives different numbers from torch's.
"""

import math
import warnings

import numpy as np

from ..core.modes import no_grad
from ..core.tensor import make
from ..functions import creation
from ..functions.left_out import no_attribute


def calculate_gain(nonlinearity, param=None):
    """Return the factor that preserves the variance through the nonlinearity with this torch name."""
    if nonlinearity in ("linear", "conv1d", "conv2d", "conv3d", "sigmoid"):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _filled(tensor, array):
    with no_grad():
        return tensor.copy_(make(np.asarray(array)))


def uniform_(tensor, a=0.0, b=1.0):
    """Fill `tensor` with numbers drawn uniformly from [a, b)."""
    return _filled(tensor, creation.generator().uniform(a, b, tensor.shape))


def normal_(tensor, mean=0.0, std=1.0):
    """Fill `tensor` with numbers drawn from the normal distribution."""
    return _filled(tensor, creation.generator().normal(mean, std, tensor.shape))


def constant_(tensor, val):
    """Fill `tensor` with `val`."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Fill `tensor` with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Fill `tensor` with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor):
    """Fill `tensor`, a matrix, with the identity."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _filled(tensor, np.eye(*tensor.shape))


def _calculate_fan_in_and_fan_out(tensor):
    """Return the number of inputs per output of a layer with this weight, and the number of outputs per input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def xavier_uniform_(tensor, gain=1.0):
    """Draw uniformly with variance gain² · 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    """Draw normally with variance gain² · 2 / (fan_in + fan_out)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))))


def _kaiming_std(tensor, a, mode, nonlinearity):
    """Return the standard deviation gain / √fan (He et al. 2015), or None for a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan_in if mode.lower() == "fan_in" else fan_out)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Draw uniformly with variance gain² / fan; `a` is a leaky_relu's negative slope."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Draw normally with variance gain² / fan; `a` is a leaky_relu's negative slope."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std)


def __getattr__(name):
    raise no_attribute("nn.init", name)
