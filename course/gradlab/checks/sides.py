"""A difference in words: where it is, both sides, and what more can be said of it."""

from collections.abc import Callable, Iterable
from typing import Any

from .compare import KINDS, alike_labelled, missing_words, place_of
from .difference import Difference, Place
from .observation import (
    NUMERIC,
    Dict,
    DType,
    Error,
    Float,
    Observation,
    Other,
    Size,
    Tensor,
    Value,
    kind_of,
    parts,
    shape_of,
)
from .record import Case
from .show import show, shown_apart

LONGEST = 160  # characters shown of a list whose length differs, and of what two texts share
BEFORE = 40  # characters shown of what two longer texts share
MOST_JUDGED = 500  # characters shown of a judged value
_FLOAT32 = "In torch, .float() returns float32, and so do zeros, ones, eye and tensor of floats without dtype=."
LEFT = {  # by its code, what was left changed
    "grad_mode_off": "gradients are switched off",
    "inference_mode_on": "inference mode is on",
    "anomaly_mode_on": "anomaly detection is on",
    "default_dtype": "the default dtype is {}",
    "default_device": "the default device is {}",
    "module_hooks": "hooks for all modules are registered",
    "recursion_limit": "the recursion limit is {}",
    "name_changed": "a name that the check uses is changed",
    "requires_grad": "{} requires grad",
    "has_grad": "{} has a .grad",
}


def where(difference: Difference) -> str:
    """Return where two values differ, "" if it is the only value; for an error, the line that raised it."""
    error = difference.sides[0]
    if isinstance(error, Error):
        return f"line {error.line}: {error.at}" if error.line else error.at
    at = _in_words(difference.place)
    if difference.elements is None:
        return at
    differs = difference.elements[2]
    element = f"index {list(difference.index)}" if difference.index else "the value"
    count = f" ({int(differs.sum())} of {differs.size} elements differ)" if differs.size > 1 else ""
    return f"{element}{count} in {at}" if at else f"{element}{count}"


def _in_words(place: Place) -> str:
    """Return the name of a place: a label alone, or a Python expression such as recorded[0][1]."""
    at, keys = "", place.keys
    if keys and isinstance(keys[0], str):
        at, keys = keys[0] if keys[1:] and keys[0].isidentifier() else repr(keys[0]), keys[1:]
    elif keys:
        at = "returned"
    at += "".join(f"[{key!r}]" for key in keys)
    number = "value {} of {}".format(*place.number) if place.number else ""
    return " in ".join(filter(None, (at, number)))


def both(difference: Difference) -> tuple[str, str]:
    """Return both sides as text, yours first."""
    kind, (got, want) = difference.kind, difference.sides
    if kind == "keys":
        sides = {"missing": _without(want, got), "not expected": _without(got, want)}
        return "; ".join(f"{side}: {_listed(keys)}" for side, keys in sides.items() if keys), _listed(want.items)
    if kind in ("nan", "value"):
        return _apart(difference)
    if kind in ("judged", "form"):
        got, want = (str(side[0] if len(side) == 1 else side)[:MOST_JUDGED] for side in (got, want))
        return got, f"{want} is one right answer"
    text = _TEXTS.get(kind, _error)
    return text(got), text(want)


def whole(difference: Difference) -> tuple[str, ...]:
    """Return what contains the two sides, as text, if both are part of something that is shown; else ()."""
    if difference.within:
        texts = tuple(map(show, difference.within))
        return texts if max(map(len, texts)) <= LONGEST else ()
    shown = difference.elements is not None and difference.elements[2].size > 1
    return tuple(map(show, difference.sides)) if shown else ()


def whose(difference: Difference) -> str:
    """Return the label of the expected side: "torch's" for errors and numbers from torch, else "expected"."""
    right = difference.sides[1]
    numbers = difference.kind != "judged" and isinstance(right, (*NUMERIC, Float, float))
    return "torch's" if numbers or isinstance(right, Error) else "expected"


def note(difference: Difference, case: Case, seen: Observation, expected: Observation) -> str:
    """Return one more sentence, or ""."""
    got, want = difference.sides
    match difference.kind:
        case "raised" | "error type":
            due, left = _due(expected, seen), ", ".join(_left(code) for code in seen.left if code not in expected.left)
            return " ".join(filter(None, (due, left and f"Left behind: {left}.")))
        case "error message":
            return f"Your message does not contain: {missing_words(want, got, tuple(case.words))[0]}"
        case "shape":
            turned = len(shape_of(want)) == 2 and shape_of(got) == shape_of(want)[::-1]
            return "Your two dimensions are swapped." if turned else ""
        case "dtype":
            floats = isinstance(got, Tensor) and (got.dtype, want.dtype) == ("float32", "float64")
            return _FLOAT32 if floats else ""
        case "judged":
            return difference.reason
        case "form":
            return f"It does not have the required form ({difference.reason})."
    if difference.elements is None:
        return ""
    from .arrays import pattern

    return pattern(*difference.elements[:2])


def _due(expected: Observation, seen: Observation) -> str:
    """Return a sentence on the value that was expected when an error was raised, "" if it is the only one."""
    number, values = alike_labelled(expected.values, seen.values), expected.values
    if number == len(values):
        return ""
    labels = _listed(parts(values[number])) if isinstance(values[number], Dict) and len(values) > 1 else ""
    due = _in_words(place_of(values, number)) or labels
    return f"The check expected {due} next." if due else ""


def _apart(difference: Difference) -> tuple[str, str]:
    """Return two different values as text: numbers with enough digits, texts from where they differ."""
    got, want = difference.sides
    if difference.elements is not None:
        from .arrays import scalar

        g, w, _ = difference.elements
        yours, expected = (scalar(side[difference.index]) for side in (g, w))
        return shown_apart(yours, expected)
    if isinstance(want, Float | float):
        return shown_apart(got, want)
    left, right = show(got), show(want)
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    start = max(0, same - BEFORE) if same > LONGEST else 0
    return (f"… {left[start:]}", f"… {right[start:]}") if start else (left, right)


def _error(error: Error | None) -> str:
    if error is None:
        return "no error"
    if error.type in KINDS:  # a name that means nothing to a learner
        return error.message
    text = f"{error.type}: {error.message}" if error.message else error.type
    return f"{text}. Did you mean '{error.meant}'?" if error.meant else text


def _with_type(value: Value) -> str:
    """Return a value as text, with its type if the text does not show it."""
    if value is None or isinstance(value, (*NUMERIC, Size, DType, Other)):
        return show(value)
    return f"{kind_of(value)}: {show(value)}"


def _with_length(value: Value) -> str:
    text, head = show(value), f"{kind_of(value)} of {len(parts(value))}"
    return f"{head}: {text}" if len(text) <= LONGEST else head


def _with_labels(value: Value) -> str:
    return ", ".join(f"{label!r}: {show(item)}" for label, item in parts(value).items())


def _graph(tensor: Tensor) -> str:
    if tensor.grad_fn:
        return f"a tensor that is part of a graph (grad_fn=<{tensor.grad_fn}>)"
    return f"requires_grad={tensor.requires_grad}"


def _without(value: Dict, other: Dict) -> list[str]:
    return [key for key in value.items if key not in other.items]


def _listed(keys: Iterable[int | str]) -> str:
    return ", ".join(map(repr, keys)) or "no keys"


def _left(code: str) -> str:
    """Return what was left changed, in words; a student's process may have sent any code."""
    kind, _, about = code.partition(":")
    return LEFT[kind].format(about) if kind in LEFT else code


def _named(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


_TEXTS: dict[str, Callable[[Any], str]] = {  # of one side, by the kind of difference
    "type": _with_type,
    "shape": lambda value: f"shape {shape_of(value)}",
    "dtype": lambda value: value.dtype,
    "graph": _graph,
    "length": _with_length,
    "happened": _with_labels,
    "count": lambda count: f"{count} values",
    "mutated": lambda names: f"changed in place: {_named(names)}",
    "left": lambda codes: _named(map(_left, codes)),
}
