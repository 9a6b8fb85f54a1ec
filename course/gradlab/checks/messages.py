"""The feedback of a check: its parts as plain data, and its text."""

import functools
import re
from dataclasses import dataclass

from ..words import N_, _, ngettext, of_chapter
from . import sides
from .compare import RAISED, Difference
from .likeness import likeness, where_wrong
from .observation import Dict, List, Observation, Tensor, Tuple, kind_of
from .record import Case, CheckRecord, Slip, titled
from .show import show

# How a check can end. Stale: memory and notebook hold different definitions; stopped: there was nothing to judge;
# refused: there are no readable observations; not alone: in grading, right in the notebook but not on its own.
PASSED, WRONG, UNSOLVED, STALE, STOPPED = "passed", "wrong", "unsolved", "stale", "stopped"
REFUSED, NOT_ALONE = "refused", "not alone"
_HEADS = {PASSED: N_("passed"), WRONG: N_("not yet"), STALE: N_("not checked"), REFUSED: N_("not passed")}
_HEADS |= {UNSOLVED: _HEADS[WRONG], STOPPED: _HEADS[STALE], NOT_ALONE: _HEADS[REFUSED]}

MOST = 400  # characters shown of one input

_SENTENCES = {  # by the kind of difference; what a judge says stands alone
    "shortcut": N_("Solve this exercise by hand: your answer may not use torch's autograd."),
    "torch": N_(
        "Your answer used torch. In part two your own engine takes its place: use NumPy and the engine's Tensor."
    ),
    # Translators: what was raised ends as a sentence does
    "raised": N_("Your function raised {yours}"),
    "raised later": N_("When the check used your answer, this was raised: {yours}"),
    "silent": N_("Your function returned, but should have raised an error."),
    "error type": N_("Your function raised the wrong type of error: {yours}"),
    "error message": N_("Your error has the right type, but its message differs from the expected one."),
    "count": N_("The check saw a different number of values than it expected."),
    "type": N_("The type differs from the expected one."),
    "dtype": N_("The dtype differs from the expected one."),
    "shape": N_("The shape differs from the expected one."),
    "length": N_("The number of items differs from the expected one."),
    "keys": N_("Your dict's keys differ from the expected ones."),
    "happened": N_("The events differ from the expected ones."),
    "graph": N_("The values are right, but the tensor's link to a graph is not."),
    "nan": N_("There is a nan (not a number) where a number belongs."),
    "value": N_("The values differ."),
    "mutated": N_("Your function changed values that it was given."),
    "left": N_("Your function changed something outside itself and did not restore it."),
}

_GENERATOR = N_("Yours is a generator: it has a yield where a return was expected.")
_TENSOR_HINTS = {  # by the type of yours, if a tensor is expected
    "list": N_("Yours is a list: torch.tensor turns numbers into a tensor, and torch.stack joins tensors."),
    "tuple": N_(
        "Yours is a tuple: take the tensor out of it. "
        "torch.autograd.grad returns tuples, and module hooks receive them."
    ),
    "ndarray": N_("Yours is a NumPy array: torch.from_numpy turns it into a tensor."),
    "float": N_("Yours is a Python number: .item() turns a tensor into one."),
}

_RETURNED = re.compile(r"$|returned\b")  # the label of what the answer returned; "" for the only value
_GRADIENT = re.compile(r"\bgrad(ient)?s?\b")  # in the label of what may be a gradient
_EMPTY = (Dict({}), List([]), Tuple([]))
_SAID = ("raised", "shortcut", "torch")  # the sentence says it all: the expected side is "no error"
# The kinds of difference whose note says more than the sentence
_NOTES_LEAD = ("value", "shape", "dtype", "type", "length", "judged", "form", "error message")


@dataclass(frozen=True)
class Feedback:
    """The feedback of a check, in reading order: texts in the reader's language, but for title, state and name.

    lead: the most helpful sentence. name: the known slip that the lead describes. at: the error if the lead is not
    about it, and where it was raised. more: what else differs in the answer. owned: the name of the function that
    passed. case, inputs, where, yours, expected, whose: the failed case and its first difference. whole: what contains
    yours and the expected one, if that is shown, too. drawn: the check's own picture of it, as text. score: how many
    cases agree. first: that cells ran before the check. printed: what the answer printed.
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
    def heading(self) -> str:
        """The check's id and title in the reader's language."""
        return titled(self.title)

    @property
    def head(self) -> str:
        """The check's outcome in a word or two."""
        return _(_HEADS[self.state])

    @property
    def outcome(self) -> str:
        """The check and its outcome in one line."""
        # Translators: such as "02.1 the gradient that arrives at x: not yet."
        return _("{title}: {outcome}.", title=self.heading, outcome=self.head)

    @property
    def slip(self) -> str:
        """The words before the lead if the slip is known."""
        return _("Likely slip: {name}.", name=_of(self.title, self.name)) if self.name else ""

    @property
    def sides(self) -> list[tuple[str, ...]]:
        """Yours and the expected one, as far as they are shown: for each, its label, its text, and what contains it."""
        # Translators: the label of the learner's value, above the expected one
        shown = (_("yours"), self.yours, *self.whole[:1]), (self.whose, self.expected, *self.whole[1:])
        return [*shown] if self.whose else []

    @property
    def text(self) -> str:
        """The whole feedback as plain text: for terminals, nbgrader's Validate and grading."""
        if self.state == PASSED:
            parts = [[f"{self.outcome} {self.score}", self.lead]]
        else:
            parts = [[self.outcome, f"{self.slip} {self.lead}".strip(), self.at, *self.more]]
            parts += [[self.case, *(f"    {name} = {value}" for name, value in self.inputs), self.where]]
            for whose, value, *whole in self.sides:
                # Translators: follows the first element that differs; whole: all elements, such as "[1, 2]"
                inside = [_("in {whole}", whole=text) for text in whole]
                parts[-1].append("   ".join([f"    {whose:8} {value}", *inside]))
            parts += [[self.drawn], [self.score]]
        parts += [[self.first]]
        parts += [[_("Your code printed:"), self.printed]] if self.printed else []
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
    place = sides.where(difference)
    if kind == "unsolved":
        lead = _("Not solved yet: your function still raises NotImplementedError.")
        if (name := difference.sides[0].at).isidentifier():
            lead = _("Not solved yet: {name}, which your function calls, still raises NotImplementedError.", name=name)
        return Feedback(title, UNSOLVED, lead)
    right = total - len(wrong)
    score = ngettext("{count} of {total} cases is right.", "{count} of {total} cases are right.", right, total=total)
    yours, expected = sides.both(difference)
    sentence = _SENTENCES.get("raised later" if kind == "raised" and not place else kind, "")
    ended = yours if yours.endswith(("?", ".", "!")) else f"{yours}."
    sentence = _(sentence, yours=ended) if sentence else ""
    hint = _hint(difference, _returns_none(check))
    note = sides.note(difference, case, seen, check.expected[wrong[0]])
    if kind == "judged":
        note = _of(title, note)
    if difference.pair and not note and kind != "graph":
        note = likeness(*difference.pair, case.inputs, check.expected[wrong[0]])
    others = _("Other cases are wrong in a different way.") if partly else ""
    known = _of(title, slip.says) if slip else ""
    if partly:
        name = _of(title, partly.name)
        known = " ".join([_("Likely slip in this case: {name}.", name=name), _of(title, partly.says)])
    lead = known or (note if kind in _NOTES_LEAD else "") or hint or sentence
    # Translators: place: a part of a value, such as "index [0] in returned[1]"
    line, raised = _("First difference at {place}.", place=place) if place else "", ""
    if kind in RAISED:
        said = sentence if lead != sentence else f"{yours}." if kind in ("shortcut", "torch") else ""
        # Translators: place: a line of code, such as "line 3: return x / 0"
        raised = " ".join(filter(None, (said, place and _("Raised at {place}.", place=place))))
        sentence = line = ""
    if kind == "value" and known:
        sentence = ""  # the slip says more
    return Feedback(
        title,
        WRONG,
        lead,
        slip.name if slip else "",
        at=raised,
        more=tuple(text for text in (sentence, hint, note, others) if text and text != lead),
        case=_case(title, case, wrong[0] + 1, total),
        inputs=_inputs(case),
        where=line,
        yours=yours,
        expected=expected,
        whole=sides.whole(difference),
        whose="" if kind in _SAID else sides.whose(difference),
        score=f"{score} {where_wrong(check.cases, wrong)}".strip() if total > 1 else "",
    )


def _of(title: str, text: str) -> str:
    """Return a text of the check with this title in the reader's language."""
    return of_chapter(title.split()[0], text)


def _case(title: str, case: Case, number: int, total: int) -> str:
    if case.says:
        return _("Case {number} of {total}: {says}.", number=number, total=total, says=_of(title, case.says))
    return _("Case {number} of {total}.", number=number, total=total)


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
        hint = _TENSOR_HINTS.get(kind_of(got), "") if tensor else ""
        return _(_GENERATOR if kind_of(got) == "generator" else hint)
    if kind == "left" and any(code.partition(":")[0] in ("requires_grad", "has_grad") for code in got):
        return _("Do not change a tensor that you were given: make your own leaf, such as x.detach().clone().")
    if kind == "graph" and got.grad_fn:
        return _("detach() gives the same values without the graph; so does computing them under torch.no_grad().")
    return ""


def _about_none(label: str, tensor: bool, none_is_right: bool) -> str:
    """Return a sentence on what could cause a None, or "" if None is a legitimate return value."""
    if _RETURNED.match(label):
        if none_is_right:
            return ""
        cause = _("Your function returned None: is the return statement missing?")
    elif _GRADIENT.search(label):
        return _("There is None where a gradient belongs: was the gradient cleared, never computed, or not returned?")
    else:
        cause = _("There is None where a value belongs: was it never computed, or not returned?")
    none = _("backward() itself returns None, and a non-leaf tensor's .grad is None too.") if tensor else ""
    return f"{cause} {none}".strip()


def _inputs(case: Case) -> tuple[tuple[str, str], ...]:
    texts = {name: show(value) for name, value in case.inputs.items.items() if value not in _EMPTY}
    return tuple((name, text if len(text) <= MOST else text[:MOST] + " …") for name, text in texts.items())


def success(check: CheckRecord) -> Feedback:
    """Return feedback on a pass: what the learner now owns, how many cases agree, and how many by raising an error."""
    errors = [observation.error.type for observation in check.expected if observation.error]
    count = len(check.expected)
    score = ngettext("{count} case agrees with torch.", "{count} cases agree with torch.", count)
    if errors:
        kinds = functools.reduce(lambda one, two: _("{one} or {two}", one=one, two=two), dict.fromkeys(errors))
        raised = {"count": count, "errors": len(errors), "kinds": kinds}
        score = _("{count} cases agree with torch, {errors} of them by raising {kinds} as torch does.", **raised)
    return Feedback(check.title, PASSED, _of(check.title, check.owns), owned=check.answer, score=score)


def interrupted(title: str, case: Case, number: int, total: int) -> Feedback:
    """Return feedback on a check that was interrupted in this case."""
    why = _("The check was interrupted here. Does a loop in your answer never end?")
    return Feedback(title, STOPPED, f"{_case(title, case, number, total)} {why}")


def not_run(title: str, name: str, why: str) -> Feedback:
    """Return feedback on an answer that needs a definition which differs from the notebook's, and why.

    why: "" if no cell defines the name anymore.
    """
    # Translators: why: a sentence that begins with "the cell that"
    lead = _("The {name} that ran last is not the one on this page: {why}", name=name, why=why)
    what_to_do = _("Correct that cell and run it, then run this one again.")
    if not why:
        lead = _("Only memory still holds the name {name}: no cell of the notebook defines it anymore.", name=name)
        what_to_do = _("Put its cell back, for example with Edit > Undo, and run it, then run this one again.")
    return Feedback(title, STALE, f"{lead} {what_to_do}")


def elsewhere(title: str, name: str) -> Feedback:
    """Return feedback on an answer that was last defined outside its own cell."""
    lead = _("Only the cell for your answer is graded, but {name} was last defined outside it.", name=name)
    what_to_do = _("Put your definition there and run that cell, then run this one again.")
    return Feedback(title, STALE, f"{lead} {what_to_do}")


def missing(title: str, name: str) -> Feedback:
    """Return feedback saying that the cell which defines `name` has not run."""
    lead = _(
        "{name} is not defined, because the cell that defines it has not run to its end since the kernel started.",
        name=name,
    )
    return Feedback(title, STOPPED, f"{lead} {run_above()}")


def run_above() -> str:
    """Return a sentence that says to run the cells above this one."""
    return _(
        "Run the cell that defines it, or choose Run All Above Selected Cell in the Run menu, then run this cell again."
    )
