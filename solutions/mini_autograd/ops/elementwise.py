"""Elementwise operations, with broadcasting."""

import numpy as np

from ..core.operation import operation
from ..core.tensor import Tensor, make

# ----- arithmetic -----

add = operation(
    "AddBackward0",
    lambda self, other: self + other,
    into=lambda self, other: np.add(self, other, out=self),
    promote="same",
    self=lambda grad: grad,
    other=lambda grad: grad,
)

add_scaled = operation(
    "AddBackward0",
    lambda self, other, alpha: self + alpha * other,
    into=lambda self, other, alpha: np.add(self, alpha * other, out=self),
    promote="same",
    self=lambda grad: grad,
    other=lambda grad, alpha: grad * alpha,
)

sub = operation(
    "SubBackward0",
    lambda self, other: self - other,
    into=lambda self, other: np.subtract(self, other, out=self),
    promote="same",
    self=lambda grad: grad,
    other=lambda grad: -grad,
)

sub_scaled = operation(
    "SubBackward0",
    lambda self, other, alpha: self - alpha * other,
    into=lambda self, other, alpha: np.subtract(self, alpha * other, out=self),
    promote="same",
    self=lambda grad: grad,
    other=lambda grad, alpha: grad * -alpha,
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


def _divide(self, other):
    with np.errstate(all="ignore"):
        return np.true_divide(self, other)


div = operation(
    "DivBackward0",
    _divide,
    promote="float",
    self=lambda grad, other: div(grad, other),
    other=lambda grad, self, other: -grad * div(div(self, other), other),
)


neg = operation("NegBackward0", lambda self: -self, self=lambda grad: -grad)


def _reciprocal(self):
    with np.errstate(all="ignore"):
        return 1 / self


reciprocal = operation(
    "ReciprocalBackward0", _reciprocal, promote="float", self=lambda grad, result: -grad * (result * result)
)

# ----- dtype, copies, constants -----

clone = operation("CloneBackward0", lambda self: self.copy(), self=lambda grad: grad)

# The gradient arrives in the new dtype; the receiving node converts it to its own.
to_copy = operation("ToCopyBackward0", lambda self, dtype: self.astype(dtype), self=lambda grad: grad)


def raw(value):
    """Return the array of a Tensor, and anything else unchanged."""
    return getattr(value, "_data", value)


def cast(value, numpy_dtype):
    """Return `value` as a Tensor of a NumPy dtype: itself if that is its dtype, a constant for a non-float dtype."""
    if value._data.dtype == numpy_dtype:
        return value
    return to_copy(value if np.dtype(numpy_dtype).kind == "f" else value.detach(), numpy_dtype)


def zeros_like(value):
    """Return zeros, a constant, in the shape and dtype of an array or Tensor."""
    zeros = np.zeros_like(raw(value))
    return make(zeros) if isinstance(value, Tensor) else zeros


where = operation(
    "WhereBackward0",
    lambda self, other, condition: np.where(condition, self, other),
    promote="same",
    constants=("condition",),
    self=lambda grad, condition: where(grad, 0.0, condition),
    other=lambda grad, condition: where(0.0, grad, condition),
)

masked_fill = operation(
    "MaskedFillBackward0",
    lambda self, mask, value: np.where(mask, self.dtype.type(value), self),
    constants=("mask",),
    self=lambda grad, mask: masked_fill(grad, mask, 0),
)

# ----- powers -----


def _power(self, exponent):
    with np.errstate(all="ignore"):
        return self**exponent


def _pow_self(grad, self, exponent):
    """Return `grad` times ∂/∂x xᵉ = e·xᵉ⁻¹, or 0 if e is 0, even at x = 0."""
    if not hasattr(exponent, "shape"):
        return zeros_like(grad) if exponent == 0 else grad * (exponent * pow_scalar(self, exponent - 1))
    return where(0.0, grad * (exponent * pow_tensor(self, exponent - 1)), raw(exponent) == 0)


def _pow_exponent(grad, self, exponent, result):
    """Return `grad` times ∂/∂e xᵉ = xᵉ·log x, or 0 if x is 0 and e is not negative."""
    return grad * where(0.0, result * log(self), (raw(self) == 0) & (raw(exponent) >= 0))


pow_scalar = operation("PowBackward0", _power, self=_pow_self)
pow_tensor = operation("PowBackward1", _power, promote="same", self=_pow_self, exponent=_pow_exponent)
pow_number = operation(
    "PowBackward2",
    lambda exponent, self: _power(exponent.dtype.type(self), exponent),
    exponent=lambda grad, exponent, self, result: _pow_exponent(grad, self, exponent, result),
)

# ----- functions of one argument -----


def _quiet(function):
    """Return `function` wrapped so that inf and nan cause no NumPy warning, as in torch."""

    def forward(self):
        with np.errstate(all="ignore"):
            return function(self)

    return forward


def _sigmoid(self):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-self))


exp = operation("ExpBackward0", _quiet(np.exp), promote="float", self=lambda grad, result: grad * result)
log = operation("LogBackward0", _quiet(np.log), promote="float", self=lambda grad, self: div(grad, self))
log1p = operation("Log1PBackward0", _quiet(np.log1p), promote="float", self=lambda grad, self: div(grad, self + 1))
sqrt = operation("SqrtBackward0", _quiet(np.sqrt), promote="float", self=lambda grad, result: div(grad, 2 * result))
rsqrt = operation(
    "RsqrtBackward0",
    _quiet(lambda self: 1 / np.sqrt(self)),
    promote="float",
    self=lambda grad, result: -0.5 * grad * (result * result * result),
)
sin = operation("SinBackward0", np.sin, promote="float", self=lambda grad, self: grad * cos(self))
cos = operation("CosBackward0", np.cos, promote="float", self=lambda grad, self: grad * -sin(self))
tanh = operation("TanhBackward0", np.tanh, promote="float", self=lambda grad, result: grad * (1 - result * result))
sigmoid = operation(
    "SigmoidBackward0", _sigmoid, promote="float", self=lambda grad, result: grad * ((1 - result) * result)
)
abs = operation("AbsBackward0", np.abs, self=lambda grad, self: grad * np.sign(raw(self)))
sign = operation("SignBackward0", np.sign, self=zeros_like)
floor = operation("FloorBackward0", np.floor, self=zeros_like)
ceil = operation("CeilBackward0", np.ceil, self=zeros_like)
round = operation("RoundBackward0", np.rint, self=zeros_like)

relu = operation(
    "ReluBackward0", lambda self: np.maximum(self, 0), self=lambda grad, result: keep(grad, raw(result) > 0)
)
leaky_relu = operation(
    "LeakyReluBackward0",
    lambda self, negative_slope: np.where(self > 0, self, self * self.dtype.type(negative_slope)),
    self=lambda grad, self, negative_slope: where(grad, grad * negative_slope, raw(self) > 0),
)
softplus = operation(
    "SoftplusBackward0",
    lambda self, beta, threshold: np.where(
        self * beta > threshold, self, np.log1p(np.exp(np.minimum(self * beta, threshold))) / beta
    ),
    self=lambda grad, self, beta, threshold: where(grad, grad * sigmoid(self * beta), raw(self) * beta > threshold),
)

# ----- selection -----


def _keep(grad, mask):
    """Compute np.where(mask, grad, 0) by multiplying bits: a branch for each element takes three times as long."""
    bits = np.dtype(f"i{grad.itemsize}")
    return (grad.view(bits) * mask).view(grad.dtype)


# The gradient where `mask` is true, and 0 elsewhere, even instead of nan or inf.
keep = operation("MulBackward0", _keep, constants=("mask",), grad=lambda grad, mask: keep(grad, mask))


def _clamp(self, min, max):
    return np.clip(self, min, max)


def _inside(self, min, max):
    inside = np.ones(np.shape(self), bool)
    if min is not None:
        inside &= self >= min
    if max is not None:
        inside &= self <= max
    return inside


clamp = operation(
    "ClampBackward1",
    _clamp,
    self=lambda grad, self, min, max: keep(grad, _inside(raw(self), min, max)),
)


def _share(grad, mine, other):
    """Return the gradient where `mine` is larger, half of it where both are equal, and 0 elsewhere."""
    mine, other = raw(mine), raw(other)
    return where(grad * 0.5, keep(grad, mine > other), mine == other)


maximum = operation(
    "MaximumBackward0",
    np.maximum,
    promote="same",
    self=lambda grad, self, other: _share(grad, self, other),
    other=lambda grad, self, other: _share(grad, other, self),
)
minimum = operation(
    "MinimumBackward0",
    np.minimum,
    promote="same",
    self=lambda grad, self, other: _share(grad, -raw(self), -raw(other)),
    other=lambda grad, self, other: _share(grad, -raw(other), -raw(self)),
)
