"""Functions that work on the gradients of many parameters together."""

import types
import warnings

import numpy as np

from ..core.modes import no_grad
from ..core.tensor import Tensor, make
from ..functions.left_out import no_attribute


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale all gradients, in place, so that their total norm is at most max_norm; return the norm before scaling.

    norm_type: the exponent of the norm; inf for the largest element.
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    elif isinstance(parameters, types.GeneratorType):
        parameters = list(parameters)
        if not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm_type, max_norm = float(norm_type), float(max_norm)
    with no_grad(), np.errstate(all="ignore"):
        total = _norm(gradients, norm_type)
        if error_if_nonfinite and not np.isfinite(total._data):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
                "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                "`error_if_nonfinite=False`"
            )
        factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)
    return total


def _norm(gradients, norm_type):
    """Return the norm of all elements of all gradients, a 0-dimensional tensor."""
    if not gradients:
        return make(np.zeros((), np.float32))
    norms = np.array([np.linalg.norm(gradient._data.reshape(-1), norm_type) for gradient in gradients])
    return make(np.asarray(np.linalg.norm(norms, norm_type)))


def __getattr__(name):
    raise no_attribute("nn.utils", name)
