"""Measure how close right answers come to a check's tolerance, on the processor that runs this."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from gradlab.checks.observation import NUMERIC, Observation, Value, parts
from gradlab.checks.plain import TOLERANCES
from gradlab.checks.record import CheckRecord
from gradlab.checks.verdict import judge_check

from .reference import AuthoredCheck

ENOUGH = 10  # the smallest allowed ratio of the tolerance to a right answer's largest deviation


def deviation(expected: Observation, observed: Observation) -> float:
    """Return the largest |observed − expected|, in units of the tolerance, over all floats of two observations."""
    return max((_apart(*pair) for pair in zip(expected.values, observed.values, strict=True)), default=0.0)


def _apart(want: Value, got: Any) -> float:
    if isinstance(want, NUMERIC):
        tolerance = TOLERANCES.get(want.dtype)
        pairs = zip(want.values, got.values, strict=True) if tolerance else ()
        return max((_units(tolerance, *pair) for pair in pairs), default=0.0)
    if type(want) is float:
        return _units(TOLERANCES["float64"], want, got)
    there = parts(got)  # a judge may accept an answer that shows less
    return max((_apart(part, there[key]) for key, part in parts(want).items() if key in there), default=0.0)


def _units(tolerance, want: float | str, got: float | str) -> float:
    if isinstance(want, str) or isinstance(got, str):  # nan or inf
        return 0.0
    return abs(got - want) / (tolerance.atol + tolerance.rtol * abs(want))


def worst(check: AuthoredCheck, record: CheckRecord) -> float:
    """Return the largest deviation of right answers from a record; infinity if an answer is rejected."""
    largest = 0.0
    for answer in [check.answer, *check.reference.others]:
        seen = check.observe(answer, record.cases)
        if not judge_check(record, seen, check.judge).passed:
            return math.inf
        if check.judge is None or answer is check.answer:
            largest = max([largest, *map(deviation, record.expected, seen)])
    return largest


def measure(checks: Iterable[AuthoredCheck], seeds: range) -> Iterator[tuple[str, float]]:
    """Yield each check's id and its right answers' largest deviation."""
    for check in checks:
        yield check.check_id, worst(check, check.record(seeds, slips=False))
