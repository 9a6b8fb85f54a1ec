"""The kinds of guesses (numbers, choices, an order): how each is parsed, and when it is right. Plain data only.

A guess is one text per blank: what was typed, or the chosen option.
"""

import contextlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..pictures.picture import element_names
from ..words import N_, _
from .guesses import told

NEAR = 0.02  # a number that is not whole may be off by 2%
EXACT = 1e-6  # a whole number must match, but for rounding
PLACES = [  # in an order
    N_("1st"), N_("2nd"), N_("3rd"), N_("4th"), N_("5th"), N_("6th"),
    N_("7th"), N_("8th"), N_("9th"), N_("10th"), N_("11th"), N_("12th"),
]  # fmt: skip


class PredictionError(ValueError):
    """Raised for a prediction that is written incorrectly; the message is for its author."""


class Unreadable(ValueError):
    """Raised for a guess that cannot be parsed. blank: the blank's index. The message says what to write instead."""

    def __init__(self, blank: int, sentence: str):
        super().__init__(sentence)
        self.blank = blank


@dataclass(frozen=True)
class Blank:
    """One field to fill in; without options, it takes a number."""

    label: str
    options: tuple[str, ...] = ()


class Kind:
    """The base class of all kinds of guesses. `blanks` are the fields to fill in; `name` is the prediction's."""

    blanks: list[Blank]
    name = ""

    def translated(self, text: str) -> str:
        """Return a label, an option or an answer in the reader's language."""
        options = {option for blank in self.blanks for option in blank.options}
        same = text in options and len({told(self.name, option) for option in options}) < len(options)
        return text if same else told(self.name, text)

    def meant(self, texts: Sequence[str]) -> list[str]:
        """Return a guess whose options are in the reader's language with the options as the chapter has them.

        Options that have the same translation cannot be told apart, so `translated` leaves all in English.
        """
        options = {self.translated(option): option for blank in self.blanks for option in blank.options}
        return [options.get(text, text) for text in texts]

    def read(self, texts: Sequence[str]) -> list:
        """Return the values of a guess, one per blank; raises Unreadable at the first blank that has none."""
        for index, (blank, text) in enumerate(zip(self.blanks, texts, strict=True)):
            if not isinstance(text, str) or not text.strip():
                raise Unreadable(index, _empty(self.translated(blank.label)))
            if blank.options and text not in blank.options:
                answers = ", ".join(map(self.translated, blank.options))
                raise Unreadable(index, _("{text} is not one of the answers: {answers}.", text=text, answers=answers))
        return list(texts)

    def fits(self, texts: object) -> bool:
        """Return whether a remembered guess belongs to these blanks."""
        try:
            return isinstance(texts, list) and len(texts) == len(self.blanks) and bool(self.read(texts))
        except Unreadable:
            return False

    def answers(self, given: tuple) -> list:
        """Return the right value for each blank, from the arguments of `compare`, or raise PredictionError."""
        raise NotImplementedError

    def right(self, texts: Sequence[str], answers: Sequence) -> list[bool]:
        """Return for each blank whether its guess is right."""
        return [value == answer for value, answer in zip(self.read(texts), answers, strict=True)]


class Numbers(Kind):
    """Numbers to guess: for each label, how many there are, or their shape."""

    def __init__(self, sizes: Mapping[str, int | tuple[int, ...]]):
        shapes = {label: (size,) if isinstance(size, int) else tuple(size) for label, size in sizes.items()}
        self.labels = {of: [of] if math.prod(shape) == 1 else element_names(of, shape) for of, shape in shapes.items()}
        self.blanks = [Blank(name) for names in self.labels.values() for name in names]

    def translated(self, text):
        label, bracket, index = text.partition("[")
        return super().translated(label) + bracket + index

    def read(self, texts):
        return [_number(index, text, self.translated(self.blanks[index].label)) for index, text in enumerate(texts)]

    def answers(self, given):
        numbers = []
        for blanks, value in zip(self.labels.values(), _spread(given, list(self.labels)), strict=True):
            flat = [None] * len(blanks) if value is None else _flat(value)
            if len(flat) != len(blanks):
                raise _other_than(map(shown, flat), blanks)
            numbers += [None if number is None else float(number) for number in flat]
        return numbers

    def right(self, texts, answers):
        return [_near(value, answer) for value, answer in zip(self.read(texts), answers, strict=True)]


class Choice(Kind):
    """A choice among options, made once or on each of several lines."""

    def __init__(self, options: Sequence[str], lines: Sequence[str] = ("",)):
        self.blanks = [Blank(line, tuple(options)) for line in lines]

    def answers(self, given):
        given = _spread(given, [blank.label for blank in self.blanks])
        words = [str(value).lower() if isinstance(value, bool) else str(value) for value in given]
        if not {*words} <= {*self.blanks[0].options}:
            raise _other_than(words, self.blanks[0].options)
        return words


class Order(Kind):
    """A guess at the order of some events."""

    def __init__(self, events: Sequence[str]):
        self.events = tuple(events)
        self.blanks = [Blank(_(place), self.events) for place in PLACES[: len(events)]]

    def read(self, texts):
        values = super().read(texts)
        for index, value in enumerate(values):
            if (first := values.index(value)) < index:
                places = {"one": self.blanks[first].label, "other": self.blanks[index].label}
                text = _("“{event}” cannot come both {one} and {other}.", event=self.translated(value), **places)
                raise Unreadable(index, text)
        return values

    def answers(self, given):
        order = [str(value) for value in _spread(given, self.events)]
        if sorted(order) != sorted(self.events):
            raise _other_than(order, self.events)
        return order


def shown(value) -> str:
    """Format a value as a person would write it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _spread(given: tuple, labels: Sequence[str]) -> list:
    """Return `compare`'s arguments, passed separately or as one dict or list, as a list with one item per label."""
    only = given[0] if len(given) == 1 else None
    if isinstance(only, Mapping):
        if set(only) != set(labels):
            raise _other_than(only, labels)
        return [only[label] for label in labels]
    if len(labels) > 1 and isinstance(only, list | tuple):
        given = tuple(only)
    if len(given) != len(labels):
        raise _other_than(map(shown, given), labels)
    return list(given)


def _other_than(given: Iterable[str], wanted: Iterable[str]) -> PredictionError:
    """Return the error of `compare` that was given something else than what is wanted."""
    parts = {"given": ", ".join(given), "wanted": ", ".join(wanted)}
    return PredictionError(_("compare() was given {given}; it takes {wanted}", **parts))


def _flat(value) -> list:
    """Return the numbers in a tensor, an array or nested lists, in one flat list."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [number for part in value for number in _flat(part)] if isinstance(value, list | tuple) else [value]


def _near(value: float | None, answer: float | None) -> bool:
    if value is None or answer is None:
        return value is answer
    if not math.isfinite(answer) or not math.isfinite(value):
        return value == answer or (math.isnan(value) and math.isnan(answer))
    if abs(answer - round(answer)) <= EXACT * max(1, abs(answer)):
        return abs(value - round(answer)) <= EXACT * max(1, abs(answer))
    return abs(value - answer) <= NEAR * abs(answer) + EXACT


def _number(index: int, text: object, label: str) -> float | None:
    """Return the number that was typed, None for the word None; raises Unreadable with what to write instead."""
    typed = str(text or "").strip().replace("\N{MINUS SIGN}", "-")
    if not typed:
        raise Unreadable(index, _empty(label))
    if typed.lower() == "none":
        return None
    help = _("Write one number such as 2, -0.5 or 1e-3; None, inf and nan also work.")
    if re.fullmatch(r"-?[1-9]\d{0,2}(,\d{3})+", typed):
        help = _("Without the comma it is {number}.", number=typed.replace(",", ""))
    else:
        with contextlib.suppress(ValueError):
            return float(re.sub(r"^(-?\d+),(\d+)$", r"\1.\2", typed))
    unreadable = _("{label}: “{typed}” cannot be read as a number.", label=label, typed=typed[:30])
    raise Unreadable(index, f"{unreadable} {help}")


def _empty(label: str) -> str:
    return _("{label} is still empty.", label=label) if label else _("Choose an answer first.")
