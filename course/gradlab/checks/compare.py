"""Compare the observed with the expected results and find the first difference, as data."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .observation import CONTAINERS, NUMERIC, Array, Dict, Error, Float, Observation, Tensor, Value, parts, shape_of
from .plain import TOLERANCES, as_array

if TYPE_CHECKING:
    import numpy as np

Judge = Callable[[dict, list, list], str | None]

KINDS = {  # errors that are a separate kind of difference
    "NotImplementedError": "unsolved",
    "gradlab.checks.shortcuts.ShortcutError": "shortcut",
    "gradlab.checks.without_torch.TorchError": "torch",
}
RAISED = ("raised", "shortcut", "torch", "error type", "error message")  # kinds about an error that was raised
VALUES = ("type", "dtype", "shape", "length", "keys", "graph", "nan", "value")  # kinds about two values


@dataclass(frozen=True)
class Place:
    """Where in an observation a value stands.

    number: (n, count) for the n-th of several values, None if there is only one or its labels identify it. keys: the
    labels, keys and indices that lead from there to it.
    """

    number: tuple[int, int] | None = None
    keys: tuple[int | str, ...] = ()

    def inside(self, key: int | str) -> "Place":
        """Return the place of a part of this value."""
        return replace(self, keys=(*self.keys, key))

    @property
    def label(self) -> str | None:
        """The only key, if it is a label; "" for the whole of the only value; None for a part, or one of several."""
        if self.number or len(self.keys) > 1 or any(isinstance(key, int) for key in self.keys):
            return None
        return str(*self.keys)


@dataclass(frozen=True)
class Difference:
    """The first difference between two observations of one case, as data.

    kind: what differs: one of RAISED or VALUES, or "unsolved", "silent", "count", "happened", "mutated", "left",
    "judged", "form". sides: what is compared, yours first: errors or None, encoded values, numbers of values, names, or
    what a judge was given. index: of the first element that differs, if these are tensors or arrays. within: the two
    containers of simple values in which they stand. reason: why a judge rejects yours.
    """

    kind: str
    sides: tuple[Any, Any]
    place: Place = field(default_factory=Place)
    index: tuple[int, ...] | None = None
    within: tuple[Value, Value] | None = None
    reason: str = ""

    @property
    def pair(self) -> tuple[Value, Value] | None:
        """Yours and the expected one as encoded values, if a value differs: as large as they are shown."""
        return self.within or self.sides if self.kind in VALUES else None

    @cached_property
    def elements(self) -> "tuple[np.ndarray, np.ndarray, np.ndarray] | None":
        """Yours, the expected ones, and a mask of those that differ, if elements of tensors or arrays differ."""
        if self.index is None:
            return None
        return elements(*self.sides)


def compare(expected: Observation, observed: Observation, words: tuple[str, ...] = ()) -> Difference | None:
    """Return the first difference between two observations, or None if they agree.

    If an error is expected, the observed error must have exactly its type. Its message must contain each of `words` or,
    if there are none, the expected message.
    """
    kind = _error_kind(expected.error, observed.error, words)
    error = Difference(kind, (observed.error, expected.error)) if kind else None
    if error and observed.values and kind not in KINDS.values():
        error = _compare_values(expected.values, observed.values, whole=False) or error
    return (
        error
        or _compare_named("mutated", expected.mutated, observed.mutated)
        or _compare_values(expected.values, observed.values)
        or _compare_named("left", expected.left, observed.left)
    )


def _error_kind(expected: Error | None, observed: Error | None, words: tuple[str, ...]) -> str:
    """Return how two errors differ, "" if they agree."""
    if observed is None:
        return "silent" if expected else ""
    if expected is None:
        return KINDS.get(observed.type, "raised")
    if observed.type != expected.type:
        return KINDS.get(observed.type, "error type")
    return "error message" if missing_words(expected, observed, words) else ""


def missing_words(expected: Error, observed: Error, words: tuple[str, ...]) -> list[str]:
    """Return what an error's message should contain but does not: of `words`, else the expected message."""
    return [word for word in words or (expected.message,) if word.lower() not in observed.message.lower()]


def _compare_values(expected: list[Value], observed: list[Value], whole: bool = True) -> Difference | None:
    """Return the first difference among the values. whole: False compares only values yielded before an error."""
    came = alike_labelled(expected, observed)
    for number, (want, got) in enumerate(zip(expected[:came], observed[:came], strict=True)):
        if difference := _compare_value(want, got, place_of(expected, number)):
            return difference
    if whole and came < min(len(expected), len(observed)):
        return Difference("happened", (observed[came], expected[came]))
    if whole and len(expected) != len(observed):
        return Difference("count", (len(observed), len(expected)))
    return None


def alike_labelled(expected: list[Value], observed: list[Value]) -> int:
    """Return how many values, counted from the start, have the expected labels; after them, the events differ.

    If each side has one value, it may be the learner's own dict, whose keys are not labels.
    """
    labelled = len(expected) != 1 or len(observed) != 1
    for number, (want, got) in enumerate(zip(expected, observed, strict=False)):
        if labelled and isinstance(want, Dict) and isinstance(got, Dict) and want.items.keys() != got.items.keys():
            return number
    return min(len(expected), len(observed))


def place_of(values: list[Value], number: int) -> Place:
    """Return a value's place; without a number for the only value, and for a dict, whose keys identify it."""
    labels = [list(value.items) if isinstance(value, Dict) else [] for value in values]
    others = {label for other, its_labels in enumerate(labels) if other != number for label in its_labels}
    identified = len(values) == 1 or (labels[number] and others.isdisjoint(labels[number]))
    return Place(None if identified else (number + 1, len(values)))


def _compare_value(want: Value, got: Value, place: Place) -> Difference | None:
    here = (got, want)
    if isinstance(want, Float | float) and isinstance(got, Float | float):
        return None if _floats_agree(want, got) else Difference("value", here, place)
    if type(want) is not type(got):
        return Difference("type", here, place)
    if isinstance(want, NUMERIC) and isinstance(got, NUMERIC):
        kind_at = _compare_arrays(want, got)
        return kind_at and Difference(kind_at[0], here, place, kind_at[1])
    if isinstance(want, Dict) and isinstance(got, Dict):
        alike = want.items.keys() == got.items.keys()
        return _compare_parts(want, got, place) if alike else Difference("keys", here, place)
    if isinstance(want, CONTAINERS):
        alike, simple = len(parts(want)) == len(parts(got)), _simple(want) and _simple(got)
        difference = _compare_parts(want, got, place) if alike or not simple else None
        if difference and simple:
            return replace(difference, within=here)
        return difference or (None if alike else Difference("length", here, place))
    return None if want == got else Difference("value", here, place)


def _compare_arrays(want: Tensor | Array, got: Tensor | Array) -> tuple[str, tuple[int, ...] | None] | None:
    """Return the kind of the first difference between two encoded tensors or arrays, and its element's index if any.

    None if they agree.
    """
    import numpy as np  # imported here: chapter 00 runs where there is none

    if want == got:
        return None
    if shape_of(want) != shape_of(got):
        return "shape", None
    if want.dtype != got.dtype:
        return "dtype", None
    g, _w, differs = elements(got, want)
    if differs.any():
        index = tuple(int(i) for i in np.argwhere(differs)[0])
        return "nan" if g.dtype.kind == "f" and np.isnan(g[index]) else "value", index
    if isinstance(want, Tensor) and isinstance(got, Tensor) and want.requires_grad != got.requires_grad:
        return "graph", None
    return None


def elements(got: Tensor | Array, want: Tensor | Array) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Return the numbers of two tensors or arrays of one shape and dtype, and a mask of those that differ."""
    import numpy as np

    g, w = as_array(got), as_array(want)
    tolerance = TOLERANCES.get(want.dtype)
    if tolerance is None:
        return g, w, w != g
    g, w = g.astype(float), w.astype(float)
    return g, w, ~np.isclose(g, w, tolerance.rtol, tolerance.atol, equal_nan=True)


def _compare_parts(want: Value, got: Value, place: Place) -> Difference | None:
    """Return the first difference among the parts that two containers share."""
    others = parts(got)
    for key, part in parts(want).items():
        if key in others and (difference := _compare_value(part, others[key], place.inside(key))):
            return difference
    return None


def _simple(value: Value) -> bool:
    """Return whether a container has only simple values such as strings and numbers, so that it is shown whole."""
    return all(part is None or isinstance(part, str | int | float) for part in parts(value).values())


def _floats_agree(want: float | Float, got: float | Float) -> bool:
    if type(want) is not float or type(got) is not float:
        return want == got
    tolerance = TOLERANCES["float64"]
    return math.isclose(want, got, rel_tol=tolerance.rtol, abs_tol=tolerance.atol)


def _compare_named(kind: str, expected: list[str], observed: list[str]) -> Difference | None:
    """Return the difference between two lists of names, ignoring their order; None if they agree."""
    return None if sorted(expected) == sorted(observed) else Difference(kind, (observed, expected))
