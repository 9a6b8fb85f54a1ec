"""Values as plain data: what goes into a record, out of a student's process and through JSON.

`encode` copies a value at once into dictionaries, lists, numbers and strings; nothing it returns shares memory with the
value, and nothing in it can run code. Only exact types are read: a subclass may lie about itself, so it is named, not
opened. `decode` makes fresh values again, and is used for cases only, never for what a student's process has sent.
"""

import math
from typing import Any

import numpy as np
import torch

MAX_VALUES = 100_000
MAX_DEPTH = 20
MAX_TEXT = 2_000

_NONFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_CONTAINERS = {list: "list", tuple: "tuple", torch.Size: "torch.Size"}
_ARRAY_KEYS = {
    "tensor": {"tensor", "dtype", "shape", "requires_grad", "grad_fn"},
    "ndarray": {"ndarray", "dtype", "shape"},
}


class TooLarge(Exception):
    """More values, depth or text than an observation may hold."""


def encode(value: Any) -> Any:
    """Copy `value` into plain data.

    Tensors keep dtype, shape, values, requires_grad and the name of their grad_fn; lists, tuples, torch.Size and dicts
    with string keys keep their type; nan and inf become strings. Anything else is named by its type: {"object": …}.
    Raises TooLarge past MAX_VALUES numbers or MAX_DEPTH levels.
    """
    budget = [MAX_VALUES]

    def spend(count):
        budget[0] -= count
        if budget[0] < 0:
            raise TooLarge(f"more than {MAX_VALUES} values")

    def walk(value, depth):
        spend(1)
        kind = type(value)
        if depth > MAX_DEPTH:
            raise TooLarge(f"nested more than {MAX_DEPTH} deep")
        if value is None or kind is bool or kind is int:
            return value
        if kind is float:
            return _number(value) if math.isfinite(value) else {"float": _number(value)}
        if kind is str:
            return value[:MAX_TEXT]
        if kind is torch.dtype:
            return {"torch.dtype": str(value)}
        if kind in _CONTAINERS:
            return {_CONTAINERS[kind]: [walk(item, depth + 1) for item in value]}
        if kind is dict and all(type(key) is str for key in value):
            return {"dict": {key[:MAX_TEXT]: walk(item, depth + 1) for key, item in value.items()}}
        if kind is torch.Tensor:
            return _encode_tensor(value, spend)
        if kind is np.ndarray and value.dtype.kind in "biuf":
            spend(value.size)
            return {"ndarray": _numbers(value.ravel().tolist()), "dtype": str(value.dtype), "shape": list(value.shape)}
        return {"object": type_name(kind)}

    return walk(value, 0)


def _encode_tensor(tensor: torch.Tensor, spend) -> dict:
    if tensor.layout is not torch.strided or tensor.is_complex() or tensor.device.type == "meta":
        return {"object": f"torch.Tensor ({tensor.layout}, {tensor.dtype}, {tensor.device})"}
    spend(tensor.numel())
    return {
        "tensor": _numbers(tensor.detach().cpu().flatten().tolist()),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "requires_grad": tensor.requires_grad,
        "grad_fn": tensor.grad_fn.name() if tensor.grad_fn is not None else None,
    }


def type_name(kind: type) -> str:
    """The name of a type as a learner knows it: builtins without their module."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _number(number: float) -> float | str:
    if math.isfinite(number):
        return number
    return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"


def _numbers(numbers: list) -> list:
    return [_number(n) if type(n) is float else n for n in numbers]


def decode(data: Any) -> Any:
    """Make a fresh value from what `encode` returned; tensors come without a graph and share memory with nothing."""
    if isinstance(data, dict):
        ((kind, content),) = [
            (k, v) for k, v in data.items() if k not in ("dtype", "shape", "requires_grad", "grad_fn")
        ]
        if kind == "tensor":
            values = [_NONFINITE.get(n, n) if isinstance(n, str) else n for n in content]
            return torch.tensor(values, dtype=getattr(torch, data["dtype"])).reshape(data["shape"])
        if kind == "float":
            return _NONFINITE[content]
        if kind == "torch.dtype":
            return getattr(torch, content.removeprefix("torch."))
        if kind == "dict":
            return {key: decode(item) for key, item in content.items()}
        container = {name: make for make, name in _CONTAINERS.items()}[kind]
        return container([decode(item) for item in content])
    return data


def array(data: dict) -> np.ndarray:
    """The values of an encoded tensor or ndarray as a NumPy array of its shape."""
    values = data["tensor"] if "tensor" in data else data["ndarray"]
    values = [_NONFINITE[n] if isinstance(n, str) else n for n in values]
    return np.array(values, dtype=float if not values or type(values[0]) is not bool else bool).reshape(data["shape"])


def without_graph(data: Any) -> Any:
    """The same plain data without what tells a tensor's place in a graph: values alone, to see a mutation."""
    if isinstance(data, list):
        return [without_graph(item) for item in data]
    if isinstance(data, dict):
        return {key: without_graph(item) for key, item in data.items() if key not in ("requires_grad", "grad_fn")}
    return data


def is_plain(data: Any) -> bool:
    """Tell whether `data`, come from outside, is something that `encode` could have returned."""
    budget = [2 * MAX_VALUES]

    def number(n):
        return type(n) in (bool, int) or (type(n) is float and math.isfinite(n)) or n in _NONFINITE

    def walk(data, depth):
        budget[0] -= 1
        if budget[0] < 0 or depth > MAX_DEPTH:
            return False
        kind = type(data)
        if data is None or kind in (bool, int):
            return True
        if kind is float:
            return math.isfinite(data)
        if kind is str:
            return len(data) <= MAX_TEXT
        if kind is not dict or not all(type(key) is str for key in data):
            return False
        for array_kind, keys in _ARRAY_KEYS.items():
            if set(data) == keys:
                values, shape = data[array_kind], data["shape"]
                budget[0] -= len(values) if type(values) is list else 0
                return (
                    type(values) is list
                    and type(shape) is list
                    and budget[0] >= 0
                    and len(shape) <= 64
                    and all(type(n) is int and n >= 0 for n in shape)
                    and math.prod(shape) == len(values)
                    and type(data["dtype"]) is str
                    and type(data.get("requires_grad", False)) is bool
                    and type(data.get("grad_fn") or "") is str
                    and all(number(n) if type(n) is not str else n in _NONFINITE for n in values)
                )
        if len(data) != 1:
            return False
        ((name, content),) = data.items()
        if name == "float":
            return content in ("nan", "inf", "-inf")
        if name in ("object", "torch.dtype"):
            return type(content) is str and len(content) <= MAX_TEXT
        if name == "dict":
            return type(content) is dict and all(type(k) is str and walk(v, depth + 1) for k, v in content.items())
        return name in _CONTAINERS.values() and type(content) is list and all(walk(i, depth + 1) for i in content)

    return walk(data, 0)


def show(data: Any, digits: int = 6) -> str:
    """Plain data as a learner would type it; numbers have `digits` significant digits, long tensors are cut."""
    if isinstance(data, dict):
        for kind in _ARRAY_KEYS:
            if kind in data:
                return _show_array(kind, data, digits)
        ((kind, content),) = data.items()
        if kind in ("float", "torch.dtype"):
            return content
        if kind == "object":
            return f"<{content}>"
        if kind == "dict":
            return "{" + ", ".join(f"{key!r}: {show(item, digits)}" for key, item in content.items()) + "}"
        inner = ", ".join(show(item, digits) for item in content)
        if kind == "list":
            return f"[{inner}]"
        return f"({inner}{',' if len(content) == 1 else ''})" if kind == "tuple" else f"torch.Size([{inner}])"
    if type(data) is float:
        return f"{data:.{digits}g}"
    return repr(data)


def _show_array(kind: str, data: dict, digits: int, most: int = 24) -> str:
    values, shape = data[kind], tuple(data["shape"])
    if len(values) > most:
        first = ", ".join(_show_number(n, digits) for n in values[:6])
        return f"{kind} of shape {shape}, {data['dtype']}, that begins {first}, …"

    def nested(values, shape):
        if not shape:
            return _show_number(values[0], digits)
        step = len(values) // shape[0] if shape[0] else 0
        return "[" + ", ".join(nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"

    dtype = "" if data["dtype"] == "float64" else f", dtype={data['dtype']}"
    grad = f", grad_fn=<{data['grad_fn']}>" if data.get("grad_fn") else ""
    grad = grad or (", requires_grad=True" if data.get("requires_grad") else "")
    return f"{kind}({nested(values, shape)}{dtype}{grad})"


def _show_number(number, digits: int) -> str:
    return f"{number:.{digits}g}" if type(number) is float else str(number)
