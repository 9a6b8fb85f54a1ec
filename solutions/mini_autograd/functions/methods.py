"""The methods and operators of `Tensor`: a table of names for functions defined elsewhere."""

import functools
import types

from ..core.tensor import Tensor
from ..ops import assign, indexing, linalg
from ..ops import elementwise as ew
from ..ops.inplace import inplace
from ..values import dtypes
from . import arithmetic, left_out, shaping


def to(self, *args, dtype=None, **options):
    """Return this tensor in the given dtype (itself if that is its dtype); any device is accepted and ignored."""
    for arg in args:
        dtype = arg if isinstance(arg, dtypes.dtype) else arg.dtype if isinstance(arg, Tensor) else dtype
    return self if dtype is None else ew.cast(self, dtype.numpy)


def _to(dtype):
    return lambda self: to(self, dtype)


def _in_place(call):
    def method(self, *args, **options):
        return inplace(call, self, *args, **options)

    return method


def _add_(self, other, *, alpha=1):
    return inplace(ew.add, self, other) if alpha == 1 else inplace(ew.add_scaled, self, other, alpha)


def _sub_(self, other, *, alpha=1):
    return inplace(ew.sub, self, other) if alpha == 1 else inplace(ew.sub_scaled, self, other, alpha)


def _pow_(self, exponent):
    return inplace(ew.pow_tensor if isinstance(exponent, Tensor) else ew.pow_scalar, self, exponent)


def _copy_(self, src, non_blocking=False):
    return inplace(assign.copy, self, src)


def _fill_(self, value):
    return inplace(assign.fill_tensor if isinstance(value, Tensor) else assign.fill, self, value)


def _clamp_(self, min=None, max=None):
    return inplace(ew.clamp, self, min, max)


def _masked_fill_(self, mask, value):
    return inplace(ew.masked_fill, self, mask._data, value.item() if isinstance(value, Tensor) else value)


def _dim(self):
    return self._data.ndim


UNARY = [
    "exp", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "relu", "abs", "sign", "floor", "ceil",
    "round", "reciprocal",
]  # fmt: skip
FUNCTIONS = [
    "add", "sub", "pow", "square", "clamp", "masked_fill", "neg", "eq", "ne", "lt", "le", "gt", "ge", "logical_not",
    "logical_and", "logical_or", "isnan", "isinf", "isfinite", "allclose", "equal", "argmax", "argmin",
    "any", "all", "nonzero", "sum", "mean", "var", "std", "norm", "max", "min", "amax", "amin", "logsumexp",
    "softmax", "log_softmax",
]  # fmt: skip
SHAPING = [
    "reshape", "flatten", "transpose", "t", "permute", "squeeze", "unsqueeze", "select", "narrow", "chunk", "split",
    "unbind", "gather", "flip", "outer", "numel",
]  # fmt: skip
METHODS_ONLY = ["view", "view_as", "expand", "expand_as", "contiguous", "size", "stride", "repeat"]

OPERATORS = {
    "add": ew.add, "radd": ew.add, "sub": arithmetic._sub, "rsub": ew.rsub, "mul": ew.mul, "rmul": ew.mul,
    "truediv": ew.div, "rtruediv": arithmetic.rdiv, "pow": arithmetic.pow, "rpow": arithmetic.rpow,
    "neg": arithmetic.neg, "abs": ew.abs, "matmul": linalg.matmul, "invert": arithmetic.invert,
    "eq": arithmetic.eq, "ne": arithmetic.ne, "lt": arithmetic.lt, "le": arithmetic.le, "gt": arithmetic.gt,
    "ge": arithmetic.ge,
    "and": arithmetic.bitwise_and, "or": arithmetic.bitwise_or, "xor": arithmetic.bitwise_xor,
    "iadd": _add_, "isub": _sub_, "imul": _in_place(ew.mul), "itruediv": _in_place(ew.div), "ipow": _pow_,
    "getitem": indexing.getitem, "setitem": indexing.setitem, "iter": shaping.iterate,
}  # fmt: skip

NAMED = {
    "mul": ew.mul, "div": ew.div, "maximum": ew.maximum, "minimum": ew.minimum,
    "clone": ew.clone, "dot": linalg.dot,
    "matmul": linalg.matmul, "mm": linalg.matmul, "bmm": linalg.matmul, "mv": linalg.matmul,
}  # fmt: skip

IN_PLACE = {
    "add_": _add_, "sub_": _sub_, "mul_": _in_place(ew.mul), "div_": _in_place(ew.div), "pow_": _pow_,
    "neg_": _in_place(ew.neg), "copy_": _copy_, "fill_": _fill_, "zero_": _in_place(assign.zero), "clamp_": _clamp_,
    "masked_fill_": _masked_fill_,
    **{name + "_": _in_place(getattr(ew, name)) for name in UNARY},
}  # fmt: skip

OTHER = {
    "to": to, "dim": _dim, "float": _to(dtypes.float32),
    "double": _to(dtypes.float64), "long": _to(dtypes.int64), "int": _to(dtypes.int32), "bool": _to(dtypes.bool),
    "is_floating_point": lambda self: self.dtype.is_floating_point,
    "is_contiguous": lambda self: self._data.flags.c_contiguous,
    "element_size": lambda self: self._data.itemsize,
    "cpu": lambda self: self,
    "where": lambda self, condition, other: arithmetic.where(condition, self, other),
    "data_ptr": lambda self: self._data.__array_interface__["data"][0],
}  # fmt: skip


def _public():
    """Return, by name, the functions that work both as `torch.name(x)` and as `x.name()`."""
    shared = {name: getattr(ew, name) for name in UNARY}
    shared.update({name: getattr(arithmetic, name) for name in FUNCTIONS})
    shared.update({name: getattr(shaping, name) for name in SHAPING})
    return {**shared, **NAMED}


TAKES_OTHERS = {"pow", "where", "cat", "stack", "is_tensor"}


def for_tensors(name, function):
    """Return `function` for use as `torch.name(x)`; it rejects anything but a Tensor, as torch does."""
    if name in TAKES_OTHERS:
        return function

    @functools.wraps(function)
    def checked(input, *args, **options):
        if not isinstance(input, Tensor):
            kind = type(input).__name__
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {kind}")
        return function(input, *args, **options)

    return checked


PUBLIC = _public()

for _name, _function in {
    **PUBLIC,
    **{name: getattr(shaping, name) for name in METHODS_ONLY},
    **IN_PLACE,
    **OTHER,
    **{f"__{name}__": function for name, function in OPERATORS.items()},
}.items():
    setattr(Tensor, _name, _function)

Tensor.T = property(shaping.reverse_dims)
Tensor.mT = property(lambda self: shaping.transpose(self, -2, -1))
Tensor.device = property(lambda self: types.SimpleNamespace(type="cpu"))
PUBLIC.update(where=arithmetic.where, cat=shaping.cat, stack=shaping.stack, is_tensor=shaping.is_tensor)
left_out.say_so(Tensor)
