"""What a wrong value and the expected one have in common, and which cases are wrong: sentences that are always true.

Each sentence states a relation that was computed from the two values, never a cause.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from .observation import CONTAINERS, NUMERIC, Dict, List, Observation, Size, Tuple, Value, parts, shape_of
from .plain import as_array
from .record import Case
from .show import show

_SEQUENCES = (List, Tuple, Size)
_MOST_ITEMS = 4  # named in one sentence
_LONGEST = 40  # characters of a case's value in a sentence

_FUNCTIONS = {  # of the expected values
    "the squares of": np.square,
    "the square roots of": np.sqrt,
    "1 divided by": lambda w: 1 / w,
    "the absolute values of": np.abs,
}


def likeness(got: Value, want: Value, case: Dict, expected: Observation) -> str:
    """Return a sentence on how `got` relates to `want`, a case's value or a different expected value; or ""."""
    g, w = _numbers(got), _numbers(want)
    if isinstance(got, _SEQUENCES) and type(got) is type(want):
        return _of_items(list(got.items), list(want.items))
    if g is None or w is None:
        return _of_kinds(got, want)
    if not np.isfinite(g).all() or not np.isfinite(w).all():
        return ""
    if _close(g, w):  # of a different type or dtype, or only almost right
        differs = type(got) is not type(want) or (isinstance(got, NUMERIC) and got.dtype != want.dtype)
        return "The values are right." if differs else ""
    with np.errstate(all="ignore"):
        return _of_shapes(g, w) if g.shape != w.shape else _of_values(g, w, case, expected) or _of_some(g, w)


def _of_values(g: np.ndarray, w: np.ndarray, case: Dict, expected: Observation) -> str:
    """Return a sentence if all values are those of a different array, or come from the expected ones in one step."""
    named = {name: array for name, array in _named(case, expected) if array.shape == g.shape and _telling(array)}
    others = {name: array for name, array in named.items() if not _close(array, w)}
    if not _telling(g) or not _telling(w):
        return ""
    for name, other in others.items():
        if _close(g, other):
            return f"Your values equal {name}."
    for function, apply in _FUNCTIONS.items():
        if _close(g, apply(w)):
            return f"Your values are {function} the expected ones."
    for name, other in others.items():
        for relation, related in (("plus", w + other), ("minus", w - other), ("times", w * other), ("over", w / other)):
            if _close(g, related):
                return f"Your values are the expected ones {relation} {name}."
    return ""


def _numbers(value: Value) -> np.ndarray | None:
    if isinstance(value, NUMERIC) and value.dtype != "bool":
        return as_array(value).astype(float)
    return np.array(value) if type(value) is float else None


def _telling(numbers: np.ndarray) -> bool:
    """Return whether two equal arrays of this kind are hardly a coincidence: it is not made of a few small integers."""
    return numbers.size > 0 and bool(np.isfinite(numbers).all() and (numbers != numbers.round()).any())


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-6, atol=1e-12))


def _named(case: Dict, expected: Observation) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the number arrays of a case, and those expected at the labels of an observation, with words for each."""
    for name, value in case.items.items():
        yield from _inside(name, value)
    for labelled in expected.values if len(expected.values) > 1 else ():
        for label, value in parts(labelled).items() if isinstance(labelled, Dict) else ():
            yield from _inside(f"those expected at {label!r}", value)


def _inside(name: str, value: Value) -> Iterator[tuple[str, np.ndarray]]:
    if (numbers := _numbers(value)) is not None:
        yield name, numbers
    for key, part in parts(value).items():
        yield from _inside(f"{name}[{key!r}]", part)


def _of_shapes(g: np.ndarray, w: np.ndarray) -> str:
    if _telling(w) and _close(g.ravel(), w.ravel()):
        return "The values are right, but in a different shape."
    yours_is_small = g.size < w.size
    small, large = (g, w) if yours_is_small else (w, g)
    if not _telling(small) or small.size == large.size:
        return ""
    for name, reduce in (("sum", np.sum), ("mean", np.mean)):
        for axis in [None, *range(large.ndim)]:
            if _close(reduce(large, axis).ravel(), small.ravel()):
                over = "" if axis is None else f" over dimension {axis}"
                sides = ("Your values are", "the expected ones")
                one, other = sides if yours_is_small else ("The expected values are", "yours")
                return f"{one} the {name} of {other}{over}."
    return ""


def _of_some(g: np.ndarray, w: np.ndarray) -> str:
    """Return a sentence on the elements that differ, if some are right and the others share what is wrong."""
    differs = ~np.isclose(g, w, rtol=1e-6, atol=1e-12)
    if differs.all() or not differs.any():
        return ""
    if not g[differs].any():
        return "The elements that differ are 0 in your result."
    if not w[differs].any():
        return "The elements that differ should be 0."
    return "The elements that differ have the wrong sign." if _close(g[differs], -w[differs]) else ""


def _of_kinds(got: Value, want: Value) -> str:
    """Return a sentence if only the type differs, such as a list instead of a tensor."""
    mine, right = _flat(got), _flat(want)
    alike = mine and right and len(mine) == len(right) and np.isfinite([*mine, *right]).all()
    return "The values are right." if alike and _close(np.array(mine), np.array(right)) else ""


def _flat(value: Value) -> list[float] | None:
    """Return a value's numbers as a list: of a number, a tensor, or a sequence of these; None for anything else."""
    if isinstance(value, NUMERIC):
        return as_array(value).astype(float).ravel().tolist()
    if type(value) in (int, float):
        return [float(value)]
    if isinstance(value, _SEQUENCES):
        inner = [_flat(item) for item in value.items]
        return None if None in inner else [number for item in inner for number in item]
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
            numbers, dimensions = as_array(value), len(shape_of(value))
            yield f"{name} is {value.dtype}"
            yield f"{name} has {dimensions} dimension{'s' * (dimensions != 1)}"
            if numbers.size < 2:
                yield f"{name} has {('no elements', 'one element')[numbers.size]}"
            if not np.isfinite(numbers).all():
                yield f"{name} contains nan or inf"
            if not numbers.all():
                yield f"{name} contains 0"
        elif isinstance(value, CONTAINERS) and not parts(value):
            yield f"{name} is empty"
        elif len(text := show(value)) <= _LONGEST:
            yield f"{name} = {text}"
