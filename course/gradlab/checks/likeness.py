"""What a wrong value and the expected one have in common, and which cases are wrong: sentences that are always true.

Each sentence states a relation that was computed from the two values, never a cause.
"""

import math
import operator
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..words import N_, _, ngettext
from .observation import CONTAINERS, NUMERIC, Dict, List, Observation, Size, Tuple, Value, kind_of, parts, shape_of
from .plain import numbers_in
from .record import Case
from .show import show

_SEQUENCES = (List, Tuple, Size)
_MOST_ITEMS = 4  # named in one sentence
_LONGEST = 40  # characters of a case's value in a sentence

_FUNCTIONS = {  # of the expected values
    N_("Your values are the squares of the expected ones."): lambda w: w * w,
    N_("Your values are the square roots of the expected ones."): lambda w: math.sqrt(w) if w >= 0 else math.nan,
    N_("Your values are 1 divided by the expected ones."): lambda w: 1 / w if w else math.nan,
    N_("Your values are the absolute values of the expected ones."): abs,
}
_EQUAL = N_("Your values equal {name}."), N_("Your values equal those expected at {name}.")
_RELATIONS = operator.add, operator.sub, operator.mul, lambda w, other: w / other if other else math.nan
_TO_GIVEN = (  # these relations between the expected value and a case's value
    N_("Your values are the expected ones plus {name}."),
    N_("Your values are the expected ones minus {name}."),
    N_("Your values are the expected ones times {name}."),
    N_("Your values are the expected ones over {name}."),
)
_TO_EXPECTED = (  # the same, to a different expected value
    N_("Your values are the expected ones plus those expected at {name}."),
    N_("Your values are the expected ones minus those expected at {name}."),
    N_("Your values are the expected ones times those expected at {name}."),
    N_("Your values are the expected ones over those expected at {name}."),
)
_REDUCED = {  # by whether yours is the smaller one, "sum" or "mean", and whether it is over one dimension only
    (True, "sum", False): N_("Your values are the sum of the expected ones."),
    (True, "sum", True): N_("Your values are the sum of the expected ones over dimension {axis}."),
    (True, "mean", False): N_("Your values are the mean of the expected ones."),
    (True, "mean", True): N_("Your values are the mean of the expected ones over dimension {axis}."),
    (False, "sum", False): N_("The expected values are the sum of yours."),
    (False, "sum", True): N_("The expected values are the sum of yours over dimension {axis}."),
    (False, "mean", False): N_("The expected values are the mean of yours."),
    (False, "mean", True): N_("The expected values are the mean of yours over dimension {axis}."),
}
_RETURN = {  # a number or another value, or several of them, as the type that is expected
    "tensor": (N_("Return it as a tensor of dtype {dtype}."), N_("Return them as a tensor of dtype {dtype}.")),
    "ndarray": (
        N_("Return it as a NumPy array of dtype {dtype}."),
        N_("Return them as a NumPy array of dtype {dtype}."),
    ),
    "list": (N_("Return it as a list."), N_("Return them as a list.")),
    "tuple": (N_("Return it as a tuple."), N_("Return them as a tuple.")),
    "torch.Size": (N_("Return it as a torch.Size."), N_("Return them as a torch.Size.")),
    "float": (N_("Return it as a Python float."), N_("Return them as a Python float.")),
    "int": (N_("Return it as a Python int."), N_("Return them as a Python int.")),
}
_WRONG_WHERE = {  # by the trait that the wrong cases share
    "dtype": N_("The wrong ones are exactly those where {name} is {value}."),
    "none": N_("The wrong ones are exactly those where {name} has no elements."),
    "one": N_("The wrong ones are exactly those where {name} has one element."),
    "nan": N_("The wrong ones are exactly those where {name} contains nan or inf."),
    "0": N_("The wrong ones are exactly those where {name} contains 0."),
    "empty": N_("The wrong ones are exactly those where {name} is empty."),
    "=": N_("The wrong ones are exactly those where {name} = {value}."),
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
        alike = (kind_of(got), getattr(got, "dtype", "")) == (kind_of(want), getattr(want, "dtype", ""))
        return "" if alike else _right_as(want)
    return _of_shapes(g, w) if g.shape != w.shape else _of_values(g, w, case, expected) or _of_some(g, w)


def _of_values(g: _Numbers, w: _Numbers, case: Dict, expected: Observation) -> str:
    """Return a sentence if all values are those of a different array, or come from the expected ones in one step."""
    if not _telling(g) or not _telling(w):
        return ""
    named = {name: array for name, array in _named(case, expected) if array.shape == g.shape and _telling(array)}
    others = {name: array for name, array in named.items() if not _close(array, w)}
    for (expected_one, name), other in others.items():
        if _close(g, other):
            return _(_EQUAL[expected_one], name=name)
    for sentence, apply in _FUNCTIONS.items():
        if _all_near(g.values, map(apply, w.values)):
            return _(sentence)
    for (expected_one, name), other in others.items():
        for sentence, related in zip(_TO_EXPECTED if expected_one else _TO_GIVEN, _RELATIONS, strict=True):
            if _all_near(g.values, map(related, w.values, other.values)):
                return _(sentence, name=name)
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


def _named(case: Dict, expected: Observation) -> Iterator[tuple[tuple[bool, str], _Numbers]]:
    """Yield the number arrays of a case, and those expected at an observation's labels: whether it is one, its name."""
    for name, value in case.items.items():
        yield from _inside(False, name, value)
    for labelled in expected.values if len(expected.values) > 1 else ():
        for label, value in parts(labelled).items() if isinstance(labelled, Dict) else ():
            yield from _inside(True, repr(label), value)


def _inside(is_expected: bool, name: str, value: Value) -> Iterator[tuple[tuple[bool, str], _Numbers]]:
    if (numbers := _numbers(value)) is not None:
        yield (is_expected, name), numbers
    for key, part in parts(value).items():
        yield from _inside(is_expected, f"{name}[{key!r}]", part)


def _of_shapes(g: _Numbers, w: _Numbers) -> str:
    if _telling(w) and len(g.values) == len(w.values) and _all_near(g.values, w.values):
        return _("The values are right, but in a different shape.")
    yours_is_small = len(g.values) < len(w.values)
    small, large = (g, w) if yours_is_small else (w, g)
    if not _telling(small) or len(small.values) == len(large.values):
        return ""
    for axis in [None, *range(len(large.shape))]:
        sums, count = _sums(large, axis)
        means = [total / count for total in sums] if count else []
        for name, reduced in (("sum", sums), ("mean", means)):
            if len(reduced) == len(small.values) and _all_near(reduced, small.values):
                return _(_REDUCED[yours_is_small, name, axis is not None], axis=axis)
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
        return _("The elements that differ are 0 in your result.")
    if not any(right for _, right in differ):
        return _("The elements that differ should be 0.")
    return _("The elements that differ have the wrong sign.") if all(_near(a, -b) for a, b in differ) else ""


def _of_kinds(got: Value, want: Value) -> str:
    """Return a sentence if only the type differs, such as a list instead of a tensor."""
    mine, right = _flat(got) or [], _flat(want) or []
    same = 0 < len(mine) == len(right) and all(map(math.isfinite, [*mine, *right])) and _all_near(mine, right)
    if not same and isinstance(got, _SEQUENCES) and isinstance(want, _SEQUENCES) and got.items == want.items:
        right_items = _("Your items are right.")
        return f"{right_items} {_(_RETURN[kind_of(want)][1])}"
    return _right_as(want) if same else ""


def _right_as(want: Value) -> str:
    """Return a sentence on right numbers whose type or dtype is wrong."""
    several = len(_flat(want) or [0]) != 1
    right = _("Your numbers are right.") if several else _("Your number is right.")
    return f"{right} {_(_RETURN[kind_of(want)][several], dtype=getattr(want, 'dtype', ''))}"


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
    if got == want[::-1]:
        return _("You have the right items in reverse order.")
    if mine == right:
        return _("You have the right items in a different order.")
    missing, more = (", ".join(map(repr, side.elements())) for side in (right - mine, mine - right))
    if sum(((right - mine) + (mine - right)).values()) > _MOST_ITEMS or not any((mine & right).values()):
        return ""
    # Translators: items of a list
    texts = (
        _("Missing: {items}.", items=missing) if missing else "",
        _("Not expected: {items}.", items=more) if more else "",
    )
    return " ".join(filter(None, texts))


def where_wrong(cases: list[Case], wrong: list[int]) -> str:
    """Return a sentence on what the wrong cases, and no others, have in common; "" if it is nothing simple."""
    right = [i for i in range(len(cases)) if i not in wrong]
    said, others = {cases[i].says for i in wrong}, {cases[i].says for i in right}
    if not right or "" in said | others:
        return ""
    if len(said) == 1:
        return _("Only cases like this one are wrong.") if said.isdisjoint(others) else ""
    traits = [set(_traits(case.inputs)) for case in cases]
    shared = set.intersection(*(traits[i] for i in wrong)) - set().union(*(traits[i] for i in right))
    shortest = min(shared, key=lambda trait: (sum(map(len, trait)), trait), default=None)
    return _where(*shortest) if shortest else ""


def _traits(inputs: Dict) -> Iterator[tuple[str, str, str]]:
    """Yield what can be said of a case's values, one by one: its kind, the value's name, and what it is, if needed."""
    for name, value in inputs.items.items():
        if isinstance(value, NUMERIC):
            numbers = numbers_in(value)
            yield "dtype", name, value.dtype
            yield "dimensions", name, str(len(shape_of(value)))
            if len(numbers) < 2:
                yield ("none", "one")[len(numbers)], name, ""
            if not all(map(math.isfinite, numbers)):
                yield "nan", name, ""
            if not all(numbers):
                yield "0", name, ""
        elif isinstance(value, CONTAINERS) and not parts(value):
            yield "empty", name, ""
        elif len(text := show(value)) <= _LONGEST:
            yield "=", name, text


def _where(kind: str, name: str, value: str) -> str:
    """Return a sentence on a trait of the wrong cases."""
    if kind != "dimensions":
        return _(_WRONG_WHERE[kind], name=name, value=value)
    return ngettext(
        "The wrong ones are exactly those where {name} has {count} dimension.",
        "The wrong ones are exactly those where {name} has {count} dimensions.",
        int(value),
        name=name,
    )
