"""torch's functions for arithmetic, comparison and reduction, built on the operations in `ops`.

Arguments are converted to the form that `ops` expects: `dim` is a tuple without negative numbers. This file contains no
gradients. Functions that rearrange elements are in `shaping.py`.
"""

import builtins
import warnings

import numpy as np

from ..core.tensor import Tensor, make
from ..ops import elementwise as ew
from ..ops import reduce, shape
from ..values import dtypes


def _dim(dim, ndim):
    """Return `dim`, which may be negative, as a number counted from the front."""
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    if not low <= dim <= high:
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return dim % ndim if ndim else 0


def _dims(dim, ndim):
    """Return one or several dimensions as a tuple; None and () mean all."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    return tuple(_dim(d, ndim) for d in dims) if ndim else ()


# ----- arithmetic -----


def add(input, other, *, alpha=1):
    """Return input + alpha · other."""
    return ew.add(input, other) if alpha == 1 else ew.add_scaled(input, other, alpha)


def sub(input, other, *, alpha=1):
    """Return input - alpha · other."""
    if alpha == 1:
        return _sub(input, other)
    return ew.sub_scaled(input, other, alpha)


def _sub(input, other):
    if isinstance(other, Tensor) and input.dtype is dtypes.bool is other.dtype:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    return ew.sub(input, other)


def neg(input):
    """Return -input."""
    if input.dtype is dtypes.bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are "
            "trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead."
        )
    return ew.neg(input)


def rdiv(input, other):
    """Return other / input, computed as in torch: the reciprocal times a number."""
    return ew.mul(ew.reciprocal(input), other)


def pow(input, exponent):
    """Return input raised to exponent; either may be a number."""
    if not isinstance(input, Tensor):
        return ew.pow_number(exponent if _is_float(exponent) else _float(exponent, input), input)
    if isinstance(exponent, Tensor):
        return ew.pow_tensor(input, exponent)
    if not _is_float(input):
        if isinstance(exponent, float):
            input = ew.cast(input, dtypes.get_default_dtype().numpy)
        elif exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
    return ew.pow_scalar(input, exponent)


def _is_float(tensor):
    return tensor._data.dtype.kind == "f"


def _float(tensor, number):
    return ew.cast(tensor, dtypes.get_default_dtype().numpy) if isinstance(number, float) else tensor


def rpow(input, other):
    """Return other raised to input."""
    return pow(other, input)


def square(input):
    """Return input²."""
    return pow(input, 2)


def clamp(input, min=None, max=None):
    """Return input with values limited to [min, max]."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return ew.clamp(input, min, max)


def where(condition, input=None, other=None):
    """Return input where condition is true, else other; with only a condition, the indices where it is true."""
    if input is None:
        return nonzero(condition, as_tuple=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = make(np.asarray(input, dtypes.result_type([input]))) if not isinstance(input, Tensor) else input
    return ew.where(input, other, condition._data)


def masked_fill(input, mask, value):
    """Return input with `value` where `mask` is true."""
    if mask.dtype is not dtypes.bool:
        name = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int"}[mask.dtype.name]
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype " + name)
    mask = mask._data
    value = value.item() if isinstance(value, Tensor) else value
    target = np.broadcast_shapes(input.shape, mask.shape)
    return ew.masked_fill(input if target == input.shape else shape.expand(input, target), mask, value)


# ----- comparisons and other results without a gradient -----


def _constant(function):
    def method(input, *others):
        arrays = [ew.raw(each) for each in (input, *others)]
        if builtins.any(array is None or isinstance(array, str) for array in arrays):
            return NotImplemented
        return make(np.asarray(function(*arrays)))

    return method


eq, ne, lt, le, gt, ge = map(_constant, (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal))
logical_not, logical_and, logical_or = map(_constant, (np.logical_not, np.logical_and, np.logical_or))
bitwise_and, bitwise_or, bitwise_xor = map(_constant, (np.bitwise_and, np.bitwise_or, np.bitwise_xor))
isnan, isinf, isfinite = map(_constant, (np.isnan, np.isinf, np.isfinite))
invert = _constant(np.invert)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether all elements agree within atol + rtol·|other|."""
    return builtins.bool(np.allclose(input._data, other._data, rtol=rtol, atol=atol, equal_nan=equal_nan))


def equal(input, other):
    """Return whether shapes and all elements are the same."""
    return builtins.bool(np.array_equal(input._data, other._data))


def _along(function):
    def method(input, dim=None, keepdim=False):
        axis = None if dim is None else _dim(dim, input.ndim)
        return make(np.asarray(function(input._data, axis=axis, keepdims=keepdim)))

    return method


argmax, argmin, any, all = map(_along, (np.argmax, np.argmin, np.any, np.all))


def nonzero(input, *, as_tuple=False):
    """Return the indices of the nonzero elements."""
    found = np.nonzero(input._data)
    return tuple(make(each) for each in found) if as_tuple else make(np.stack(found, 1))


# ----- reductions -----


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Return the sum, over all dimensions or over `dim`."""
    if dtype is not None:
        input = ew.cast(input, dtype.numpy)
    return reduce.sum(input) if dim is None else reduce.sum_dim(input, _dims(dim, input.ndim), keepdim)


def mean(input, dim=None, keepdim=False):
    """Return the mean, over all dimensions or over `dim`."""
    if not _is_float(input):
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + input._type_name().removesuffix("Tensor")
        )
    return reduce.mean(input) if dim is None else reduce.mean_dim(input, _dims(dim, input.ndim), keepdim)


def _spread_measure(name, operation):
    def method(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, builtins.bool):
            dim, unbiased = None, dim
        if not _is_float(input):
            raise RuntimeError("std and var only support floating point and complex dtypes")
        if correction is None:
            correction = 0 if unbiased is False else 1
        dims = _dims(dim, input.ndim)
        if np.prod([input.shape[d] for d in dims]) <= correction:
            warnings.warn(
                f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
                "(input numel divided by output numel).",
                UserWarning,
                stacklevel=2,
            )
        return operation(input, dims, correction, keepdim)

    return method


var, std = _spread_measure("var", reduce.var), _spread_measure("std", reduce.std)


def norm(input, p=2, dim=None, keepdim=False):
    """Return the Euclidean norm."""
    if p not in (2, "fro"):
        raise NotImplementedError(f"norm with p={p} is left out of the mini engine, which has p=2; use torch.norm")
    return reduce.norm(input, _dims(dim, input.ndim), keepdim)


class _Extreme(tuple):
    """The two results of `max` and `min` over a dimension."""

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])

    def __repr__(self):
        return f"torch.return_types.{self.name}(\nvalues={self[0]!r},\nindices={self[1]!r})"


def _extreme(name, of_all, of_dim, of_two):
    result = type(name, (_Extreme,), {"name": name})

    def method(input, dim=None, keepdim=False):
        if isinstance(dim, Tensor):
            return of_two(input, dim)
        if dim is None:
            if not input.numel():
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                    "Specify the reduction dim with the 'dim' argument."
                )
            return of_all(input)
        return result(of_dim(input, _dim(dim, input.ndim), keepdim))

    return method


max = _extreme("max", reduce.max, reduce.max_dim, ew.maximum)
min = _extreme("min", reduce.min, reduce.min_dim, ew.minimum)


def amax(input, dim=(), keepdim=False):
    """Return the largest values over `dim`; ties share the gradient equally."""
    return reduce.amax(input, _dims(dim, input.ndim), keepdim)


def amin(input, dim=(), keepdim=False):
    """Return the smallest values over `dim`; ties share the gradient equally."""
    return reduce.amin(input, _dims(dim, input.ndim), keepdim)


def logsumexp(input, dim, keepdim=False):
    """Return log Σ exp(input) over `dim`, without overflow."""
    return reduce.logsumexp(input, _dims(dim, input.ndim), keepdim)


def softmax(input, dim, dtype=None):
    """Return exp(input) / Σ exp(input) along `dim`."""
    return _softmax("softmax", input, dim, dtype)


def log_softmax(input, dim, dtype=None):
    """Return the logarithm of softmax along `dim`."""
    return _softmax("log_softmax", input, dim, dtype)


def _softmax(name, input, dim, dtype):
    input = input if dtype is None else ew.cast(input, dtype.numpy)
    dim = _dim(dim, input.ndim)
    if not _is_float(input):
        kernel = "lastdim_kernel" if dim >= input.ndim - 1 else "kernel"
        kind = input._type_name().removesuffix("Tensor")
        raise NotImplementedError(f"\"{name}_{kernel}_impl\" not implemented for '{kind}'")
    return getattr(reduce, name)(input, dim)
