"""A difference in words: where it is, both sides, and what more can be said of it."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from ..words import N_, _, ngettext
from .compare import KINDS, Difference, Place, alike_labelled, missing_words, place_of
from .encoding import encode
from .observation import LEFT, NUMERIC, Dict, Error, Float, Observation, Tensor, Value, kind_of, parts, shape_of
from .record import Case
from .show import show, show_with_type, shown_apart

LONGEST = 160  # characters shown of a list whose length differs, and of what two texts share
BEFORE = 40  # characters shown of what two longer texts share
MOST_JUDGED = 500  # characters shown of a judged value
_MAKES_FLOAT32 = N_(
    "In torch, .float() returns float32, and so do zeros, ones, eye and tensor of floats without dtype=."
)
_FORBIDDEN = {  # what an observation says of the use of something forbidden, and how it is shown
    "(?P<name>.*) was called": N_("{name} was called"),
    "(?P<name>.*) was used": N_("{name} was used"),
    "torch was used and raised: (?P<error>.*)": N_("torch was used and raised: {error}"),
}


def where(difference: Difference) -> str:
    """Return where two values differ, "" if it is the only value; for an error, the line that raised it."""
    error = difference.sides[0]
    if isinstance(error, Error):
        return _("line {number}: {code}", number=error.line, code=error.at) if error.line else error.at
    at = _in_words(difference.place)
    if difference.elements is None:
        return at
    differs, index = difference.elements[2], list(difference.index or ())
    # Translators: a place, such as "the value in returned[0]"
    element = _("index {index}", index=index) if index else _("the value")
    if differs.size > 1:
        count, total = int(differs.sum()), differs.size
        element = _("index {index} ({count} of {total} elements differ)", index=index, count=count, total=total)
    return _inside(element, at)


def _inside(place: str, whole: str) -> str:
    # Translators: two places, such as "index [0]" in "returned[1]", or "x.grad" in "value 2 of 3"
    return _("{place} in {whole}", place=place, whole=whole) if place and whole else place or whole


def _in_words(place: Place) -> str:
    """Return the name of a place: a label alone, or a Python expression such as recorded[0][1]."""
    at, keys = "", place.keys
    if keys and isinstance(keys[0], str):
        at, keys = keys[0] if keys[1:] and keys[0].isidentifier() else repr(keys[0]), keys[1:]
    elif keys:
        # Translators: stands for what the learner's function returned, in a place such as returned[0]
        at = _("returned")
    at += "".join(f"[{key!r}]" for key in keys)
    if not place.number:
        return at
    return _inside(at, _("value {number} of {total}", number=place.number[0], total=place.number[1]))


def both(difference: Difference) -> tuple[str, str]:
    """Return both sides as text, yours first."""
    kind, (got, want) = difference.kind, difference.sides
    if kind == "keys":
        missing, more = ([key for key in a.items if key not in b.items] for a, b in ((want, got), (got, want)))
        # Translators: keys of a dict
        texts = [_("missing: {keys}", keys=_listed(missing))] if missing else []
        texts += [_("not expected: {keys}", keys=_listed(more))] if more else []
        return "; ".join(texts), _listed(want.items)
    if kind in ("nan", "value"):
        return _apart(difference)
    if kind in ("judged", "form"):
        got, want = (str(side[0] if len(side) == 1 else side)[:MOST_JUDGED] for side in (got, want))
        return got, _("{answer} is one right answer", answer=want)
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
    # Translators: the label of the right value, below "yours"
    return _("torch's") if numbers or isinstance(right, Error) else _("expected")


def note(difference: Difference, case: Case, seen: Observation, expected: Observation) -> str:
    """Return one more sentence, or ""."""
    got, want = difference.sides
    match difference.kind:
        case "raised" | "error type":
            due, left = _due(expected, seen), ", ".join(_left(code) for code in seen.left if code not in expected.left)
            # Translators: left: texts such as "gradients are switched off"
            return " ".join(filter(None, (due, left and _("Left behind: {left}.", left=left))))
        case "error message":
            missing = missing_words(want, got, tuple(case.words))[0]
            return _("Your message does not contain: {words}", words=missing)
        case "shape":
            turned = len(shape_of(want)) == 2 and shape_of(got) == shape_of(want)[::-1]
            return _("Your two dimensions are swapped.") if turned else ""
        case "dtype":
            floats = isinstance(got, Tensor) and (got.dtype, want.dtype) == ("float32", "float64")
            return _(_MAKES_FLOAT32) if floats else ""
        case "judged":
            return difference.reason
        case "form":
            return _("It does not have the required form ({error}).", error=difference.reason)
    return ""


def _due(expected: Observation, seen: Observation) -> str:
    """Return a sentence on the value that was expected when an error was raised, "" if it is the only one."""
    number, values = alike_labelled(expected.values, seen.values), expected.values
    if number == len(values):
        return ""
    labels = _listed(parts(values[number])) if isinstance(values[number], Dict) and len(values) > 1 else ""
    due = _in_words(place_of(values, number)) or labels
    # Translators: due: a place, such as "value 2 of 3", or the labels of values
    return _("The check expected {due} next.", due=due) if due else ""


def _apart(difference: Difference) -> tuple[str, str]:
    """Return two different values as text: numbers with enough digits, texts from where they differ."""
    got, want = difference.sides
    if difference.elements is not None:
        yours, expected = (encode(side[difference.index].item()) for side in difference.elements[:2])
        return shown_apart(yours, expected)
    if isinstance(want, Float | float):
        return shown_apart(got, want)
    left, right = show(got), show(want)
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    start = max(0, same - BEFORE) if same > LONGEST else 0
    return (f"… {left[start:]}", f"… {right[start:]}") if start else (left, right)


def _error(error: Error | None) -> str:
    if error is None:
        return _("no error")
    if error.type in KINDS:  # a name that means nothing to a learner
        matches = ((said, re.fullmatch(was, error.message, re.DOTALL)) for was, said in _FORBIDDEN.items())
        return next((_(said, **match.groupdict()) for said, match in matches if match), error.message)
    text = f"{error.type}: {error.message}" if error.message else error.type
    return _("{error}. Did you mean '{name}'?", error=text, name=error.meant) if error.meant else text


def _with_length(value: Value) -> str:
    # Translators: the type and the length of a list, tuple or torch.Size
    text, head = show(value), _("{kind} of {length}", kind=kind_of(value), length=len(parts(value)))
    return f"{head}: {text}" if len(text) <= LONGEST else head


def _with_labels(value: Value) -> str:
    return ", ".join(f"{label!r}: {show(item)}" for label, item in parts(value).items())


def _graph(tensor: Tensor) -> str:
    if tensor.grad_fn:
        return _("a tensor that is part of a graph (grad_fn=<{name}>)", name=tensor.grad_fn)
    return f"requires_grad={tensor.requires_grad}"


def _listed(keys: Iterable[int | str]) -> str:
    return ", ".join(map(repr, keys)) or _("no keys")


def _left(code: str) -> str:
    """Return what was left changed, in words; a student's process may have sent any code."""
    kind, _colon, about = code.partition(":")
    return _(LEFT[kind], about=about) if kind in LEFT else code


def _named(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or _("nothing")


_TEXTS: dict[str, Callable[[Any], str]] = {  # of one side, by the kind of difference
    "type": show_with_type,
    "shape": lambda value: _("shape {shape}", shape=shape_of(value)),
    "dtype": lambda value: value.dtype,
    "graph": _graph,
    "length": _with_length,
    "happened": _with_labels,
    "count": lambda count: ngettext("{count} value", "{count} values", count),
    "mutated": lambda names: _("changed in place: {names}", names=_named(names)),
    "left": lambda codes: _named(map(_left, codes)),
}
