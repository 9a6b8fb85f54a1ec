"""The verdict on a check: what was observed against its record, and the known slip that it may be.

`judge_check` is the one place where a verdict is made, for a student's own run and for grading.
"""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from . import words
from .compare import Difference, Judge, alike_labelled, compare
from .observation import Observation, read_observation, tensors
from .plain import as_python
from .record import Case, CheckRecord, Slip

LONGEST = 500  # characters of a judged value that are shown


@dataclass(frozen=True)
class Verdict:
    """What a check came to: passed or not, and the words for it.

    slip: the name of the known slip, if it was one. difference: the first one, where observations were compared, and
    wrong: the number of its case. told: what `message` says, part by part.
    """

    passed: bool
    message: str
    slip: str = ""
    difference: Difference | None = None
    wrong: int | None = None
    told: words.Told | None = None

    @classmethod
    def of(cls, told: words.Told, difference: Difference | None = None, wrong: int | None = None) -> "Verdict":
        """The verdict that is told so."""
        return cls(told.state == words.PASSED, told.text, told.name, difference, wrong, told)


def judge_check(check: CheckRecord, seen: list[Any], judge: Judge | None = None) -> Verdict:
    """Compare one observation per case with what is expected; the only place where a verdict is made.

    `seen` may come as plain data from a hostile process: what has not the form of an observation fails, and nothing in
    it can make this raise.
    """
    if len(seen) != len(check.cases):
        return _refused(check, f"{len(seen)} observations were seen for {len(check.cases)} cases.")
    observations = [one if isinstance(one, Observation) else read_observation(one) for one in seen]
    if None in observations:
        return _refused(check, "What was observed cannot be read.")
    found = [_difference(check, i, observation, judge) for i, observation in enumerate(observations)]
    wrong = [i for i, difference in enumerate(found) if difference]
    if not wrong:
        return Verdict.of(words.success(check))
    slip = _known_slip(check, observations, wrong, judge)
    first = wrong[0]
    told = words.failure(check, first, len(found) - len(wrong), found[first], slip)
    return Verdict.of(told, found[first], first)


def _refused(check: CheckRecord, reason: str) -> Verdict:
    return Verdict(False, f"{check.title}: not passed.\n{reason}")


def _difference(check: CheckRecord, index: int, observed: Observation, judge: Judge | None) -> Difference | None:
    case, expected = check.cases[index], check.expected[index]
    if judge is None or expected.error or observed.error:
        return compare(expected, observed, tuple(case.words))
    if _traces(observed) != _traces(expected):  # other values may be right as well
        return compare(replace(expected, values=observed.values), observed)
    came = alike_labelled(expected.values, observed.values)
    if max(len(expected.values), len(observed.values)) > came:  # something else happened than a judge can read
        return compare(expected, replace(observed, values=expected.values[:came] + observed.values[came:]))
    from .encoding import decode  # which brings torch: most checks have no judge of their own

    want, got = ([as_python(value) for value in side.values] for side in (expected, observed))
    try:
        reason = judge(decode(case.inputs), got, want)
    except Exception as error:  # the judge reads what came back as it should be, and it need not be
        reason = f"It has not the form that was asked for ({type(error).__name__}: {error})."
    yours, right = (str(side[0] if len(side) == 1 else side)[:LONGEST] for side in (got, want))
    return Difference("judged", "", yours, f"{right} is one right answer", reason) if reason else None


def _traces(observed: Observation) -> tuple[list[str], list[str]]:
    return sorted(observed.mutated), sorted(observed.left)


def _alike(one: Observation, other: Observation, case: Case) -> bool:
    """Tell whether two answers were seen to do the same; who kept a graph is not who did not."""
    graphs = [[leaf.grad_fn is None for value in side.values for leaf in tensors(value)] for side in (one, other)]
    deep = one.error and other.error and one.error.type == "RecursionError"  # its message says which call was too deep
    same = any(compare(one, other, words) is None for words in {(), tuple(case.words), ("",) if deep else ()})
    return same and graphs[0] == graphs[1]


def _known_slip(check: CheckRecord, seen: list[Observation], wrong: list[int], judge: Judge | None) -> Slip | None:
    """The slip that gives just these observations, or, if it is the only one, just these where they are `wrong`.

    The second counts only where more than half of the slip's own wrong cases are among them: of the known slips, each
    taken for an unknown answer, some would be named as another one without that, and none is with it.
    """
    close = []
    for slip in check.slips:
        made = slip.observations(check.expected)
        if all(_alike(made[i], seen[i], check.cases[i]) for i in wrong):
            if all(_alike(made[i], seen[i], check.cases[i]) for i in range(len(seen)) if i not in wrong):
                return slip
            its_wrong = sum(_difference(check, i, one, judge) is not None for i, one in enumerate(made))
            close += [slip] if 2 * len(wrong) > its_wrong else []
    return close[0] if len(close) == 1 else None
