"""Measure how close right answers come to a check's tolerance, on this processor and on those that it can imitate."""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gradlab.checks.compare import TOLERANCES
from gradlab.checks.observation import NUMERIC, Observation, Value, parts
from gradlab.checks.record import CheckRecord, Record
from gradlab.checks.verdict import judge_check

from .processors import PROCESSORS, available
from .reference import AuthoredCheck

ENOUGH = 10  # the smallest allowed ratio of the tolerance to a right answer's largest deviation
HERE = "here"  # this processor without imitation


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


def measure(checks: list[AuthoredCheck], words: list[str], seeds: range) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each check's id and its largest deviation, by kind of processor, from records made on this processor.

    words: the command-line words that select these checks.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made.json")
        records = {check.check_id: check.record(seeds, slips=False) for check in checks}
        made.write_text(Record("margins", records).to_json(), encoding="utf-8")
        by_processor = {HERE: against(checks, made)}
        for kind in available():
            command = [sys.executable, "-m", "authoring", "margins", "--against", str(made), *words]
            run = subprocess.run(command, env=os.environ | PROCESSORS[kind], stdout=subprocess.PIPE, check=True)
            by_processor[kind] = json.loads(run.stdout)
    for name in records:
        yield name, {kind: deviations[name] for kind, deviations in by_processor.items()}


def against(checks: Iterable[AuthoredCheck], made: Path) -> dict[str, float]:
    """Return, by check id, the largest deviation from the records in a file.

    The records may have been made on a different processor.
    """
    records = Record.from_json(made.read_bytes()).checks
    return {check.check_id: worst(check, records[check.check_id]) for check in checks}
