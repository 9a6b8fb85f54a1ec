"""The feedback of a check: its parts as plain data, and its text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from . import sides
from .difference import RAISED, Difference
from .likeness import likeness, where_wrong
from .observation import Dict, List, Observation, Tensor, Tuple, kind_of
from .record import Case, CheckRecord, Slip
from .show import show

# How a check can end. Stale: memory and notebook hold different definitions; stopped: there was nothing to judge;
# refused: there are no readable observations; not alone: in grading, right in the notebook but not on its own.
PASSED, WRONG, UNSOLVED, STALE, STOPPED = "passed", "wrong", "unsolved", "stale", "stopped"
REFUSED, NOT_ALONE = "refused", "not alone"
_HEADS = {PASSED: "passed", WRONG: "not yet", UNSOLVED: "not yet", STALE: "not checked", STOPPED: "not checked"}
_HEADS |= {REFUSED: "not passed", NOT_ALONE: "not passed"}

MOST = 400  # characters shown of one input

_SENTENCES = {  # by the kind of difference; what a judge says stands alone
    "shortcut": "Solve this exercise by hand: your answer may not use torch's autograd.",
    "torch": "Your answer used torch. In part two your own engine takes its place: use NumPy and the engine's Tensor.",
    "raised": "Your function raised {yours}",
    "raised later": "When the check used your answer, this was raised: {yours}",
    "silent": "Your function returned, but should have raised an error.",
    "error type": "Your function raised the wrong type of error: {yours}",
    "error message": "Your error has the right type, but its message differs from the expected one.",
    "count": "The check saw a different number of values than it expected.",
    "type": "The type differs from the expected one.",
    "dtype": "The dtype differs from the expected one.",
    "shape": "The shape differs from the expected one.",
    "length": "The number of items differs from the expected one.",
    "keys": "Your dict's keys differ from the expected ones.",
    "happened": "The events differ from the expected ones.",
    "graph": "The values are right, but the tensor's link to a graph is not.",
    "nan": "There is a nan (not a number) where a number belongs.",
    "value": "The values differ.",
    "mutated": "Your function changed values that it was given.",
    "left": "Your function changed something outside itself and did not restore it.",
}

_HINTS = {"generator": "a generator: it has a yield where a return was expected."}  # by the type returned
_TENSOR_HINTS = {  # more hints, if a tensor is expected
    "list": "a list: torch.tensor turns numbers into a tensor, and torch.stack joins tensors.",
    "tuple": "a tuple: take the tensor out of it. torch.autograd.grad returns tuples, and module hooks receive them.",
    "ndarray": "a NumPy array: torch.from_numpy turns it into a tensor.",
    "float": "a Python number: .item() turns a tensor into one.",
}

_RETURNED = re.compile(r"$|returned\b")  # the label of what the answer returned; "" for the only value
_GRADIENT = re.compile(r"\bgrad(ient)?s?\b")  # in the label of what may be a gradient
_NO_RETURN = "Your function returned None: is the return statement missing?"
_NO_GRADIENT = "There is None where a gradient belongs: was the gradient cleared, never computed, or not returned?"
_NOT_THERE = "There is None where a value belongs: was it never computed, or not returned?"
_NONE_OF_TORCH = " backward() itself returns None, and a non-leaf tensor's .grad is None too."
_EMPTY = (Dict({}), List([]), Tuple([]))
_LEAF_HINT = "Do not change a tensor that you were given: make your own leaf, such as x.detach().clone()."
_GRAPH_HINT = "detach() gives the same values without the graph; so does computing them under torch.no_grad()."
_SAID = ("raised", "shortcut", "torch")  # the sentence says it all: the expected side is "no error"
# The kinds of difference whose note says more than the sentence
_NOTES_LEAD = ("value", "shape", "dtype", "type", "length", "judged", "form", "error message")


@dataclass(frozen=True)
class Feedback:
    """The feedback of a check, in reading order.

    lead: the most helpful sentence. name: the known slip that the lead describes. at: the error if the lead is not
    about it, and where it was raised. more: what else differs in the answer. owned: the name of the function that
    passed. case, inputs, where, yours, expected, whose: the failed case and its first difference. whole: what contains
    yours and the expected one, if that is shown, too. drawn: the check's own picture of it, as text. score: how many
    cases agree. first: the cells that ran before the check. printed: what the answer printed.
    """

    title: str
    state: str
    lead: str = ""
    name: str = ""
    at: str = ""
    more: tuple[str, ...] = ()
    owned: str = ""
    case: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    where: str = ""
    yours: str = ""
    expected: str = ""
    whole: tuple[str, ...] = ()
    whose: str = ""
    drawn: str = ""
    score: str = ""
    first: str = ""
    printed: str = ""

    @property
    def head(self) -> str:
        """The check's outcome in a word or two."""
        return _HEADS[self.state]

    @property
    def slip(self) -> str:
        """The words before the lead if the slip is known."""
        return f"Likely slip: {self.name}." if self.name else ""

    @property
    def sides(self) -> list[tuple[str, ...]]:
        """Yours and the expected one, as far as they are shown: for each, its label, its text, and what contains it."""
        shown = ("yours", self.yours, *self.whole[:1]), (self.whose, self.expected, *self.whole[1:])
        return [*shown] if self.whose else []

    @property
    def text(self) -> str:
        """The whole feedback as plain text: for terminals, nbgrader's Validate and grading."""
        if self.state == PASSED:
            parts = [[f"{self.title}: {self.head}. {self.score}", self.lead]]
        else:
            parts = [[f"{self.title}: {self.head}.", f"{self.slip} {self.lead}".strip(), self.at, *self.more]]
            parts += [[self.case, *(f"    {name} = {value}" for name, value in self.inputs), self.where]]
            parts[-1] += [f"    {whose:8} {'   in '.join(side)}" for whose, *side in self.sides]
            parts += [[self.drawn], [self.score]]
        parts += [[self.first]]
        parts += [["Your code printed:", self.printed]] if self.printed else []
        return "\n\n".join(text for part in parts if (text := "\n".join(filter(None, part))))


def failure(
    check: CheckRecord,
    wrong: list[int],
    seen: Observation,
    difference: Difference,
    slip: Slip | None,
    partly: Slip | None = None,
) -> Feedback:
    """Return feedback on the first failed case: its first difference, both sides, and the slip if it is known.

    `wrong` holds the indices of the failed cases. seen: what was observed in the first of them. partly: a slip that
    explains only that one.
    """
    title, case, total, kind = check.title, check.cases[wrong[0]], len(check.cases), difference.kind
    line = sides.where(difference)
    if kind == "unsolved":
        error = difference.sides[0]
        who = "your function" if not error.at.isidentifier() else f"{error.at}, which your function calls,"
        return Feedback(title, UNSOLVED, f"Not solved yet: {who} still raises NotImplementedError.")
    right = total - len(wrong)
    score = f"{right} of {total} cases {'is' if right == 1 else 'are'} right. {where_wrong(check.cases, wrong)}".strip()
    yours, expected = sides.both(difference)
    sentence = _SENTENCES.get("raised later" if kind == "raised" and not line else kind, "").format(yours=_ended(yours))
    hint = _hint(difference, _returns_none(check))
    note = sides.note(difference, case, seen, check.expected[wrong[0]])
    if difference.pair and not (slip or partly or note) and kind != "graph":
        note = likeness(*difference.pair, case.inputs, check.expected[wrong[0]])
    others = "Other cases are wrong in a different way." if partly else ""
    known = f"Likely slip in this case: {partly.name}. {partly.says}" if partly else slip.says if slip else ""
    note_first = note if kind == "type" else ""  # the numbers are right: that comes before what is wrong
    lead = known or note_first or hint or (note if kind in _NOTES_LEAD else "") or sentence
    line = line and f"{'Raised' if kind in RAISED else 'First difference'} at {line}."
    raised = ""
    if kind in RAISED:
        said = sentence if lead != sentence else f"{yours}." if kind in ("shortcut", "torch") else ""
        raised = f"{said} {line}".strip()
        sentence, line = "", ""
    if kind == "value" and known:
        sentence = ""  # the slip says more
    return Feedback(
        title,
        WRONG,
        lead,
        slip.name if slip else "",
        at=raised,
        more=tuple(text for text in (sentence, hint, note, others) if text and text != lead),
        case=f"Case {wrong[0] + 1} of {total}" + (f": {case.says}" if case.says else "") + ".",
        inputs=_inputs(case),
        where=line,
        yours=yours,
        expected=expected,
        whole=sides.whole(difference),
        whose="" if kind in _SAID else sides.whose(difference),
        score=score if total > 1 else "",
    )


def _ended(text: str) -> str:
    """Return an error's text as a sentence."""
    return text if text.endswith(("?", ".", "!")) else f"{text}."


def _returns_none(check: CheckRecord) -> bool:
    """Return whether None is a right answer in one of the cases."""
    values = [value for observation in check.expected for value in observation.values]
    labelled = [item for value in values if isinstance(value, Dict) for item in value.items.items()]
    return None in values or any(item is None and _RETURNED.match(label) for label, item in labelled)


def _hint(difference: Difference, none_is_right: bool) -> str:
    """Return a sentence on the likely cause of a difference, or ""."""
    kind, label, (got, want) = difference.kind, difference.place.label, difference.sides
    if kind == "type" and label is not None:
        tensor = isinstance(want, Tensor)
        if got is None:
            return _about_none(label, tensor, none_is_right)
        seen = (_HINTS | (_TENSOR_HINTS if tensor else {})).get(kind_of(got))
        return f"{'Your function returned' if _RETURNED.match(label) else 'There is'} {seen}" if seen else ""
    if kind == "left" and any(code.partition(":")[0] in ("requires_grad", "has_grad") for code in got):
        return _LEAF_HINT
    return _GRAPH_HINT if kind == "graph" and got.grad_fn else ""


def _about_none(label: str, tensor: bool, none_is_right: bool) -> str:
    """Return a sentence on what could cause a None, or "" if None is a legitimate return value."""
    if _RETURNED.match(label):
        return "" if none_is_right else _NO_RETURN + _NONE_OF_TORCH * tensor
    return _NO_GRADIENT if _GRADIENT.search(label) else _NOT_THERE + _NONE_OF_TORCH * tensor


def _inputs(case: Case) -> tuple[tuple[str, str], ...]:
    texts = {name: show(value) for name, value in case.inputs.items.items() if value not in _EMPTY}
    return tuple((name, text if len(text) <= MOST else text[:MOST] + " …") for name, text in texts.items())


def success(check: CheckRecord) -> Feedback:
    """Return feedback on a pass: what the learner now owns, how many cases agree, and how many by raising an error."""
    errors = [observation.error.type for observation in check.expected if observation.error]
    count = len(check.expected)
    score = f"{count} cases agree with torch" if count != 1 else "The one case agrees with torch"
    if errors:
        kinds = " or ".join(dict.fromkeys(errors))
        score += f", {len(errors)} of them by raising {kinds} as torch does"
    return Feedback(check.title, PASSED, check.owns, owned=check.answer, score=score + ".")


def interrupted(title: str, case: Case, number: int, total: int) -> Feedback:
    """Return feedback on a check that was interrupted in this case."""
    says = f": {case.says}" if case.says else ""
    return Feedback(
        title, STOPPED, f"Interrupted in case {number} of {total}{says}. Does a loop in your answer never end?"
    )


def not_run(title: str, name: str, why: str) -> Feedback:
    """Return feedback on an answer that needs a definition which differs from the notebook's, and why.

    why: "" if no cell defines the name anymore.
    """
    lead = f"The {name} that ran last is not the one on this page: {why} Correct that cell and run it"
    if not why:
        lead = f"Only memory still holds the name {name}: no cell of the notebook defines it anymore."
        lead += " Put its cell back, for example with Undo in the Edit menu, and run it"
    return Feedback(title, STALE, f"{lead}, then run this one again.")


def ran_first(names: Iterable[str], set_up: bool) -> str:
    """Return a sentence saying that the cells which define these names, or set-up cells, ran before the check."""
    defines = " and ".join(sorted(names))
    if set_up:
        answers = ", and then your answers" if defines else ""
        return f"The set-up cells had not run since the kernel started, so they ran first{answers}."
    return f"You had not run the cell that defines {defines} as it stands now, so it ran first." if defines else ""


def elsewhere(title: str, name: str) -> Feedback:
    """Return feedback on an answer that was last defined outside its own cell."""
    lead = f"{name} was last defined outside the cell for your answer, and only that cell is graded. "
    return Feedback(title, STALE, lead + "Put your definition there and run that cell, then run this one again.")


def setup_missing(title: str, name: str, cells: int) -> Feedback:
    """Return feedback that says which setup cells to run, because one of them defines `name`. cells: their number."""
    which = "the setup cell above" if cells == 1 else f"the {_COUNTS.get(cells, cells)} setup cells above"
    lead = f"{name} is not defined, because a setup cell has not run since the kernel started."
    return Feedback(title, STOPPED, f"{lead} Run {which}, {OR_ALL}")


def answer_missing(title: str, name: str) -> Feedback:
    """Return feedback saying that the answer's cell has not run."""
    lead = f"{name} is not defined, because the cell with your answer has not run to its end since the kernel started."
    return Feedback(title, STOPPED, f"{lead} Run that cell, {OR_ALL}")


OR_ALL = "or choose Run All Above Selected Cell in the Run menu, then run this cell again."
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}
