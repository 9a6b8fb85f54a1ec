"""Elementwise operations, with broadcasting."""

import numpy as np

from ..core.operation import check_broadcast, operation
from ..core.tensor import Tensor, make
from ..values import dtypes


def raw(value):
    """Return the array of a Tensor, and anything else unchanged."""
    return value._data if isinstance(value, Tensor) else value


# ----- arithmetic -----

add = operation(
    "AddBackward0",
    lambda self, other: self + other,
    into=lambda self, other: np.add(self, other, out=self),
    promote="same",
    self=lambda grad: grad,
    other=lambda grad: grad,
)

sub = operation(
    "SubBackward0",
    lambda self, other: self - other,
    into=lambda self, other: np.subtract(self, other, out=self),
    promote="same",
    self=lambda grad: grad,
    other=lambda grad: -grad,
)

rsub = operation(
    "RsubBackward1",
    lambda self, other: other - self,
    promote="same",
    self=lambda grad: -grad,
    other=None,
)

mul = operation(
    "MulBackward0",
    lambda self, other: self * other,
    into=lambda self, other: np.multiply(self, other, out=self),
    promote="same",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)

div = operation(
    "DivBackward0",
    lambda self, other: np.true_divide(self, other),
    promote="float",
    self=lambda grad, other: div(grad, other),
    other=lambda grad, self, other: -grad * div(div(self, other), other),
)

reciprocal = operation(
    "ReciprocalBackward0",
    lambda self: 1 / self,
    promote="float",
    self=lambda grad, result: -grad * (result * result),
)

neg = operation("NegBackward0", lambda self: -self, self=lambda grad: -grad)

# ----- copies and constants -----

clone = operation("CloneBackward0", lambda self: self.copy(), self=lambda grad: grad)

# The gradient arrives in the new dtype; the receiving node converts it to its own.
to_copy = operation("ToCopyBackward0", lambda self, dtype: self.astype(dtype), self=lambda grad: grad)


def to(input, dtype):
    """Return input in the given dtype: input itself if that is its dtype, a constant for a non-float dtype."""
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"to() of the mini engine takes a dtype, such as torch.float64, not {dtype!r}")
    if input.dtype is dtype:
        return input
    return to_copy(input if dtype.is_floating_point else input.detach(), dtype.numpy)


def zeros_like(value):
    """Return zeros, a constant, in the shape and dtype of an array or Tensor."""
    zeros = np.zeros_like(raw(value))
    return make(zeros) if isinstance(value, Tensor) else zeros


def _keep(grad, mask):
    """Compute np.where(mask, grad, 0) by multiplying bits: a branch for each element takes three times as long."""
    bits = np.dtype(f"i{grad.itemsize}")
    return (grad.view(bits) * mask).view(grad.dtype)


# The gradient where `mask` is true, and 0 elsewhere, even instead of nan or inf. For use inside formulas.
keep = operation("MulBackward0", _keep, constants=("mask",), grad=lambda grad, mask: keep(grad, mask))

# ----- powers -----


def _pow_self(grad, self, exponent):
    """Return `grad` times ∂/∂x xᵉ = e·xᵉ⁻¹, or 0 if e is 0, even at x = 0."""
    return zeros_like(grad) if exponent == 0 else grad * (exponent * pow_scalar(self, exponent - 1))


pow_scalar = operation(
    "PowBackward0",
    lambda self, exponent: 1 / np.sqrt(self) if exponent == -0.5 else self**exponent,  # as torch does
    self=_pow_self,
)


def pow(input, exponent):
    """Return input raised to a power, which is a Python number."""
    if isinstance(exponent, Tensor):
        raise TypeError("a power of the mini engine is a number, not a Tensor")
    if isinstance(exponent, float):
        input = input if input.dtype.is_floating_point else to(input, dtypes.DEFAULT)
    elif input.dtype is dtypes.bool:
        input = to(input, dtypes.int64)
    elif exponent < 0 and not input.dtype.is_floating_point:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return pow_scalar(input, exponent)


# ----- functions of one argument -----


exp = operation("ExpBackward0", lambda self: np.exp(self), promote="float", self=lambda grad, result: grad * result)
log = operation("LogBackward0", lambda self: np.log(self), promote="float", self=lambda grad, self: div(grad, self))
sin = operation("SinBackward0", lambda self: np.sin(self), promote="float", self=lambda grad, self: grad * cos(self))
cos = operation("CosBackward0", lambda self: np.cos(self), promote="float", self=lambda grad, self: grad * -sin(self))
tanh = operation(
    "TanhBackward0", lambda self: np.tanh(self), promote="float", self=lambda grad, result: grad * (1 - result * result)
)
sigmoid = operation(
    "SigmoidBackward0",
    lambda self: 1 / (1 + np.exp(-self)),
    promote="float",
    self=lambda grad, result: grad * ((1 - result) * result),
)
relu = operation(
    "ReluBackward0", lambda self: np.maximum(self, 0), self=lambda grad, result: keep(grad, ~(raw(result) <= 0))
)

# ----- comparisons: their results have no gradient -----


def _constant(function):
    def method(input, other):
        if not isinstance(other, (Tensor, int, float, np.generic)):
            return NotImplemented
        arrays = [raw(input), other.item() if isinstance(other, np.generic) else raw(other)]
        dtypes.promote(arrays, 2, "same")
        check_broadcast(arrays)
        return make(np.asarray(function(*arrays)))

    return method


eq, ne, lt, le, gt, ge = map(_constant, (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal))
