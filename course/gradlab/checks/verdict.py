"""The verdict on a check: what was observed against its record, and the known slip that it may be.

`judge_check` is the one place where a verdict is made, for a student's own run and for grading.
"""

from dataclasses import dataclass

from . import words
from .compact import expanded
from .compare import Difference, Judge, compare, is_observation
from .observation import decode
from .record import CheckRecord


@dataclass(frozen=True)
class Verdict:
    """What a check came to: passed or not, and the words for it.

    slip: the name of the known slip, if it was one. difference: the first one, where observations were compared.
    """

    passed: bool
    message: str
    slip: str = ""
    difference: Difference | None = None


def judge_check(check: CheckRecord, observations: list[dict], judge: Judge | None = None) -> Verdict:
    """Compare one observation per case with what is expected; the only place where a verdict is made.

    `observations` may come from a hostile process: what has not the form of an observation fails.
    """
    if len(observations) != len(check.cases):
        reason = f"{len(observations)} observations were seen for {len(check.cases)} cases."
        return Verdict(False, f"{check.title}: not passed.\n{reason}")
    if not all(is_observation(observation) for observation in observations):
        return Verdict(False, f"{check.title}: not passed.\nWhat was observed cannot be read.")
    found = [_difference(check, i, observation, judge) for i, observation in enumerate(observations)]
    wrong = [i for i, difference in enumerate(found) if difference]
    if not wrong:
        return Verdict(True, words.success(check.title, check.expected))
    slip = _known_slip(check, observations, wrong, judge)
    first, total = wrong[0], len(found)
    text = words.failure(check.title, check.cases[first], first + 1, total - len(wrong), total, found[first], slip)
    return Verdict(False, text, slip["name"] if slip else "", found[first])


def _difference(check: CheckRecord, index: int, observation: dict, judge: Judge | None) -> Difference | None:
    expected = check.expected[index]
    if judge is None or expected["error"] or observation["error"] or observation["mutated"] != expected["mutated"]:
        return compare(expected, observation, tuple(check.cases[index]["words"]))
    want, got = [[_judged(value) for value in side["values"]] for side in (expected, observation)]
    try:
        reason = judge(decode(check.cases[index]["inputs"]), got, want)
    except Exception as error:
        reason = f"It has not the form that was asked for ({type(error).__name__}: {error})."
    yours, right = (str(side[0] if len(side) == 1 else side)[:500] for side in (got, want))
    return Difference("judged", "", yours, f"{right} is one right answer", reason) if reason else None


def _judged(value):
    """Plain Python data for a judge: containers as lists, tensors as nested lists, what cannot be read as its name."""
    if isinstance(value, dict):
        if "tensor" in value or "ndarray" in value:
            return decode(
                {"tensor": value.get("tensor", value.get("ndarray")), **{k: value[k] for k in ("dtype", "shape")}}
            ).tolist()
        ((kind, content),) = value.items()
        if kind == "dict":
            return {key: _judged(item) for key, item in content.items()}
        return [_judged(item) for item in content] if isinstance(content, list) else content
    return value


def _known_slip(check: CheckRecord, observations: list[dict], wrong: list[int], judge: Judge | None) -> dict | None:
    """The slip that gives just these observations, or, if it is the only one, just these where they are `wrong`.

    The second counts only where more than half of the slip's own wrong cases are among them: of the known slips, each
    taken for an unknown answer, some would be named as another one without that, and none is with it.
    """
    close = []
    for slip in check.slips:
        made = [expanded(short, whole) for short, whole in zip(slip["observations"], check.expected, strict=True)]
        same = [compare(one, seen) is None for one, seen in zip(made, observations, strict=True)]
        if all(same):
            return slip
        if all(same[i] for i in wrong):
            its_wrong = sum(_difference(check, i, one, judge) is not None for i, one in enumerate(made))
            close += [slip] if 2 * len(wrong) > its_wrong else []
    return close[0] if len(close) == 1 else None
