"""What a wrong value and the expected one have in common, and which cases are wrong: sentences that are always true.

Each sentence states a relation that was computed from the two values, never a cause.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator

from ..words import N_, _
from .observation import NUMERIC, Dict, List, Observation, Size, Tuple, Value, kind_of, parts, shape_of
from .plain import numbers_in
from .record import Case
from .show import show

_SEQUENCES = (List, Tuple, Size)
_MOST_ITEMS = 4  # named in one sentence
_LONGEST = 40  # characters of a case's value in a sentence
_ALMOST = 1e-3  # a smaller relative error means a correct formula with too few digits
_RETURN = {  # right values, as the type that is expected
    "tensor": N_("Your values are right. Return them as a tensor of dtype {dtype}."),
    "ndarray": N_("Your values are right. Return them as a NumPy array of dtype {dtype}."),
    "list": N_("Your values are right. Return them as a list."),
    "tuple": N_("Your values are right. Return them as a tuple."),
    "torch.Size": N_("Your values are right. Return them as a torch.Size."),
    "float": N_("Your value is right. Return it as a Python float."),
    "int": N_("Your value is right. Return it as a Python int."),
}
_MOST_TIMES = 1e6  # a larger factor is not reported: it means that the expected values are rounding errors around 0


def likeness(got: Value, want: Value, case: Dict, expected: Observation) -> str:
    """Return a sentence on how `got` relates to `want`, a case's value or a different expected value; or ""."""
    if isinstance(got, _SEQUENCES) and type(got) is type(want):
        return _of_items(list(got.items), list(want.items))
    g, w = _flat(got), _flat(want)
    if kind_of(got) != kind_of(want):
        same = isinstance(got, _SEQUENCES) and isinstance(want, _SEQUENCES) and got.items == want.items
        return _right_as(want) if same or (g and w and _all_near(g, w)) else ""
    if not g or not w or not all(map(math.isfinite, [*g, *w])) or type(got) is int:
        return ""
    if _shape(got) != _shape(want):
        return _("The values are right, but in a different shape.") if _telling(w) and _all_near(g, w) else ""
    if isinstance(got, NUMERIC) and isinstance(want, NUMERIC) and got.dtype != want.dtype:
        return _right_as(want) if _all_near(g, w) else ""
    if isinstance(got, NUMERIC) and "float" not in got.dtype:
        return _of_some(g, w) if got.dtype != "bool" else ""
    return _of_all(g, w) or _of_others(g, w, _shape(got), case, expected) or _of_some(g, w)


def _right_as(want: Value) -> str:
    return _(_RETURN[kind_of(want)], dtype=getattr(want, "dtype", ""))


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


def _shape(value: Value) -> tuple[int, ...]:
    return shape_of(value) if isinstance(value, NUMERIC) else ()


def _telling(numbers: list[float]) -> bool:
    """Return whether equal numbers of this kind are hardly a coincidence: they are not a few small integers."""
    return all(map(math.isfinite, numbers)) and not all(map(float.is_integer, numbers))


def _near(number: float, other: float) -> bool:
    return number == other or abs(number - other) <= 1e-12 + 1e-6 * abs(other) < math.inf


def _all_near(numbers: list[float], other: Iterable[float]) -> bool:
    other = list(other)
    return len(numbers) == len(other) and all(map(_near, numbers, other))


def _of_all(g: list[float], w: list[float]) -> str:
    """Return a sentence on an error that all numbers share; "" if there is no simple one."""
    error = max(abs(mine - right) / abs(right or 1) for mine, right in zip(g, w, strict=True))
    if 0 < error <= _ALMOST:
        return _("Right to about {count} digits, and the check needs more.", count=round(-math.log10(error)))
    if len(w) < 2 or not all(w):
        return ""
    if not any(g):
        return _("All your values are zero.")
    ratio, by = g[0] / w[0], g[0] - w[0]
    if 1 / _MOST_TIMES <= abs(ratio) <= _MOST_TIMES and _all_near(g, [ratio * right for right in w]):
        return _("Each of your values is {ratio:.4g} times the expected one.", ratio=ratio)
    if not _all_near([mine - right for mine, right in zip(g, w, strict=True)], [by] * len(w)):
        return ""
    if by > 0:
        return _("Each of your values is too large by {by:.4g}.", by=by)
    return _("Each of your values is too small by {by:.4g}.", by=-by)


def _of_others(g: list[float], w: list[float], shape: tuple[int, ...], case: Dict, expected: Observation) -> str:
    """Return a sentence if all numbers are those of a different value that has a name, or have lost their signs."""
    if not _telling(g) or not _telling(w):
        return ""
    for says, other in _named(case, expected):
        numbers = _flat(other) or []
        if _shape(other) == shape and _all_near(g, numbers) and not _all_near(numbers, w):
            return says
    return _("Your values are the absolute values of the expected ones.") if _all_near(g, map(abs, w)) else ""


def _named(case: Dict, expected: Observation) -> Iterator[tuple[str, Value]]:
    """Yield the numbers of a case, and those expected at an observation's labels: that yours equal them, and they."""
    for name, value in case.items.items():
        for place, part in _inside(name, value):
            yield _("Your values equal {name}.", name=place), part
    for labelled in expected.values if len(expected.values) > 1 else ():
        for label, value in parts(labelled).items() if isinstance(labelled, Dict) else ():
            for place, part in _inside(repr(label), value):
                yield _("Your values equal those expected at {name}.", name=place), part


def _inside(name: str, value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, NUMERIC) or type(value) is float:
        yield name, value
    for key, part in parts(value).items():
        yield from _inside(f"{name}[{key!r}]", part)


def _of_some(g: list[float], w: list[float]) -> str:
    """Return a sentence on the elements that differ, if some are right and the others share what is wrong."""
    differ = [(mine, right) for mine, right in zip(g, w, strict=True) if not _near(mine, right)]
    if not differ or len(differ) == len(g):
        return ""
    if not any(mine for mine, _ in differ):
        return _("The elements that differ are 0 in your result.")
    return _("The elements that differ should be 0.") if not any(right for _, right in differ) else ""


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
    values = [{(name, show(value)) for name, value in case.inputs.items.items()} for case in cases]
    shared = set.intersection(*(values[i] for i in wrong)) - set().union(*(values[i] for i in right))
    name, value = min(shared, key=lambda pair: (len("".join(pair)), pair), default=("", ""))
    if not name or len(value) > _LONGEST:
        return ""
    return _("The wrong ones are exactly those where {name} = {value}.", name=name, value=value)
