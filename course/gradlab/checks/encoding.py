"""Encode values as plain data, and decode them.

`encode` copies a value immediately; its result shares no memory with the value and contains nothing that can run code.
Only exact types are read: a subclass can misreport itself, so it is recorded by name. `decode` makes fresh values from
cases, never from data that a student's process sent. torch and NumPy are not imported to encode a value, because only a
process that has imported them can hold one of theirs.
"""

import math
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import observation
from .observation import Array, Dict, DType, Float, List, Other, Size, Tensor, Tuple, Value, room, shape_of
from .plain import NONFINITE, as_array, nonfinite, numbers_in
from .show import show

if TYPE_CHECKING:
    import torch

_SEQUENCES = {list: List, tuple: Tuple}
_DICTS = (dict, Counter, defaultdict, OrderedDict)


class TooLarge(Exception):
    """Raised for a value with more numbers, depth or text than an observation may contain."""


def encode(value: Any) -> Value:
    """Copy `value` into plain data.

    Tensors keep dtype, shape, values, requires_grad and the name of their grad_fn; lists, tuples, torch.Size and dicts
    with string keys keep their type. Any other value is recorded by its type's name. Raises TooLarge past MAX_VALUES
    numbers or MAX_DEPTH levels.
    """
    budget = [observation.MAX_VALUES]

    def spend(count):
        budget[0] -= count
        if budget[0] < 0:
            raise TooLarge(f"more than {observation.MAX_VALUES} values")

    def walk(value, depth):
        spend(1)
        kind = type(value)
        if depth > observation.MAX_DEPTH:
            raise TooLarge(f"nested more than {observation.MAX_DEPTH} levels deep")
        if kind is int and not -observation.INT64 <= value < observation.INT64:
            return Other(f"int of {value.bit_length()} bits")
        if value is None or kind in (bool, int):
            return value
        if kind is float:
            return value if math.isfinite(value) else Float(nonfinite(value))
        if kind is str:
            return text_within(value)
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([walk(item, depth + 1) for item in value])
        if kind in _DICTS and all(type(key) is str for key in value):
            return Dict({text_within(key): walk(item, depth + 1) for key, item in value.items()})
        if kind in _DICTS:
            keys = dict.fromkeys(type_name(type(key)) for key in value)
            return Other(f"dict with keys of type {', '.join(keys)}"[: observation.MAX_TEXT])
        if _is(kind, "torch", "Tensor"):
            return _encode_tensor(value, spend)
        if _is(kind, "torch", "Size"):
            return Size([walk(item, depth + 1) for item in value])
        if _is(kind, "torch", "dtype"):
            return DType(str(value).removeprefix("torch."))
        if _is(kind, "numpy", "ndarray") and value.dtype.kind in "biuf":
            spend(room(value.shape))
            return _with_shape(Array, value.ravel().tolist(), str(value.dtype), value.shape)
        if _is(kind, "numpy", "ndarray") and value.dtype.kind == "O":
            spend(room(value.shape))
            items = dict.fromkeys(type_name(type(item)) for item in value.ravel())
            return Other(text_within(f"numpy.ndarray of objects of type {', '.join(items)}"))
        return Other(type_name(kind))

    return walk(value, 0)


def _is(kind: type, module: str, name: str) -> bool:
    """Return whether a type is the one with this name in a module, which is not imported for that."""
    return kind is getattr(sys.modules.get(module), name, None)


def _encode_tensor(tensor: "torch.Tensor", spend: Callable[[int], None]) -> Value:
    import torch

    if tensor.layout is not torch.strided or tensor.is_complex() or tensor.device.type == "meta":
        return Other(f"torch.Tensor ({tensor.layout}, {tensor.dtype}, {tensor.device})")
    spend(room(tensor.shape))
    values, dtype = tensor.detach().cpu().flatten().tolist(), str(tensor.dtype).removeprefix("torch.")
    node = tensor.grad_fn.name() if tensor.grad_fn is not None else None
    return _with_shape(Tensor, values, dtype, tensor.shape, requires_grad=tensor.requires_grad, grad_fn=node)


def _with_shape(kind: type[Tensor | Array], values: list, dtype: str, shape, **more) -> Value:
    values = [nonfinite(n) if type(n) is float and not math.isfinite(n) else n for n in values]
    if any(type(number) is int and not -observation.INT64 <= number < observation.INT64 for number in values):
        return Other(f"{dtype} values outside the signed 64-bit range")
    dtype = sys.intern(dtype)  # JSON leaves out a default only if it is the same object
    return kind(values, dtype, None if tuple(shape) == (len(values),) else list(shape), **more)


def text_within(text: str) -> str:
    """Return text cut to the limit, with lone surrogates replaced, because JSON cannot represent them."""
    return text[: observation.MAX_TEXT].encode("utf-8", "replace").decode()


def type_name(kind: type) -> str:
    """Return a type's name as learners know it: builtins without their module."""
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return text_within(module + kind.__qualname__)


def decode(value: Value) -> Any:
    """Make a fresh value from what `encode` returned; it shares no memory, and its tensors have no graph."""
    if isinstance(value, Tensor | DType | Size):
        import torch
    match value:
        case Tensor():
            return torch.tensor(numbers_in(value), dtype=getattr(torch, value.dtype)).reshape(shape_of(value))
        case Array():
            return as_array(value).astype(value.dtype)
        case Float():
            return NONFINITE[value.value]
        case DType():
            return getattr(torch, value.name)
        case Dict():
            return {key: decode(item) for key, item in value.items.items()}
        case List() | Tuple() | Size():
            made = [decode(item) for item in value.items]
            return torch.Size(made) if isinstance(value, Size) else tuple(made) if isinstance(value, Tuple) else made
        case Other():
            raise TypeError(f"a case cannot hold {show(value)}")
    return value
