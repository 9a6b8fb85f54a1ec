"""Judge a check: compare the observations with its record, and recognize known slips.

Only `judge_check` judges observations, both in a student's own run and in grading.
"""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from ..words import _
from .compare import RAISED, Difference, Judge, alike_labelled, compare
from .encoding import decode
from .messages import PASSED, REFUSED, Feedback, failure, success
from .observation import Observation, read_observation, tensors
from .plain import as_python
from .record import Case, CheckRecord, Slip


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    difference: the first one, if observations were compared; wrong: its case's index.
    """

    feedback: Feedback
    difference: Difference | None = None
    wrong: int | None = None

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
        return self.feedback.state == PASSED

    @property
    def slip(self) -> str:
        """The name of the known slip, or ""."""
        return self.feedback.name


def judge_check(check: CheckRecord, seen: list[Any], judge: Judge | None = None) -> Verdict:
    """Compare one observation per case with the expected ones, and return the verdict.

    `seen` may be plain data from a hostile process: anything that is not an observation fails, and no data can make
    this function raise.
    """
    if len(seen) != len(check.cases):
        why = _("There are {seen} observations for {cases} cases.", seen=len(seen), cases=len(check.cases))
        return _refused(check, why)
    read = [item if isinstance(item, Observation) else read_observation(item) for item in seen]
    observations = [observation for observation in read if observation is not None]
    if len(observations) < len(read):
        return _refused(check, _("The observations cannot be read."))
    differences = {i: _difference(check, i, observation, judge) for i, observation in enumerate(observations)}
    wrong = {i: difference for i, difference in differences.items() if difference}
    if not wrong:
        return Verdict(success(check))
    slip, partly = _known_slip(check, observations, wrong, judge)
    first, difference = next(iter(wrong.items()))
    return Verdict(failure(check, list(wrong), observations[first], difference, slip, partly), difference, first)


def _refused(check: CheckRecord, reason: str) -> Verdict:
    return Verdict(Feedback(check.title, REFUSED, reason))


def _difference(check: CheckRecord, index: int, observed: Observation, judge: Judge | None) -> Difference | None:
    case, expected = check.cases[index], check.expected[index]
    if judge is None or expected.error or observed.error:
        return compare(expected, observed, tuple(case.words))
    if _traces(observed) != _traces(expected):  # different values may be right, too
        return compare(replace(expected, values=observed.values), observed)
    came = alike_labelled(expected.values, observed.values)
    if max(len(expected.values), len(observed.values)) > came:  # the events differ, so a judge cannot read them
        return compare(expected, replace(observed, values=expected.values[:came] + observed.values[came:]))
    want, got = ([as_python(value) for value in side.values] for side in (expected, observed))
    try:
        kind, reason = "judged", judge(decode(case.inputs), got, want)
    except Exception as error:  # the judge expects the right form, but the values may have any form
        kind, reason = "form", f"{type(error).__name__}: {error}"
    return Difference(kind, (got, want), reason=reason) if reason else None


def _traces(observed: Observation) -> tuple[list[str], list[str]]:
    return sorted(observed.mutated), sorted(observed.left)


def _alike(made: Observation, seen: Observation, case: Case) -> bool:
    """Return whether two observations of a case agree; tensors with and without a graph count as different."""
    graphs = [[leaf.grad_fn is None for value in side.values for leaf in tensors(value)] for side in (made, seen)]
    deep = made.error and seen.error and made.error.type == "RecursionError"  # its message depends on the stack depth
    same = any(compare(made, seen, words) is None for words in {(), tuple(case.words), ("",) if deep else ()})
    return same and graphs[0] == graphs[1]


def _known_slip(
    check: CheckRecord, seen: list[Observation], wrong: dict[int, Difference], judge: Judge | None
) -> tuple[Slip | None, Slip | None]:
    """Return the slip that matches `seen` in all cases, else the only one, if any, that explains the `wrong` cases.

    A slip explains them if its observations match there, and they are more than half of its own wrong cases. An error
    alone explains nothing, because many faults end in the same error of torch. Without these rules, some slips, treated
    as unknown answers, would be named as different slips; with them, none is.

    Without such a slip, the second value is the first one that explains the first wrong case but not all: the answer
    has two mistakes.
    """
    first, difference = next(iter(wrong.items()))
    telling = any(difference.kind not in RAISED for difference in wrong.values())
    pair = difference.pair
    numbers = pair is not None and not isinstance(pair[1], str | bool)  # texts and errors agree by chance
    close: list[Slip] = []
    partly: list[Slip] = []
    for slip in check.slips:
        made = slip.observations(check.expected)
        if not _alike(made[first], seen[first], check.cases[first]):
            continue
        alike = [_alike(observation, seen[i], check.cases[i]) for i, observation in enumerate(made)]
        if all(alike):
            return slip, None
        if telling and all(alike[i] for i in wrong):
            its_wrong = sum(_difference(check, i, observation, judge) is not None for i, observation in enumerate(made))
            close += [slip] if 2 * len(wrong) > its_wrong else []
        elif numbers:
            partly.append(slip)
    return close[0] if len(close) == 1 else None, partly[0] if partly and not close else None
