"""The one comparer: what was observed against what was expected, and the first difference between them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .observation import array, is_plain, show

Judge = Callable[[dict, list, list], str | None]


@dataclass(frozen=True)
class Tolerance:
    """Two numbers agree if |yours − expected| ≤ atol + rtol · |expected|."""

    rtol: float
    atol: float


# Rounding over a few thousand operations stays below these; a gradient wrong by 0.1 % is far above them.
TOLERANCES = {"float64": Tolerance(1e-8, 1e-10), "float32": Tolerance(1e-4, 1e-6), "float16": Tolerance(1e-2, 1e-3)}
TOLERANCES["bfloat16"] = TOLERANCES["float16"]


@dataclass(frozen=True)
class Difference:
    """The first difference between two observations of one case.

    kind: what differs ("raised", "type", "dtype", "shape", "graph", "value", "mutated", "judged", …).
    where: the value in words, "" when there is only one. yours, expected: both sides as text. note: one more sentence.
    arrays: yours, what was expected, and which elements differ, where these are arrays of several numbers; else empty.
    whose: what the expected side is called: "torch's" for what torch computes or raises, "expected" for the rest.
    """

    kind: str
    where: str
    yours: str
    expected: str
    note: str = ""
    arrays: tuple[np.ndarray, ...] = ()
    whose: str = "expected"


def is_observation(data: Any) -> bool:
    """Tell whether `data`, come from a student's process, has the form of an observation."""
    if type(data) is not dict or set(data) != {"values", "error", "mutated"}:
        return False
    error = data["error"]
    return (
        type(data["values"]) is list
        and is_plain({"list": data["values"]})
        and type(data["mutated"]) is list
        and all(type(name) is str for name in data["mutated"])
        and (
            error is None
            or (
                type(error) is dict
                and set(error) == {"type", "message", "at"}
                and all(type(text) is str for text in error.values())
            )
        )
    )


def compare(expected: dict, observed: dict, words: tuple[str, ...] = ()) -> Difference | None:
    """Return the first difference between two observations, or None if they agree.

    An expected error must have exactly the expected type, and a message that contains each of `words`, or, without
    words, equals the expected message.
    """
    error = _compare_errors(expected["error"], observed["error"], words)
    if error and observed["values"] and error.kind not in ("unsolved", "shortcut"):
        error = _compare_values(expected["values"], observed["values"], whole=False) or error
    return (
        error
        or _compare_mutated(expected["mutated"], observed["mutated"])
        or _compare_values(expected["values"], observed["values"])
    )


def _compare_errors(expected: dict | None, observed: dict | None, words: tuple[str, ...]) -> Difference | None:
    if expected is None and observed is None:
        return None
    if expected is None:
        kind = {"NotImplementedError": "unsolved", "gradlab.checks.shortcuts.ShortcutError": "shortcut"}
        return Difference(kind.get(observed["type"], "raised"), observed["at"], _error_text(observed), "no error")
    if observed is None:
        return Difference("silent", "", "no error", _error_text(expected), whose="torch's")
    missing = [w for w in words or (expected["message"],) if w.lower() not in observed["message"].lower()]
    if observed["type"] == "NotImplementedError" != expected["type"]:
        kind, note = "unsolved", ""
    elif observed["type"] != expected["type"]:
        kind, note = "error type", ""
    elif missing:
        kind, note = "error message", f"Your message does not say: {missing[0]}"
    else:
        return None
    return Difference(kind, observed["at"], _error_text(observed), _error_text(expected), note, whose="torch's")


def _error_text(error: dict) -> str:
    return f"{error['type']}: {error['message']}" if error["message"] else error["type"]


def _compare_values(expected: list, observed: list, whole: bool = True) -> Difference | None:
    """The first difference among the values; with `whole=False` some may be missing, because of an error."""
    for number, (want, got) in enumerate(zip(expected, observed, strict=False)):
        if difference := _compare_plain(want, got, _place(expected, number)):
            return difference
    if whole and len(expected) != len(observed):
        return Difference("count", "", f"{len(observed)} values", f"{len(expected)} values")
    return None


def _place(values: list, number: int) -> str:
    """Which of the values this is, in words; "" for the only one, and for a dict whose keys say it."""
    labels = [list(value["dict"]) if _kind(value) == "dict" else [] for value in values]
    others = {label for other, found in enumerate(labels) if other != number for label in found}
    if len(values) == 1 or (labels[number] and others.isdisjoint(labels[number])):
        return ""
    return f"value {number + 1} of {len(values)}"


def _compare_plain(want: Any, got: Any, where: str) -> Difference | None:
    kind = _kind(want)
    whose = "torch's" if kind in ("tensor", "ndarray", "float") else "expected"
    if kind != _kind(got):
        return Difference("type", where, _a(_kind(got), got), _a(kind, want), whose=whose)
    if kind in ("tensor", "ndarray"):
        difference = _compare_arrays(kind, want, got, where)
        return difference and replace(difference, whose=whose)
    if kind in ("list", "tuple", "torch.Size"):
        for index, (w, g) in enumerate(zip(want[kind], got[kind], strict=False)):
            if difference := _compare_plain(w, g, f"item {index} in {where or f'the {kind}'}"):
                return difference
        if len(want[kind]) != len(got[kind]):
            return Difference("length", where, f"{kind} of {len(got[kind])}", f"{kind} of {len(want[kind])}")
        return None
    if kind == "dict":
        if list(want[kind]) != list(got[kind]) and set(want[kind]) != set(got[kind]):
            return Difference("keys", where, str(sorted(got[kind])), str(sorted(want[kind])))
        for key, item in want[kind].items():
            if difference := _compare_plain(item, got[kind][key], f"{key!r} in {where}" if where else repr(key)):
                return difference
        return None
    agree = _floats_agree(want, got) if kind == "float" else want == got
    return None if agree else Difference("value", where, show(got), show(want), whose=whose)


def _kind(data: Any) -> str:
    """The type of an encoded value as the learner knows it: 'tensor', 'list', 'float', 'None', 'numpy.float64', …"""
    if type(data) is dict:
        kind = next(key for key in data if key not in ("dtype", "shape", "requires_grad", "grad_fn"))
        return data["object"] if kind == "object" else kind
    return "None" if data is None else type(data).__name__


_SELF_EXPLAINING = ("tensor", "ndarray", "torch.Size")  # shown with their type anyway


def _a(kind: str, data: Any) -> str:
    if kind in ("None", *_SELF_EXPLAINING) or (type(data) is dict and "object" in data):
        return show(data)
    return f"{kind}: {show(data)}"


def _floats_agree(want: Any, got: Any) -> bool:
    if type(want) is dict or type(got) is dict:
        return want == got
    tolerance = TOLERANCES["float64"]
    return math.isclose(want, got, rel_tol=tolerance.rtol, abs_tol=tolerance.atol)


def _compare_arrays(kind: str, want: dict, got: dict, where: str) -> Difference | None:
    if want["shape"] != got["shape"]:
        yours, expected = tuple(got["shape"]), tuple(want["shape"])
        note = "Yours has the two dimensions the other way round." if yours == expected[::-1] else ""
        return Difference("shape", where, f"shape {yours}", f"shape {expected}", note)
    if want["dtype"] != got["dtype"]:
        return Difference("dtype", where, got["dtype"], want["dtype"])
    w, g = array(want), array(got)
    if w.dtype == bool or w.dtype.kind != "f" or want["dtype"] not in TOLERANCES:
        differs = w != g
    else:
        t = TOLERANCES[want["dtype"]]
        with np.errstate(invalid="ignore"):
            close = np.abs(w - g) <= t.atol + t.rtol * np.abs(w)
        differs = ~((w == g) | close | (np.isnan(w) & np.isnan(g)))
    if differs.any():
        return _array_difference(want, got, w, g, differs, where)
    if kind == "tensor" and want["requires_grad"] != got["requires_grad"]:
        return Difference("graph", where, _graph_text(got), _graph_text(want))
    return None


def _array_difference(
    want: dict, got: dict, w: np.ndarray, g: np.ndarray, differs: np.ndarray, where: str
) -> Difference:
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    kind = "nan" if np.isnan(g[index]) else "value"
    at = f"index {list(index)}" if index else "the value"
    at += f" ({int(differs.sum())} of {differs.size} elements differ)" if differs.size > 1 else ""
    at += f" in {where}" if where else ""
    texts = [f"{g[index]:.6g}", f"{w[index]:.6g}"]
    if texts[0] == texts[1]:
        texts = [f"{g[index]:.12g}", f"{w[index]:.12g}"]
    if w.size > 1:
        texts = [f"{texts[0]}   in {show(got)}", f"{texts[1]}   in {show(want)}"]
    return Difference(kind, at, *texts, _pattern(w, g), arrays=(g, w, differs) if w.size > 1 else ())


def _pattern(w: np.ndarray, g: np.ndarray) -> str:
    """What is wrong with all elements alike, in a sentence; "" if nothing simple is."""
    if w.size < 2 or not np.isfinite(g).all() or not np.isfinite(w).all() or not w.all():
        return ""
    if not g.any():
        return "All of yours are zero."
    ratio = g / w
    if np.allclose(ratio, ratio.flat[0], rtol=1e-6, atol=0):
        return f"Each of yours is {ratio.flat[0]:.4g} times what it should be."
    offset = g - w
    if np.allclose(offset, offset.flat[0], rtol=1e-6, atol=1e-12):
        return f"Each of yours is too {'large' if offset.flat[0] > 0 else 'small'} by {abs(offset.flat[0]):.4g}."
    if w.ndim == 2 and w.shape[0] == w.shape[1] and np.allclose(g, w.T, rtol=1e-6, atol=1e-12):
        return "Yours is the transpose of what it should be."
    if np.allclose(np.sort(g, axis=None), np.sort(w, axis=None), rtol=1e-6, atol=1e-12):
        return "Yours has the right numbers in another order."
    return ""


def _graph_text(data: dict) -> str:
    if data["grad_fn"]:
        return f"a tensor that is part of a graph (grad_fn=<{data['grad_fn']}>)"
    return f"requires_grad={data['requires_grad']}"


def _compare_mutated(expected: list, observed: list) -> Difference | None:
    if sorted(expected) == sorted(observed):
        return None
    names = [", ".join(sorted(side)) or "nothing" for side in (observed, expected)]
    return Difference("mutated", "", f"changed in place: {names[0]}", f"changed in place: {names[1]}")
