"""Show that each check can fail: slips are rejected and named, right answers pass, no constant passes."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace
from tqdm import tqdm

from gradlab.checks.observation import NUMERIC, Observation, Value, parts, replace_numbers
from gradlab.checks.plain import TOLERANCES
from gradlab.checks.record import CheckRecord
from gradlab.checks.verdict import judge_check

from .mutants import surviving
from .reference import AuthoredCheck, slip_name

FARTHEST = 0.1  # of the tolerance: right answers vary less, on any processor


@dataclass
class Tally:
    """The counts of the answers tested on one check, as the table has them, and what is wrong with it.

    counts: "tried" slips on all seeds, how many were "rejected" and "named"; "right" answers and how many were
    "accepted"; "constants" and how many were "caught"; and so on. apart: the largest deviation of a right answer, in
    units of the tolerance. found: the seeds that show a fault, and what each shows, by the fault's first line.
    """

    check_id: str
    counts: Counter[str] = field(default_factory=Counter)
    apart: float = 0.0
    unexplained: list[str] = field(default_factory=list)
    found: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def fault(self, seed: int, text: str) -> None:
        """Note a fault that `seed` shows."""
        self.found.setdefault(text.partition("\n")[0], []).append((seed, text))

    @property
    def faults(self) -> list[str]:
        """The faults, one sentence each: the first seed that shows it, how many others do, and what it shows."""
        return [
            f"{self.check_id}, seed {shown[0][0]}{f' and {len(shown) - 1} more' * (len(shown) > 1)}: {shown[0][1]}"
            for shown in self.found.values()
        ]

    def row(self) -> str:
        """Return the counts as a line of the table that begins with `HEADING`."""
        n, unexplained = self.counts, len(self.unexplained)
        return (
            f"{self.check_id:14} {n['slips']:5} {n['rejected']:7}/{n['tried']:<5} {n['named']:7}/{n['tried']:<5}"
            f" {n['others']:12} {n['accepted']:7}/{n['right']:<6} {self.apart:8.1e} {n['caught']:8}/{n['constants']:<6}"
            f" {n['mutants'] - n['explained'] - unexplained:7}/{n['mutants']:<5} {n['explained']:9} {unexplained:11}"
        )


HEADING = (
    f"{'exercise':14} {'slips':>5} {'rejected':>13} {'named':>13} {'other right':>12} {'accepted':>14} {'apart':>8}"
    f" {'constants':>15} {'mutants':>13} {'explained':>9} {'unexplained':>11}"
)


def total(tallies: list[Tally]) -> Tally:
    """Return the sums over all exercises, for the last line of the table."""
    counts = sum((tally.counts for tally in tallies), Counter())
    apart = max((tally.apart for tally in tallies), default=0.0)
    unexplained = [mutant for tally in tallies for mutant in tally.unexplained]
    return Tally(f"{len(tallies)} exercise{'s' if len(tallies) != 1 else ''}", counts, apart, unexplained)


def validate(check: AuthoredCheck, seeds: range, other_seeds: range) -> Tally:
    """Try every slip and constant on `seeds`, and the solution and other right answers on `other_seeds` too."""
    tally = Tally(check.check_id)
    tally.counts.update(slips=len(check.reference.slips), others=len(check.reference.others))
    every = sorted({*seeds, *other_seeds})
    for seed in tqdm(every, check.check_id, leave=False, ncols=72, unit="seed", disable=None):  # on a terminal only
        record = check.record([seed], slips=seed in seeds)
        for other in [check.answer, *check.reference.others]:
            seen = check.observe(other, record.cases)
            verdict = judge_check(record, seen, check.judge)
            tally.counts["right"] += 1
            tally.counts["accepted"] += verdict.passed
            if not verdict.passed:
                tally.fault(seed, f"the right answer {other.__name__} is rejected:\n{verdict.feedback.text}")
            elif check.judge is None or other is check.answer:
                for expected, observed in zip(record.expected, seen, strict=True):
                    tally.apart = max([tally.apart, *map(_apart, expected.values, observed.values)])
        if seed in seeds:
            _try_slips(check, record, seed, tally)
            _try_constants(check, record, seed, tally)
    if tally.apart > FARTHEST:
        tally.fault(every[0], f"a right answer is {tally.apart:.1e} tolerances from the expected one")
    return tally


def try_mutants(check: AuthoredCheck, seeds: range, tally: Tally) -> None:
    """Try mutants of the right answers, and list in `tally` those that pass without a reason in the Reference."""
    tally.counts["mutants"], passing = surviving(check, seeds)
    reasons = check.reference.mutants
    tally.counts["explained"] = sum(says in reasons for says in passing)
    tally.unexplained = [f"{check.check_id}: {says}" for says in passing if says not in reasons]
    for says in reasons.keys() - set(passing):
        tally.fault(seeds[0], f"there is a reason for the mutant {says!r}, which does not pass")


def _apart(want: Value, got: Any) -> float:
    """Return the largest |got − want|, in units of the tolerance, over all floats of two values."""
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


def _try_slips(check: AuthoredCheck, record: CheckRecord, seed: int, tally: Tally) -> None:
    for slip in check.reference.slips:
        seen = check.observe(slip, record.cases)
        verdict = judge_check(record, seen, check.judge)
        tally.counts["tried"] += 1
        tally.counts["rejected"] += not verdict.passed
        tally.counts["named"] += verdict.slip == slip_name(slip)
        if verdict.passed:
            tally.fault(seed, f"the slip {slip_name(slip)!r} passes")
        elif verdict.slip != slip_name(slip):
            tally.fault(seed, f"the slip {slip_name(slip)!r} is named {verdict.slip or 'nothing'!r}")
        others = [known for known in record.slips if known.name != slip_name(slip)]
        unknown = judge_check(replace(record, slips=others), seen, check.judge)
        if unknown.slip:
            tally.fault(seed, f"an answer like the slip {slip_name(slip)!r} would be named {unknown.slip!r}")


def _try_constants(check: AuthoredCheck, record: CheckRecord, seed: int, tally: Tally) -> None:
    for label, observations in constants(check, record):
        passed = judge_check(record, observations, check.judge).passed
        tally.counts["constants"] += 1
        tally.counts["caught"] += not passed
        if passed:
            tally.fault(seed, f"an answer that cannot be right passes: {label}")


def constants(check: AuthoredCheck, record: CheckRecord) -> Iterator[tuple[str, list[Observation]]]:
    """Yield the name and observations of each answer that ignores the exercise: every check must reject it."""

    def tried(answer: Callable) -> list[Observation]:
        return check.observe(answer, record.cases)

    def raising(kind: type[Exception], message: str = "") -> Callable:
        def answer(*args, **kwargs):
            raise kind(message)

        return answer

    yield "the stub", tried(raising(NotImplementedError))
    yield "always None", tried(lambda *args, **kwargs: None)
    for position in range(6):
        yield (
            f"argument {position} handed back",
            tried(lambda *args, position=position, **kwargs: [*args, *kwargs.values(), *[None] * 6][position]),
        )
    errors = {observation.error.type: observation.error for observation in record.expected if observation.error}
    kinds = {"RuntimeError": RuntimeError, "ValueError": ValueError, "TypeError": TypeError}
    for kind, error in errors.items():
        yield f"always {kind}", tried(raising(kinds.get(kind, Exception), error.message))
    plain = [observation for observation in record.expected if not observation.error]
    for number in (0, 1):
        filled = [_filled(observation, number) for observation in record.expected]
        if filled != record.expected:  # it contains numbers
            yield f"always {number}", filled
    for label, first in (("the first case's answer", plain[0]), ("the last case's answer", plain[-1])):
        yield label, [observation if observation.error else first for observation in record.expected]


def _filled(observation: Observation, number: int) -> Observation:
    """Return the observation with every number in every value replaced by `number`, keeping its type."""
    values = [replace_numbers(value, lambda old: type(old)(number)) for value in observation.values]
    return replace(observation, values=values)
