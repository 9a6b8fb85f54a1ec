"""What is said of a check: plain data, part by part, and the text that is made of it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .compare import Difference
from .observation import Dict, List, Tuple
from .record import Case, CheckRecord, Slip
from .show import show

# How a check can end. Stale: what is in memory is not what stands on the page; stopped: there was nothing to judge.
PASSED, WRONG, UNSOLVED, STALE, STOPPED = "passed", "wrong", "unsolved", "stale", "stopped"
_HEADS = {PASSED: "passed", WRONG: "not yet", UNSOLVED: "not yet", STALE: "not checked", STOPPED: "not checked"}

MOST = 400  # characters of one input of a case

NOT_SOLVED = "Not solved yet:"  # so begins what is said of an answer that was not tried
_NOT_SOLVED = f"{NOT_SOLVED} {{}} still raises NotImplementedError."

_SENTENCES = {
    "unsolved": _NOT_SOLVED.format("your function"),
    "shortcut": "This exercise is to be done by hand: torch's autograd may not be used here.",
    "torch": "Torch was used. In part two your own engine takes its place: work with NumPy and the engine's Tensor.",
    "raised": "Your function raised an error where none was expected.",
    "raised later": "What the check did with your answer raised an error.",
    "silent": "Your function returned where an error was expected.",
    "error type": "Your function raised an error of another type than expected.",
    "error message": "The error is of the right type; its message is not the expected one.",
    "count": "The check saw more values, or fewer, than it expected.",
    "type": "What came back is of another type.",
    "dtype": "The dtype is not the expected one.",
    "shape": "The shape is not the expected one.",
    "length": "The number of items is not the expected one.",
    "keys": "The keys of your dict are not the expected ones.",
    "happened": "Something else happened than was expected.",
    "graph": "The values are right; the tensor's tie to a graph is not.",
    "nan": "There is a nan (not a number) where a number is expected.",
    "value": "The values differ.",
    "mutated": "The values that your function was given were not left as they were.",
    "left": "Something that is not your function's own was left changed; it has to be as it was before.",
    "judged": "This answer is not one of the right ones.",
}

_HINTS = {  # by the type of what came back
    "generator": "a generator: it has a yield where a return was expected.",
}
_TENSOR_HINTS = {  # the same, where a tensor is expected
    "list": "a list: torch.tensor makes a tensor of numbers, torch.stack of tensors.",
    "tuple": "a tuple: take the tensor out of it. torch.autograd.grad returns a tuple, and module hooks get tuples.",
    "ndarray": "a NumPy array: torch.from_numpy makes a tensor of it.",
    "float": "a Python number; .item() takes a number out of its tensor.",
}

_RETURNED = re.compile(r"$|'returned\b")  # where the difference is in all that a function returned,
_WHOLE = re.compile(r"('[^']*')?$")  # or in one thing that a check looked at, and not in a part of it,
_GRADIENT = re.compile(r"'.*\bgrad(ient)?\b")  # which may be a gradient
_NO_RETURN = "Your function returned None: is the return statement missing?"
_NO_GRADIENT = "There is None where a gradient belongs: was none computed, was it cleared, or was it not returned?"
_NOT_THERE = "There is None: was it not computed, or not returned?"
_NONE_OF_TORCH = " backward() itself returns None, and the .grad of a tensor that is not a leaf is None too."
_EMPTY = (Dict({}), List([]), Tuple([]))
_LEAF_HINT = "A tensor that you were given stays as it is: take a leaf of your own, such as x.detach().clone()."
_GRAPH_HINT = "detach() gives the same values without the graph; so does computing them under torch.no_grad()."
_RAISED = ("raised", "shortcut", "torch", "error type", "error message")
_NOTES_LEAD = ("value", "shape", "dtype", "judged", "error message")  # where the note says more than the sentence does


@dataclass(frozen=True)
class Told:
    """What is said of a check, in the order in which it is read.

    lead: what helps most, in one sentence. name: of the known slip that the lead is about. more: what else is seen in
    the answer. owned: the name of the function that passed. case, inputs, where, yours, expected, whose: the case that
    failed, and its first difference. drawn: the check's own picture of it, as text. score: how many cases agree.
    first: which cells ran before the check because they had been edited. printed: what the answer printed.
    """

    title: str
    state: str
    lead: str = ""
    name: str = ""
    more: tuple[str, ...] = ()
    owned: str = ""
    case: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    where: str = ""
    yours: str = ""
    expected: str = ""
    whose: str = ""
    drawn: str = ""
    score: str = ""
    first: str = ""
    printed: str = ""

    @property
    def head(self) -> str:
        """How the check ended, in a word or two."""
        return _HEADS[self.state]

    @property
    def slip(self) -> str:
        """The words that stand before the lead where a slip is known."""
        return f"Likely slip: {self.name}." if self.name else ""

    @property
    def text(self) -> str:
        """All of it as plain text: for terminals, for Validate, for grading."""
        if self.state == PASSED:
            parts = [[f"{self.title}: {self.head}. {self.score}", self.lead]]
        else:
            parts = [[f"{self.title}: {self.head}.", f"{self.slip} {self.lead}".strip(), *self.more]]
            parts += [[self.case, *(f"    {name} = {value}" for name, value in self.inputs), self.where]]
            parts[-1] += [f"    yours    {self.yours}", f"    {self.whose:8} {self.expected}"] if self.whose else []
            parts += [[self.drawn], [self.score]]
        parts += [[self.first]]
        parts += [["Your code printed:", self.printed]] if self.printed else []
        return "\n\n".join(text for part in parts if (text := "\n".join(filter(None, part))))


def failure(check: CheckRecord, first: int, right: int, difference: Difference, slip: Slip | None) -> Told:
    """Tell which case failed, where the first difference is, both sides, and the slip if it is a known one.

    `first` is the index of the case; `right` of the check's cases agreed.
    """
    title, case, total = check.title, check.cases[first], len(check.cases)
    sentence, hint = _what(difference, _returns_none(check))
    if difference.kind == "unsolved":
        other = difference.where  # the name of another function that raised it, or a line
        named = _NOT_SOLVED.format(f"{other}, which yours calls,") if other.isidentifier() else sentence
        return Told(title, UNSOLVED, named)
    note = difference.note
    lead = slip.says if slip else hint or (note if difference.kind in _NOTES_LEAD else "") or sentence
    if (difference.kind == "judged" and note) or (difference.kind == "value" and slip):
        sentence = ""  # the note or the slip says more
    at = difference.where and f"{'Raised' if difference.kind in _RAISED else 'First difference'} at {difference.where}."
    raised = at if difference.kind in _RAISED else ""
    return Told(
        title,
        WRONG,
        lead,
        slip.name if slip else "",
        more=tuple(text for text in (sentence, hint, raised, note) if text and text != lead),
        case=f"Case {first + 1} of {total}" + (f": {case.says}" if case.says else "") + ".",
        inputs=_inputs(case),
        where="" if raised else at,
        yours=difference.yours,
        expected=difference.expected,
        whose=difference.whose,
        score=f"{right} of {total} cases {'is' if right == 1 else 'are'} right." if total > 1 else "",
    )


def _about_none(where: str, tensor: bool, none_is_right: bool) -> str:
    """What may be behind a None; nothing where a function may well return it."""
    if _RETURNED.match(where):
        return "" if none_is_right else _NO_RETURN + _NONE_OF_TORCH * tensor
    return _NO_GRADIENT if _GRADIENT.match(where) else _NOT_THERE + _NONE_OF_TORCH * tensor


def _returns_none(check: CheckRecord) -> bool:
    """Tell whether None is a right answer in one of the cases."""
    values = [value for observation in check.expected for value in observation.values]
    labelled = [item for value in values if isinstance(value, Dict) for item in value.items.items()]
    return None in values or any(item is None and label.startswith("returned") for label, item in labelled)


def _what(difference: Difference, none_is_right: bool) -> tuple[str, str]:
    """What kind of difference it is, and a hint where there is one."""
    kind, hint = difference.kind, ""
    if kind == "raised" and not difference.where:
        kind = "raised later"
    if kind == "type" and _WHOLE.match(difference.where):
        tensor = difference.expected.startswith("tensor")
        returned = _RETURNED.match(difference.where)
        if difference.yours == "None":
            hint = _about_none(difference.where, tensor, none_is_right)
        elif seen := (_HINTS | (_TENSOR_HINTS if tensor else {})).get(re.split(r"\W", difference.yours.strip("<"))[0]):
            hint = f"{'Your function returned' if returned else 'There is'} {seen}"
    if kind == "left" and difference.yours.endswith(("requires grad", "has a .grad")):
        hint = _LEAF_HINT
    if kind == "graph" and "part of a graph" in difference.yours:
        hint = _GRAPH_HINT
    return _SENTENCES[kind], hint


def _inputs(case: Case) -> tuple[tuple[str, str], ...]:
    texts = {name: show(value) for name, value in case.inputs.items.items() if value not in _EMPTY}
    return tuple((name, text if len(text) <= MOST else text[:MOST] + " …") for name, text in texts.items())


def success(check: CheckRecord) -> Told:
    """Tell what the learner now owns, and what was compared: how many cases, and how many of them are refusals."""
    errors = [observation.error.type for observation in check.expected if observation.error]
    count = len(check.expected)
    score = f"{count} cases agree with torch" if count != 1 else "The one case agrees with torch"
    if errors:
        kinds = " or ".join(dict.fromkeys(errors))
        score += f", {len(errors)} of them by raising {kinds} as torch does"
    return Told(check.title, PASSED, check.owns, owned=check.answer, score=score + ".")


def shortcut_in_source(title: str, lines: list[str]) -> Told:
    """Tell that the source of an answer mentions torch's autograd where it is forbidden."""
    found = ", ".join(lines[:3])
    return Told(title, WRONG, _SENTENCES["shortcut"], more=(f"Your code mentions it: {found}",))


def interrupted(title: str, case: Case, number: int, total: int) -> Told:
    """Tell in which case a check was when it was interrupted."""
    says = f": {case.says}" if case.says else ""
    return Told(title, STOPPED, f"Interrupted in case {number} of {total}{says}. Does a loop in your answer ever end?")


def not_run(title: str, name: str, why: str) -> Told:
    """Tell that the definition on the page is not the one in memory, and why."""
    lead = f"What stands on the page is what counts, and in memory is an earlier version of {name}: {why} "
    return Told(title, STALE, lead + "Mend that cell and run it, then run this one again.")


def ran_first(names: Iterable[str]) -> str:
    """Tell that cells ran before the check because they had been edited, by the names that they define."""
    cells = " and ".join(sorted(names))
    return f"You had edited the cell of {cells} since it ran, so it ran again first." if cells else ""


def elsewhere(title: str, name: str) -> Told:
    """Tell that what is in memory was defined in another cell than the one for the answer."""
    lead = f"{name} was defined last in another cell than the one for your answer, and that one is what is graded. "
    return Told(title, STALE, lead + "Put it there and run that cell, then run this one again.")


def setup_missing(title: str, name: str, cells: int) -> Told:
    """Tell which cells define a name that is not defined, where it is one of the chapter's `cells` setup cells."""
    which = "the setup cell above" if cells == 1 else f"the {_COUNTS.get(cells, cells)} setup cells above"
    lead = f"{name} is not defined, because a setup cell has not run since the kernel started."
    return Told(title, STOPPED, f"{lead} Run {which}, {OR_ALL}")


def answer_missing(title: str, name: str) -> Told:
    """Tell that the cell with the answer has not run."""
    lead = f"{name} is not defined, because the cell with your answer has not run through since the kernel started."
    return Told(title, STOPPED, f"{lead} Run that cell, {OR_ALL}")


OR_ALL = "or choose Run All Above Selected Cell in the Run menu, then run this cell again."
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}
