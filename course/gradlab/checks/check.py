"""The check at the end of each exercise, and the summary at the end of each chapter."""

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
from IPython import get_ipython
from IPython.display import display

from .. import notebook
from ..pictures.diff import difference_picture
from . import shortcuts, words
from .compare import Difference, Judge
from .memory import read, remember
from .observe import Scenario, call, observe
from .record import CheckRecord, RecordError, digest, load_beside
from .verdict import Verdict, judge_check

OBSERVATION_MIME = "application/vnd.gradlab.observation+json"

# Where chapters are written: what makes the record of a check from its reference cell, None if there is no such cell
authored: Callable[["Check"], CheckRecord | None] | None = None
_stands: dict[str, bool] = {}  # by name: whether the check passed when it ran last


class CheckFailed(AssertionError):
    """A check did not pass; the message is written for the learner, and is all that a notebook shows of it."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Check:
    """A check as its cell states it: the arguments of `check`."""

    name: str
    answer: Callable
    scenario: Scenario = call
    judge: Judge | None = None
    autograd: bool = True

    @property
    def check_id(self) -> str:
        """The first word of the name."""
        return self.name.split()[0]

    def digest(self) -> str:
        """The fingerprint by which a record knows its check."""
        return digest(self.name, self.scenario, self.judge, self.autograd)


def check(
    name: str, answer: Callable, scenario: Scenario = call, *, judge: Judge | None = None, autograd: bool = True
) -> None:
    """Try `answer` on every case of this check and say what came of it.

    name: the check's id, then its title in words: "02.1 the gradient that arrives at x".
    scenario(answer, case): what is done with the answer; a plain call with the case's values by default. What it
    returns is compared, or each value that it yields.
    judge(case, observed, expected): decides where several answers are right; returns None, or why not.
    autograd: False where torch's autograd would be a shortcut around the exercise.

    Raises CheckFailed, whose text explains the first difference, and RecordError where the check cannot be made. In
    grading, where the record holds cases but nothing that is expected, it only shows what it observed.
    """
    stated = Check(name, answer, scenario, judge, autograd)
    check_id, record = stated.check_id, _find(stated)
    cases = [case.inputs for case in record.cases]
    if not record.expected:
        for number, case in enumerate(cases):
            data = {
                "check": check_id,
                "case": number,
                "observation": msgspec.to_builtins(observe(answer, scenario, case, autograd)),
            }
            display({OBSERVATION_MIME: data}, raw=True)
        return
    _stands[name] = False
    lines = [] if autograd else shortcuts.find(record.answer, _cells_so_far())
    if lines:
        raise CheckFailed(words.shortcut_in_source(name, lines))
    with _each_warning_once():
        observations = [observe(answer, scenario, case, autograd) for case in cases]
    verdict = judge_check(record, observations, judge)
    _stands[name] = verdict.passed
    _remember(check_id, verdict)
    if not verdict.passed:
        _show(verdict.difference)
        raise CheckFailed(verdict.message)
    print(verdict.message)


def _remember(check_id: str, verdict: Verdict) -> None:
    """Note for `gradlab.progress` what a student has passed or tried; an author's runs leave no trace."""
    if authored is None and (verdict.difference is None or verdict.difference.kind != "unsolved"):
        remember(check_id, "passed" if verdict.passed else "tried")


def _show(difference: Difference | None) -> None:
    """Show arrays that differ as a picture above the words."""
    if difference is not None and difference.arrays and get_ipython() is not None:
        yours, expected, wrong = difference.arrays
        display(difference_picture(yours, expected, "torch's", wrong))


@contextlib.contextmanager
def _each_warning_once() -> Iterator[None]:
    """Show a warning once for all cases, and without the path of a cell, which changes from run to run."""
    with warnings.catch_warnings(record=True) as caught:
        yield
    for text in dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught):
        print(text, file=sys.stderr)


def _find(stated: Check) -> CheckRecord:
    """The record of a check: made on the spot in the solved notebook, read from beside the student's."""
    check_id = stated.check_id
    made = authored and authored(stated)
    if made:
        return made
    checks = load_beside(notebook.FOLDER)
    if check_id not in checks:
        raise RecordError(f"The record beside this notebook knows no check {check_id}. It knows: {', '.join(checks)}.")
    if checks[check_id].digest != stated.digest():
        raise RecordError(
            f"The check cell of {check_id} is not the one that the record beside this notebook was made for. "
            "If you changed the cell, take it from the released chapter again; if the chapter has a newer edition, "
            "take its notebook and its record together."
        )
    return checks[check_id]


def _cells_so_far() -> list[str]:
    shell = get_ipython()
    return list(shell.user_ns.get("In", [])) if shell is not None else []


def passed(check_id: str) -> bool:
    """Tell whether a check passed when it ran last, in this kernel or before it."""
    now = [stood for name, stood in _stands.items() if name.split()[0] == check_id]
    return now[-1] if now else read().get(check_id) == "passed"


def summary() -> None:
    """Print which exercises of this chapter stand, as far as their checks ran since the kernel started."""
    names = list(_stands) if authored else [record.title for record in load_beside(notebook.FOLDER).values()]
    states = {True: "passed", False: "not yet", None: "check not run"}
    for name in names:
        print(f"{name} {'.' * max(3, 68 - len(name))} {states[_stands.get(name)]}")
    print(f"{sum(_stands.get(name, False) for name in names)} of {len(names)} checks passed.")
