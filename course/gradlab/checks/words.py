"""A verdict in words: what a learner reads when a check fails, and when it passes."""

import re

from .compare import Difference
from .observation import Dict, List, Observation, Tuple
from .record import Case, Slip
from .show import show

_SENTENCES = {
    "unsolved": "Not solved yet: your function still raises NotImplementedError.",
    "shortcut": "This exercise is to be done by hand: torch's autograd may not be used here.",
    "raised": "Your function raised an error where none was expected.",
    "raised later": "What the check did with your answer raised an error.",
    "silent": "Your function returned where an error was expected.",
    "error type": "Your function raised an error of another type than expected.",
    "error message": "The error is of the right type; its message is not the expected one.",
    "count": "A different number of values was seen.",
    "type": "What came back is of another type.",
    "dtype": "The dtype is not the expected one: torch.zeros, torch.ones and torch.eye make float32 without dtype=.",
    "shape": "The shape is not the expected one.",
    "length": "The number of items is not the expected one.",
    "keys": "The dict has other keys.",
    "graph": "The values are right; the tensor's tie to a graph is not.",
    "nan": "There is a nan (not a number) where a number is expected.",
    "value": "The values differ.",
    "mutated": "The values that your function was given were not left as they were.",
    "left": "Something that is not your function's own was left changed; it has to be as it was before. "
    "A tensor that you were given stays as it is: take a leaf of your own, such as x.detach().clone().",
    "judged": "This answer is not one of the right ones.",
}

_HINTS = {  # by the type of what came back
    "None": "Your function returned None: is the return statement missing? "
    "backward() itself returns None, and the .grad of a tensor that is no leaf is None too.",
    "generator": "Your function returned a generator: it has a yield where a return was expected.",
}
_TENSOR_HINTS = {  # the same, where a tensor is expected
    "list": "Your function returned a list: torch.tensor makes a tensor of numbers, torch.stack of tensors.",
    "tuple": "Your function returned a tuple: torch.autograd.grad gives one, whose first item is the gradient.",
    "ndarray": "Your function returned a NumPy array: torch.from_numpy makes a tensor of it.",
    "float": "Your function returned a Python number; .item() takes a number out of its tensor.",
}

_EMPTY = (Dict({}), List([]), Tuple([]))

MOST = 400  # characters of one input of a case

_GRAPH_HINT = "detach() gives the same values without the graph; so does computing them under torch.no_grad()."


def failure(
    title: str, case: Case, number: int, right: int, total: int, difference: Difference, slip: Slip | None
) -> str:
    """Say which case failed, where the first difference is, both sides, and the slip if it is a known one.

    `number` counts the cases from 1; `right` of `total` cases agreed.
    """
    lines = [f"{title}: not yet.", *_what(difference)]
    if difference.kind == "unsolved":
        return "\n".join(lines)
    lines += ["", f"Case {number} of {total}" + (f": {case.says}" if case.says else "") + ".", *_inputs(case)]
    if difference.where:
        label = "Raised at" if difference.kind in _RAISED else "First difference at"
        lines.append(f"{label} {difference.where}.")
    lines += [f"    yours    {difference.yours}", f"    {difference.whose:8} {difference.expected}"]
    if difference.note:
        lines.append(difference.note)
    if slip:
        lines += ["", f"Likely slip: {slip.name}. {slip.says}"]
    if total > 1:
        lines += ["", f"{right} of {total} cases are right."]
    return "\n".join(lines)


_RAISED = ("raised", "shortcut", "error type", "error message")


def _what(difference: Difference) -> list[str]:
    kind, hint = difference.kind, None
    if kind == "raised" and not difference.where:
        kind = "raised later"
    if kind == "type" and difference.where in ("", "'returned'"):  # of all that came back, not of a part of it
        hints = _HINTS | (_TENSOR_HINTS if difference.expected.startswith("tensor") else {})
        hint = hints.get(re.split(r"\W", difference.yours.strip("<"))[0])
    if kind == "graph" and "part of a graph" in difference.yours:
        hint = _GRAPH_HINT
    return [_SENTENCES[kind], *([hint] if hint else [])]


def _inputs(case: Case) -> list[str]:
    texts = {name: show(value) for name, value in case.inputs.items.items() if value not in _EMPTY}
    return [f"    {name} = {text if len(text) <= MOST else text[:MOST] + ' …'}" for name, text in texts.items()]


def success(title: str, expected: list[Observation]) -> str:
    """Say what was compared: how many cases, and how many of them are refusals."""
    errors = [observation.error.type for observation in expected if observation.error]
    text = f"{title}: passed. {len(expected)} cases agree with torch"
    if errors:
        kinds = " or ".join(dict.fromkeys(errors))
        text += f", {len(errors)} of them by raising {kinds} as torch does"
    return text + "."


def shortcut_in_source(title: str, lines: list[str]) -> str:
    """Say that the source of an answer mentions torch's autograd where it is forbidden."""
    found = ", ".join(lines[:3])
    return f"{title}: not yet.\n{_SENTENCES['shortcut']}\nYour code mentions it: {found}"
