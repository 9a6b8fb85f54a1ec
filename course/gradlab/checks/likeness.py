"""What a wrong value and the expected one have in common, and which cases are wrong: sentences that are always true.

Each sentence states a relation that was computed from the two values, never a cause.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .observation import CONTAINERS, NUMERIC, Dict, List, Observation, Size, Tuple, Value, kind_of, parts, shape_of
from .plain import numbers_in
from .record import Case
from .show import show

_SEQUENCES = (List, Tuple, Size)
_MOST_ITEMS = 4  # named in one sentence
_LONGEST = 40  # characters of a case's value in a sentence

_FUNCTIONS = {  # of the expected values
    "the squares of": lambda w: w * w,
    "the square roots of": lambda w: math.sqrt(w) if w >= 0 else math.nan,
    "1 divided by": lambda w: 1 / w if w else math.nan,
    "the absolute values of": abs,
}
_RELATIONS = {  # between the expected value and another one
    "plus": lambda w, other: w + other,
    "minus": lambda w, other: w - other,
    "times": lambda w, other: w * other,
    "over": lambda w, other: w / other if other else math.nan,
}


@dataclass(frozen=True)
class _Numbers:
    """A number, or the numbers of a tensor or an array: its shape, and its values in a flat list."""

    shape: tuple[int, ...]
    values: list[float]


def likeness(got: Value, want: Value, case: Dict, expected: Observation) -> str:
    """Return a sentence on how `got` relates to `want`, a case's value or a different expected value; or ""."""
    g, w = _numbers(got), _numbers(want)
    if isinstance(got, _SEQUENCES) and type(got) is type(want):
        return _of_items(list(got.items), list(want.items))
    if g is None or w is None:
        return _of_kinds(got, want)
    if not all(map(math.isfinite, [*g.values, *w.values])):
        return ""
    if _close(g, w):  # of a different type or dtype, or only almost right
        right = _right_as(want)
        return "" if _right_as(got) == right else right
    return _of_shapes(g, w) if g.shape != w.shape else _of_values(g, w, case, expected) or _of_some(g, w)


def _of_values(g: _Numbers, w: _Numbers, case: Dict, expected: Observation) -> str:
    """Return a sentence if all values are those of a different array, or come from the expected ones in one step."""
    named = {name: array for name, array in _named(case, expected) if array.shape == g.shape and _telling(array)}
    others = {name: array for name, array in named.items() if not _close(array, w)}
    if not _telling(g) or not _telling(w):
        return ""
    for name, other in others.items():
        if _close(g, other):
            return f"Your values equal {name}."
    for function, apply in _FUNCTIONS.items():
        if _all_near(g.values, map(apply, w.values)):
            return f"Your values are {function} the expected ones."
    for name, other in others.items():
        for relation, related in _RELATIONS.items():
            if _all_near(g.values, map(related, w.values, other.values)):
                return f"Your values are the expected ones {relation} {name}."
    return ""


def _numbers(value: Value) -> _Numbers | None:
    if isinstance(value, NUMERIC) and value.dtype != "bool":
        return _Numbers(shape_of(value), [float(n) for n in numbers_in(value)])
    return _Numbers((), [value]) if type(value) is float else None


def _telling(numbers: _Numbers) -> bool:
    """Return whether two equal arrays of this kind are hardly a coincidence: it is not made of a few small integers."""
    return all(map(math.isfinite, numbers.values)) and not all(map(float.is_integer, numbers.values))


def _near(number: float, other: float) -> bool:
    return number == other or abs(number - other) <= 1e-12 + 1e-6 * abs(other) < math.inf


def _all_near(numbers: Iterable[float], other: Iterable[float]) -> bool:
    return all(map(_near, numbers, other))


def _close(numbers: _Numbers, other: _Numbers) -> bool:
    return numbers.shape == other.shape and _all_near(numbers.values, other.values)


def _named(case: Dict, expected: Observation) -> Iterator[tuple[str, _Numbers]]:
    """Yield the number arrays of a case, and those expected at the labels of an observation, with words for each."""
    for name, value in case.items.items():
        yield from _inside(name, value)
    for labelled in expected.values if len(expected.values) > 1 else ():
        for label, value in parts(labelled).items() if isinstance(labelled, Dict) else ():
            yield from _inside(f"those expected at {label!r}", value)


def _inside(name: str, value: Value) -> Iterator[tuple[str, _Numbers]]:
    if (numbers := _numbers(value)) is not None:
        yield name, numbers
    for key, part in parts(value).items():
        yield from _inside(f"{name}[{key!r}]", part)


def _of_shapes(g: _Numbers, w: _Numbers) -> str:
    if _telling(w) and len(g.values) == len(w.values) and _all_near(g.values, w.values):
        return "The values are right, but in a different shape."
    yours_is_small = len(g.values) < len(w.values)
    small, large = (g, w) if yours_is_small else (w, g)
    if not _telling(small) or len(small.values) == len(large.values):
        return ""
    for axis in [None, *range(len(large.shape))]:
        sums, count = _sums(large, axis)
        means = [total / count for total in sums] if count else []
        for name, reduced in (("sum", sums), ("mean", means)):
            if len(reduced) == len(small.values) and _all_near(reduced, small.values):
                over = "" if axis is None else f" over dimension {axis}"
                sides = ("Your values are", "the expected ones")
                subject, other = sides if yours_is_small else ("The expected values are", "yours")
                return f"{subject} the {name} of {other}{over}."
    return ""


def _sums(numbers: _Numbers, axis: int | None) -> tuple[list[float], int]:
    """Return the sums over one dimension in a flat list, or over all, and how many numbers each has."""
    if axis is None:
        return [sum(numbers.values)], len(numbers.values)
    count, inner = numbers.shape[axis], math.prod(numbers.shape[axis + 1 :])
    outer = range(0, len(numbers.values), count * inner or 1)
    starts = [start + k for start in outer for k in range(inner)]
    return [sum(numbers.values[start : start + count * inner : inner]) for start in starts], count


def _of_some(g: _Numbers, w: _Numbers) -> str:
    """Return a sentence on the elements that differ, if some are right and the others share what is wrong."""
    differ = [(mine, right) for mine, right in zip(g.values, w.values, strict=True) if not _near(mine, right)]
    if not differ or len(differ) == len(g.values):
        return ""
    if not any(mine for mine, _ in differ):
        return "The elements that differ are 0 in your result."
    if not any(right for _, right in differ):
        return "The elements that differ should be 0."
    return "The elements that differ have the wrong sign." if all(_near(a, -b) for a, b in differ) else ""


def _of_kinds(got: Value, want: Value) -> str:
    """Return a sentence if only the type differs, such as a list instead of a tensor."""
    mine, right = _flat(got) or [], _flat(want) or []
    same = 0 < len(mine) == len(right) and all(map(math.isfinite, [*mine, *right])) and _all_near(mine, right)
    if not same and isinstance(got, _SEQUENCES) and isinstance(want, _SEQUENCES) and got.items == want.items:
        return f"Your items are right. Return them as {_A[kind_of(want)]}."
    return _right_as(want) if same else ""


_A = {
    "tensor": "a tensor",
    "ndarray": "a NumPy array",
    "list": "a list",
    "tuple": "a tuple",
    "torch.Size": "a torch.Size",
    "float": "a Python float",
    "int": "a Python int",
}


def _right_as(want: Value) -> str:
    """Return a sentence on right numbers whose type or dtype is wrong."""
    dtype = f" of dtype {want.dtype}" if isinstance(want, NUMERIC) else ""
    words = "number is right. Return it" if len(_flat(want) or [0]) == 1 else "numbers are right. Return them"
    return f"Your {words} as {_A[kind_of(want)]}{dtype}."


def _flat(value: Value) -> list[float] | None:
    """Return a value's numbers as a list: of a number, a tensor, or a sequence of these; None for anything else."""
    if isinstance(value, NUMERIC):
        return [float(n) for n in numbers_in(value)]
    if type(value) is int or type(value) is float:
        return [float(value)]
    if isinstance(value, _SEQUENCES):
        inner = [_flat(item) for item in value.items]
        return None if None in inner else [number for item in inner if item for number in item]
    return None


def _of_items(got: list[Value], want: list[Value]) -> str:
    """Return a sentence on two lists of names: in a different order, or with a few names missing or not expected."""
    if not all(type(item) is str and len(item) <= _LONGEST for item in [*got, *want]):
        return ""
    mine, right = Counter(got), Counter(want)
    if mine == right:
        return f"You have the right items in {'reverse' if got == want[::-1] else 'a different'} order."
    sides = {"Missing": (right - mine).elements(), "Not expected": (mine - right).elements()}
    texts = {side: ", ".join(map(repr, items)) for side, items in sides.items()}
    few = sum(((right - mine) + (mine - right)).values()) <= _MOST_ITEMS and any((mine & right).values())
    return " ".join(f"{side}: {text}." for side, text in texts.items() if text) if few else ""


def where_wrong(cases: list[Case], wrong: list[int]) -> str:
    """Return a sentence on what the wrong cases, and no others, have in common; "" if it is nothing simple."""
    right = [i for i in range(len(cases)) if i not in wrong]
    said, others = {cases[i].says for i in wrong}, {cases[i].says for i in right}
    if not right or "" in said | others:
        return ""
    if len(said) == 1:
        return "Only cases like this one are wrong." if said.isdisjoint(others) else ""
    traits = [set(_traits(case.inputs)) for case in cases]
    shared = set.intersection(*(traits[i] for i in wrong)) - set().union(*(traits[i] for i in right))
    return (
        f"The wrong ones are exactly those where {min(shared, key=lambda trait: (len(trait), trait))}."
        if shared
        else ""
    )


def _traits(inputs: Dict) -> Iterator[str]:
    """Yield what can be said of a case's values, one by one."""
    for name, value in inputs.items.items():
        if isinstance(value, NUMERIC):
            numbers, dimensions = numbers_in(value), len(shape_of(value))
            yield f"{name} is {value.dtype}"
            yield f"{name} has {dimensions} dimension{'s' * (dimensions != 1)}"
            if len(numbers) < 2:
                yield f"{name} has {('no elements', 'one element')[len(numbers)]}"
            if not all(map(math.isfinite, numbers)):
                yield f"{name} contains nan or inf"
            if not all(numbers):
                yield f"{name} contains 0"
        elif isinstance(value, CONTAINERS) and not parts(value):
            yield f"{name} is empty"
        elif len(text := show(value)) <= _LONGEST:
            yield f"{name} = {text}"
