"""The API of reference cells: the reference answer, its cases, known slips and other right answers.

Only the solved edition contains reference cells. Students get just the records made from them.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np
import torch
from msgspec.structs import replace

from gradlab.checks.check import Check
from gradlab.checks.encoding import encode
from gradlab.checks.observation import Dict, Observation, replace_numbers
from gradlab.checks.observe import observe
from gradlab.checks.record import Case, CheckRecord, Slip
from gradlab.checks.results import memory

STUDENT_SEEDS = (1, 2)


@dataclass(frozen=True)
class Reference:
    """The right answer to an exercise, its cases and its known slips.

    cases(rng): yields dicts of plain values; NumPy arrays reach the scenario as tensors of their dtype, or unchanged in
    a check without torch. "says" describes the case. If the case ends in an error, "words" lists what its message must
    contain; without it, the whole message must match.
    answer: torch itself wherever torch has the function. slips: functions whose names and docstrings the learner reads.
    others: other right answers. The scenario calls these functions as it calls the learner's answer.
    mutants: why a mutant is right to pass, by its description in the output of `validate`.
    owns: one sentence for a learner who passes: what their function can do now.
    """

    cases: Callable[[np.random.Generator], Iterator[dict]]
    answer: Callable
    slips: list[Callable] = field(default_factory=list)
    others: list[Callable] = field(default_factory=list)
    mutants: dict[str, str] = field(default_factory=dict)
    owns: str = ""


references: dict[str, Reference] = {}


def reference(check_id: str) -> Callable[[Callable[[], Reference]], Callable]:
    """Register the Reference that the decorated function returns, under the id of its check."""

    def register(make: Callable[[], Reference]) -> Callable:
        references[check_id] = make()
        return make

    return register


@dataclass(frozen=True)
class on_torch:
    """A reference answer that is torch's own, for a scenario that makes tensors of the learner's engine.

    Such a scenario makes them with its third parameter, `tensor=Tensor`: `tensor(array)`, or with `requires_grad=True`.
    For the reference, it runs with torch's tensors, so the same program in torch gives the expected results.
    """

    answer: Callable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.answer(*args, **kwargs)

    @staticmethod
    def tensor(data: Any, requires_grad: bool = False) -> torch.Tensor:
        """Return a torch tensor with a copy of the array."""
        return torch.tensor(np.array(data), requires_grad=requires_grad)


def numbers(rng: np.random.Generator, shape: tuple[int, ...] = (), low: float = 0.3, high: float = 2.0) -> np.ndarray:
    """Draw float64 numbers of either sign that are easy to read and hard to confuse.

    Magnitudes lie in [low, high], have two decimals and are all different, so no number is near zero and no two tie.
    Raises ValueError if the interval has too few such numbers.
    """
    count = int(np.prod(shape, dtype=int))
    grid = np.arange(round(low * 100), round(high * 100) + 1) / 100
    if count > len(grid):
        raise ValueError(f"{count} different numbers were requested; between {low} and {high} there are {len(grid)}")
    magnitudes = rng.choice(grid, size=count, replace=False)
    return (magnitudes * rng.choice([-1.0, 1.0], size=count)).reshape(shape)


def encode_case(case: dict[str, Any], torch_too: bool = True) -> Case:
    """Return an author's case as plain data; arrays become tensors unless `torch_too` is false."""

    def tensors(value):
        if isinstance(value, np.ndarray) and torch_too:
            return torch.from_numpy(value.copy())
        if isinstance(value, list | tuple):
            return type(value)(tensors(item) for item in value)
        return {key: tensors(item) for key, item in value.items()} if isinstance(value, dict) else value

    inputs = {name: tensors(value) for name, value in case.items() if name not in ("says", "words")}
    encoded = encode(inputs)
    assert isinstance(encoded, Dict)
    return Case(encoded, case.get("says", ""), list(case.get("words", [])))


@dataclass(frozen=True, kw_only=True)
class AuthoredCheck(Check):
    """A check as its cells define it: the arguments in the check cell, and its Reference."""

    reference: Reference
    cell: str = ""  # the grade_id of its cell
    answer_name: str = ""  # the answer's name in the cell

    @classmethod
    def of(cls, stated: Check) -> "AuthoredCheck":
        """Combine a check with its Reference; raises KeyError if there is none."""
        return cls(**vars(stated), reference=references[stated.check_id])

    def record(self, seeds: Iterable[int] = STUDENT_SEEDS, slips: bool = True) -> CheckRecord:
        """Return the record of the cases drawn for `seeds`, observed on the reference and, with `slips`, the slips."""
        rngs = [np.random.default_rng([seed, crc32(self.check_id.encode())]) for seed in seeds]
        cases = [encode_case(case, self.torch) for rng in rngs for case in self.reference.cases(rng)]
        right: Callable = self.reference.answer
        scenario: Callable = self.scenario
        if isinstance(right, on_torch):
            scenario = functools.partial(scenario, tensor=right.tensor)
        expected = [_for_record(observe(right, scenario, case.inputs)) for case in cases]
        return CheckRecord(
            title=self.name,
            digest=self.digest(),
            cases=cases,
            cell=self.cell,
            autograd=self.autograd,
            answer=self.answer_name or getattr(self.answer, "__name__", ""),
            expected=expected,
            slips=[
                Slip.of(slip_name(slip), slip_says(slip), list(map(_for_record, self.observe(slip, cases))), expected)
                for slip in self.reference.slips
                if slips
            ],
            owns=self.reference.owns,
        )

    def observe(self, answer: Callable, cases: list[Case]) -> list[Observation]:
        """Return what this check observes of `answer`, one observation per case."""
        return [self.observe_case(case.inputs, answer) for case in cases]


def _for_record(seen: Observation) -> Observation:
    """Return `seen` with 12 digits per number and no failing line, because a record must not quote the reference."""

    def shorten(number):
        return float(f"{number:.12g}") if type(number) is float else number

    values = [replace_numbers(value, shorten) for value in seen.values]
    error = seen.error and replace(seen.error, at="", meant="", line=0)
    return replace(seen, values=values, error=error)


def slip_name(slip: Callable) -> str:
    """Return a slip's function name in words."""
    return slip.__name__.replace("_", " ")


def slip_says(slip: Callable) -> str:
    """Return a slip's docstring on one line; raises ValueError if it has none."""
    if not slip.__doc__:
        raise ValueError(f"The slip {slip.__name__!r} has no docstring: write the sentence that helps the learner.")
    return " ".join(slip.__doc__.split())


memory.authored = lambda stated: AuthoredCheck.of(stated).record() if stated.check_id in references else None
