"""The check at the end of each exercise."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec
from IPython.display import display

from .. import notebook
from ..pictures.picture import Picture
from ..returned import is_answer
from ..words import _
from . import messages
from .card import show
from .cells import Chapter
from .compare import Judge
from .encoding import TooLarge, decode
from .folds import fitting
from .given import as_released, given, in_place_of_yours
from .held_back import held_back
from .known_state import known_state
from .messages import Feedback
from .missing import CheckFailed, running
from .observation import MAX_BYTES, OBSERVATION_MIME, Dict, Observation
from .observe import Scenario, call, observe
from .plain import as_python
from .reached import defined
from .record import CheckRecord, RecordError, digest
from .results import memory, read, remember, remember_answer
from .reward import show_next, show_payoff
from .stale_cells import watched
from .summary import update
from .verdict import Verdict, judge_check

CasePicture = Callable[[dict, list, list], Picture | None]


@dataclass(frozen=True)
class Check:
    """A check as its cell states it: the arguments of `check`."""

    name: str
    answer: Callable
    scenario: Scenario = call
    judge: Judge | None = None
    autograd: bool = True
    torch: bool = True
    picture: CasePicture | None = None

    @property
    def check_id(self) -> str:
        """The first word of the name."""
        return self.name.split()[0]

    def observe_case(self, case: Dict, answer: Callable | None = None) -> Observation:
        """Observe `answer`, by default the checked one, on one case."""
        return observe(answer or self.answer, self.scenario, case, self.autograd, self.torch)

    def as_released(self, text: str) -> "Check":
        """Return this check with the names at release, which `text` defines, in its own functions; see `given`."""
        own = ("scenario", "judge", "picture")
        return replace(self, **{name: as_released(getattr(self, name), text) for name in own})

    def digest(self, words: bool = False) -> str:
        """Return the fingerprint that ties this check to its record; words: to a record made earlier."""
        return digest(self.name, self.scenario, self.judge, self.autograd, self.torch, words)


def check(
    name: str,
    answer: Callable,
    scenario: Scenario = call,
    *,
    judge: Judge | None = None,
    autograd: bool = True,
    torch: bool = True,
    picture: CasePicture | None = None,
) -> None:
    """Run `answer` on every case of this check and show the result.

    name: the check's id, then its title: "02.1 the gradient that arrives at x".
    scenario(answer, case): how to use the answer; by default it calls the answer with the case's values. The check
    compares what the scenario returns, or each value that it yields.
    judge(case, observed, expected): needed if several answers are right; returns None, or why the answer is wrong.
    autograd: False if torch's autograd would be a shortcut around the exercise.
    torch: False if the learner's own engine replaces torch; the cases' values are then arrays.
    picture(case, observed, expected): draws a wrong case; it takes the same arguments as `judge` and does not affect
    the verdict.

    Raises CheckFailed, whose text explains the first difference, and RecordError if there is no usable record. In
    grading, where the record has cases but no expected results, it only shows what it observed.
    """
    stated = Check(name, answer, scenario, judge, autograd, torch, picture)
    chapter, session = Chapter(notebook.FOLDER), watched()
    if session is not None:
        session.give_back(scenario, judge, picture)
    try:
        record = _find(stated, chapter)
    except RecordError as error:
        show(Feedback(name, messages.STOPPED, str(error)))
        raise
    function = answer if scenario is call else scenario
    if not record.expected:
        with in_place_of_yours(function, record.given, record.finished, answer):
            _show_observations(stated.as_released(record.given), record)
        return
    text = given_here(chapter)
    with held_back() as printed, in_place_of_yours(function, text, answer=answer):
        verdict, drawn = _verdict(stated.as_released(text), record, chapter)
    ran_first = session is not None and session.ran_first
    first = _("Cells that this check needs had not run as they stand now, so they ran first.") if ran_first else ""
    feedback = replace(verdict.feedback, printed=printed.text, first=first)
    if feedback.state != messages.STOPPED:
        memory.stands[name] = verdict.passed
        _remember(stated, record.answer, verdict)
    show(feedback, drawn, "" if memory.authored else fitting(name, verdict, chapter, record.cell))
    if verdict.passed and session and session.alone:
        show_payoff(record.cell, session.page or [], session.namespace)
        show_next(stated.check_id, chapter)
    printed.show_displayed()
    update(chapter)
    if not verdict.passed:
        raise CheckFailed(feedback.text)


def _show_observations(stated: Check, record: CheckRecord) -> None:
    """Display what this check observes of the answer, one observation per case, for grading.

    One message contains all of them, because a message costs the grader as much time as a case. Raises TooLarge past
    MAX_BYTES.
    """
    seen = [stated.observe_case(case.inputs) for case in record.cases]
    if len(msgspec.json.encode(seen)) > MAX_BYTES:
        raise TooLarge(f"the results of all {len(seen)} cases exceed {MAX_BYTES / 1e6:g} MB")
    display({OBSERVATION_MIME: {"check": stated.check_id, "observations": msgspec.to_builtins(seen)}}, raw=True)


def _verdict(stated: Check, record: CheckRecord, chapter: Chapter) -> tuple[Verdict, Picture | None]:
    """Return the verdict on the answer, or why it cannot be judged, and a picture of the first wrong case, or None."""
    if refused := _refused(stated, record.answer, chapter):
        return Verdict(refused), None
    seen: list[Observation] = []
    for case in record.cases:
        try:
            seen.append(stated.observe_case(case.inputs))
        except KeyboardInterrupt:
            return Verdict(messages.interrupted(stated.name, case, len(seen) + 1, len(record.cases))), None
    verdict = judge_check(record, seen, stated.judge)
    wrong = verdict.wrong if verdict.feedback.state == messages.WRONG else None
    drawn = None if wrong is None else _drawn(stated, record, seen, wrong)
    feedback = replace(verdict.feedback, drawn=drawn.text if drawn else "")
    return replace(verdict, feedback=feedback), drawn or _arrays_drawn(verdict)


def _refused(stated: Check, answer: str, chapter: Chapter) -> Feedback | None:
    """Return why the answer in memory is not the notebook's, None if it is, or if nothing says that it is not."""
    session = watched()
    if session is None:
        return None
    cells = chapter.code if session.page is None else session.page
    if stale := session.why_stale(stated.answer, answer, (stated.scenario, stated.judge, stated.picture), cells):
        return messages.not_run(stated.name, *stale)
    held = session.holding(answer, cells)
    own = [cell for cell in cells if is_answer(cell) and answer in defined(cell["source"])]
    return messages.elsewhere(stated.name, answer) if held and own and not any(map(is_answer, held)) else None


def _drawn(stated: Check, record: CheckRecord, seen: list[Observation], number: int) -> Picture | None:
    """Return the check's own picture of a wrong case, or None if the observed values have unexpected types.

    If drawing raises an error, there is no picture; the verdict is unaffected.
    """
    got, want = seen[number].values, record.expected[number].values
    if stated.picture is None or list(map(type, got)) != list(map(type, want)):
        return None
    sides = [[as_python(value) for value in side] for side in (got, want)]
    try:
        with known_state():
            return stated.picture(decode(record.cases[number].inputs), *sides)
    except Exception:
        return None


def _arrays_drawn(verdict: Verdict) -> Picture | None:
    """Return a picture of the two arrays that differ and their difference; None if there are no such arrays."""
    elements = verdict.difference and verdict.difference.elements
    if not elements or elements[2].size == 1:
        return None
    from ..pictures.diff import difference_picture  # imports NumPy

    return difference_picture(*elements[:2], verdict.feedback.whose, elements[2])


def _remember(stated: Check, answer: str, verdict: Verdict) -> None:
    """Record for the start page that a student passed or tried this check; an author's runs are not recorded.

    If the answer becomes part of the engine, its text is recorded too.
    """
    untouched = verdict.feedback.state == messages.UNSOLVED and stated.check_id not in read()
    if memory.authored is not None or untouched:
        return
    remember(stated.check_id, "passed" if verdict.passed else "tried")
    session = watched()
    if verdict.passed and not stated.torch and session and answer in session.texts:
        remember_answer(stated.check_id, session.texts[answer])


def _find(stated: Check, chapter: Chapter) -> CheckRecord:
    """Return a check's record: made now in a solved notebook, else read from the file beside the student's notebook."""
    if made := memory.authored and memory.authored(stated):
        return made
    check_id, checks = stated.check_id, chapter.checks
    if check_id not in checks:
        raise RecordError(_("The record beside this notebook has no check {check_id}.", check_id=check_id))
    if checks[check_id].digest not in map(stated.digest, (False, True)):
        differs = _(
            "The record beside this notebook was made for a different check cell of {check_id}.", check_id=check_id
        )
        restore = _(
            "Restore the cell from the released chapter, or take both notebook and record of its newest edition."
        )
        raise RecordError(differs, restore)
    return checks[check_id]


def given_here(chapter: Chapter | None = None) -> str:
    """Return what `given` says for the running cell of a student's notebook; "" while a chapter is built."""
    return "" if memory.authored else given((chapter or Chapter(notebook.FOLDER)).code, running())


def check_of_answer(name: str) -> str:
    """Return the id of this chapter's check that tests the answer `name`, or "" if there is no such check."""
    try:
        return next(check_id for check_id, check in Chapter(notebook.FOLDER).checks.items() if check.answer == name)
    except (RecordError, StopIteration):
        return ""
