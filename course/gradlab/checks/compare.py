"""Compare the observed with the expected results and find the first difference."""

import math
from collections.abc import Callable
from dataclasses import replace

from .difference import TOLERANCES, Difference
from .observation import (
    CONTAINERS,
    NUMERIC,
    Dict,
    DType,
    Error,
    Float,
    Observation,
    Other,
    Size,
    Value,
    kind_of,
    parts,
)
from .show import show, shown_apart

Judge = Callable[[dict, list, list], str | None]

_KINDS = {  # errors that are a separate kind of difference
    "NotImplementedError": "unsolved",
    "gradlab.checks.shortcuts.ShortcutError": "shortcut",
    "gradlab.checks.without_torch.TorchError": "torch",
}

LONGEST = 160  # characters shown of a list whose length differs, and of what two texts share
BEFORE = 40  # characters shown of what two longer texts share


def compare(expected: Observation, observed: Observation, words: tuple[str, ...] = ()) -> Difference | None:
    """Return the first difference between two observations, or None if they agree.

    If an error is expected, the observed error must have exactly its type. Its message must contain each of `words` or,
    if there are none, the expected message.
    """
    error = _compare_errors(expected.error, observed.error, words)
    came = alike_labelled(expected.values, observed.values)
    if error and error.kind in ("raised", "error type"):
        next_one = _due(expected.values, came) if came < len(expected.values) else ""
        due = f"The check expected {next_one} next." if next_one else ""
        left = ", ".join(name for name in observed.left if name not in expected.left)
        error = replace(error, note=" ".join(filter(None, (due, left and f"Left behind: {left}."))))
    if error and observed.values and error.kind not in _KINDS.values():
        error = _compare_values(expected.values, observed.values, whole=False) or error
    return (
        error
        or _compare_named("mutated", "changed in place: ", expected.mutated, observed.mutated)
        or _compare_values(expected.values, observed.values)
        or _compare_named("left", "", expected.left, observed.left)
    )


def _compare_errors(expected: Error | None, observed: Error | None, words: tuple[str, ...]) -> Difference | None:
    if observed is None:
        return Difference("silent", "", "no error", _error_text(expected), whose="torch's") if expected else None
    if expected is None:
        return Difference(_KINDS.get(observed.type, "raised"), observed.at, _error_text(observed), "no error")
    missing = [w for w in words or (expected.message,) if w.lower() not in observed.message.lower()]
    if observed.type == "NotImplementedError" != expected.type:
        kind, note = "unsolved", ""
    elif observed.type != expected.type:
        kind, note = _KINDS.get(observed.type, "error type"), ""
    elif missing:
        kind, note = "error message", f"Your message does not contain: {missing[0]}"
    else:
        return None
    return Difference(kind, observed.at, _error_text(observed), _error_text(expected), note, whose="torch's")


def _error_text(error: Error) -> str:
    if error.type in _KINDS:  # gradlab's own errors, whose names mean nothing to a learner
        return error.message
    text = f"{error.type}: {error.message}" if error.message else error.type
    return f"{text}. Did you mean '{error.meant}'?" if error.meant else text


def _compare_values(expected: list[Value], observed: list[Value], whole: bool = True) -> Difference | None:
    """Return the first difference among the values. whole: False compares only values yielded before an error."""
    came = alike_labelled(expected, observed)
    for number, (want, got) in enumerate(zip(expected[:came], observed[:came], strict=True)):
        if difference := _compare_value(want, got, _place(expected, number)):
            return difference
    if whole and came < min(len(expected), len(observed)):
        return Difference("happened", "", _with_labels(observed[came]), _with_labels(expected[came]))
    if whole and len(expected) != len(observed):
        return Difference("count", "", f"{len(observed)} values", f"{len(expected)} values")
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


def _with_labels(value: Value) -> str:
    return ", ".join(f"{label!r}: {show(item)}" for label, item in parts(value).items())


def _place(values: list[Value], number: int) -> str:
    """Return a value's label or position in words; "" for the only value, and for a dict, whose keys identify it."""
    labels = [list(value.items) if isinstance(value, Dict) else [] for value in values]
    others = {label for other, its_labels in enumerate(labels) if other != number for label in its_labels}
    if len(values) == 1 or (labels[number] and others.isdisjoint(labels[number])):
        return ""
    return f"value {number + 1} of {len(values)}"


def _due(values: list[Value], number: int) -> str:
    """Return words for the value expected at this position, or "" for the only one."""
    labels = list(parts(values[number])) if isinstance(values[number], Dict) and len(values) > 1 else []
    return _place(values, number) or ", ".join(map(repr, labels))


def _inside(where: str, key: int | str) -> str:
    """Return the name of a part: its label alone, or a Python expression such as recorded[0][1]."""
    if type(key) is str and not where:
        return repr(key)
    if type(key) is str and where.startswith("value "):
        return f"{key!r} in {where}"
    label = where.strip("'")
    return f"{label if label.isidentifier() else where or 'returned'}[{key!r}]"


def _compare_value(want: Value, got: Value, where: str) -> Difference | None:
    difference = _different(want, got, where)
    return difference if difference is None or difference.pair else replace(difference, pair=(got, want))


def _different(want: Value, got: Value, where: str) -> Difference | None:
    whose = "torch's" if isinstance(want, (*NUMERIC, Float)) or type(want) is float else "expected"
    if not _same_kind(want, got):
        return Difference("type", where, _with_type(got), _with_type(want), whose=whose)
    if isinstance(want, NUMERIC) and isinstance(got, NUMERIC):
        from .arrays import compare_arrays  # imports NumPy

        difference = compare_arrays(want, got, where)
        return difference and replace(difference, whose=whose)
    if isinstance(want, Dict) and isinstance(got, Dict):
        return _compare_dicts(want, got, where)
    if isinstance(want, CONTAINERS):
        want_parts, got_parts = parts(want), parts(got)
        if len(want_parts) != len(got_parts) and _plain(want) and _plain(got):
            return Difference("length", where, _with_length(got), _with_length(want))
        for index in [index for index in want_parts if index in got_parts]:
            if difference := _compare_value(want_parts[index], got_parts[index], _inside(where, index)):
                return _in_both(difference, want, got) if _plain(want) and _plain(got) else difference
        if len(want_parts) != len(got_parts):
            return Difference("length", where, _with_length(got), _with_length(want))
        return None
    if isinstance(want, Float | float) and isinstance(got, Float | float):
        return None if _floats_agree(want, got) else Difference("value", where, *shown_apart(got, want), whose=whose)
    return None if want == got else Difference("value", where, *_from_where_they_differ(got, want), whose=whose)


def _from_where_they_differ(value: Value, other: Value) -> tuple[str, str]:
    """Return two values as text; of a long common beginning, only the last few words."""
    left, right = show(value), show(other)
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    start = max(0, same - BEFORE) if same > LONGEST else 0
    return (f"… {left[start:]}", f"… {right[start:]}") if start else (left, right)


def _same_kind(want: Value, got: Value) -> bool:
    floats = (float, Float)
    return type(want) is type(got) or (type(want) in floats and type(got) in floats)


def _with_type(value: Value) -> str:
    """Return a value as text, with its type if the text does not show it."""
    if value is None or isinstance(value, (*NUMERIC, Size, DType, Other)):
        return show(value)
    return f"{kind_of(value)}: {show(value)}"


def _plain(value: Value) -> bool:
    """Return whether a container has only simple values such as strings and numbers, so that it is shown whole."""
    return all(part is None or isinstance(part, str | int | float) for part in parts(value).values())


def _in_both(difference: Difference, want: Value, got: Value) -> Difference:
    """Return the difference in one item, with all items of both sides added if they are short."""
    yours, expected = show(got), show(want)
    if max(len(yours), len(expected)) > LONGEST:
        return replace(difference, pair=(got, want))
    return replace(
        difference,
        yours=f"{difference.yours}   in {yours}",
        expected=f"{difference.expected}   in {expected}",
        pair=(got, want),
    )


def _with_length(value: Value) -> str:
    text, head = show(value), f"{kind_of(value)} of {len(parts(value))}"
    return f"{head}: {text}" if len(text) <= LONGEST else head


def _compare_dicts(want: Dict, got: Dict, where: str) -> Difference | None:
    missing = [key for key in want.items if key not in got.items]
    extra = [key for key in got.items if key not in want.items]
    if missing or extra:
        sides = {"missing": missing, "not expected": extra}
        texts = [f"{side}: {', '.join(map(repr, keys))}" for side, keys in sides.items() if keys]
        return Difference("keys", where, "; ".join(texts), ", ".join(map(repr, want.items)) or "no keys")
    for key, item in want.items.items():
        if difference := _compare_value(item, got.items[key], _inside(where, key)):
            return difference
    return None


def _floats_agree(want: float | Float, got: float | Float) -> bool:
    if type(want) is not float or type(got) is not float:
        return want == got
    tolerance = TOLERANCES["float64"]
    return math.isclose(want, got, rel_tol=tolerance.rtol, abs_tol=tolerance.atol)


def _compare_named(kind: str, head: str, expected: list[str], observed: list[str]) -> Difference | None:
    """Return the difference between two lists of names, ignoring their order; None if they agree."""
    if sorted(expected) == sorted(observed):
        return None
    yours, right = (", ".join(sorted(side)) or "nothing" for side in (observed, expected))
    return Difference(kind, "", head + yours, head + right)
