"""The check at the end of each exercise, and the summary at the end of each chapter."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from IPython import get_ipython
from IPython.display import DisplayHandle, display

from .. import notebook
from ..pictures.picture import Picture
from ..returned import is_answer
from . import messages
from .card import card, help_link, overview
from .cells import cells_beside, points, setup_names
from .compare import Judge
from .encoding import TooLarge, decode
from .ending import ending
from .folds import fitting
from .given import as_released, given, in_place_of_yours
from .held_back import held_back
from .known_state import known_state
from .messages import Feedback
from .observation import MAX_BYTES, OBSERVATION_MIME, Dict, Observation
from .observe import Scenario, call, observe
from .plain import as_python
from .reached import defined
from .record import CheckRecord, RecordError, digest, load_beside
from .results import read, remember, remember_answer
from .reward import show_next, show_payoff
from .stale_cells import called_checks, missing_name, watched
from .verdict import Verdict, judge_check

CasePicture = Callable[[dict, list, list], Picture | None]


# Set while a chapter is built: makes a check's record from its reference cell, or returns None without such a cell
authored: Callable[["Check"], CheckRecord | None] | None = None
_stands: dict[str, bool] = {}  # by name: whether the check's last run passed
_summary: list[DisplayHandle] = []  # where `summary` was last shown; checks passed later appear there too


class CheckFailed(AssertionError):
    """Raised by a check that does not pass. Its message addresses the learner; a terminal shows only the message."""

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
    session = watched()
    if session is not None:
        session.give_back(scenario, judge, picture)
    try:
        record = _find(stated)
    except RecordError as error:
        _show(Feedback(name, messages.STOPPED, str(error)))
        raise
    function = answer if scenario is call else scenario
    if not record.expected:
        with in_place_of_yours(function, record.given, record.finished, answer):
            _show_observations(stated.as_released(record.given), record)
        return
    text = given_here()
    with held_back() as printed, in_place_of_yours(function, text, answer=answer):
        verdict, picture = _verdict(stated.as_released(text), record)
    feedback = replace(
        verdict.feedback,
        printed=printed.text,
        first=messages.ran_first(session.ran_first, session.set_up_first) if session else "",
    )
    if feedback.state != messages.STOPPED:
        _stands[name] = verdict.passed
        _remember(stated, record.answer, verdict)
    _show(feedback, picture, "" if authored else _help(stated, record, verdict))
    if verdict.passed and session and session.alone:
        show_payoff(record.cell, session.page or [], session.namespace)
        show_next(stated.check_id, load_beside(notebook.FOLDER), notebook.FOLDER)
    printed.show_displayed()
    if _summary:
        for shown, data in zip(_summary, _overview(), strict=False):
            shown.update(data, raw=True)
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


def _verdict(stated: Check, record: CheckRecord) -> tuple[Verdict, Picture | None]:
    """Return the verdict on the answer, or why it cannot be judged, and a picture of the first wrong case, or None."""
    refused = _refused(stated, record.answer)
    if refused:
        return Verdict(refused), None
    seen: list[Observation] = []
    try:
        for case in record.cases:
            seen.append(stated.observe_case(case.inputs))
    except KeyboardInterrupt:
        pass
    if len(seen) < len(record.cases):
        case = record.cases[len(seen)]
        return Verdict(messages.interrupted(stated.name, case, len(seen) + 1, len(record.cases))), None
    missing, cells = _missing_setup(seen)
    if missing:
        return Verdict(messages.setup_missing(stated.name, missing, cells)), None
    verdict = judge_check(record, seen, stated.judge)
    drawn = _drawn(stated, record, seen, verdict.wrong) if verdict.feedback.state == messages.WRONG else None
    feedback = replace(verdict.feedback, drawn=drawn.text if drawn else "")
    return Verdict(feedback), drawn or _arrays_drawn(verdict)


def _refused(stated: Check, answer: str) -> Feedback | None:
    """Return why the answer in memory is not the notebook's, None if it is, or if nothing says that it is not."""
    session = watched()
    if session is None:
        return None
    cells = cells_beside(notebook.FOLDER) if session.page is None else session.page
    stale = session.why_stale(stated.answer, answer, (stated.scenario, stated.judge, stated.picture), cells)
    if stale:
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
    if verdict.difference is None or not verdict.difference.arrays:
        return None
    from ..pictures.diff import difference_picture  # imports NumPy

    yours, expected, differs = verdict.difference.arrays
    return difference_picture(yours, expected, verdict.feedback.whose, differs)


def _missing_setup(seen: list[Observation]) -> tuple[str, int]:
    """Return a name that a setup cell defines but a case lacked, or "", and the number of setup cells."""
    errors = [one.error for one in seen if one.error and one.error.type == "NameError"]
    missing = [name for error in errors if (name := missing_name(NameError(error.message)))]
    names = [name for name in missing if name not in getattr(get_ipython(), "user_ns", {})]
    if names and authored is None:
        known, cells = setup_names(notebook.FOLDER, _running())
        return next((name for name in names if name in known), ""), cells
    return "", 0


def _remember(stated: Check, answer: str, verdict: Verdict) -> None:
    """Record for `gradlab.progress` that a student passed or tried this check; an author's runs are not recorded.

    If the answer becomes part of the engine, its text is recorded too.
    """
    untouched = verdict.feedback.state == messages.UNSOLVED and stated.check_id not in read()
    if authored is not None or untouched:
        return
    remember(stated.check_id, "passed" if verdict.passed else "tried")
    session = watched()
    if verdict.passed and not stated.torch and session and answer in session.texts:
        remember_answer(stated.check_id, session.texts[answer])


def _help(stated: Check, record: CheckRecord, verdict: Verdict) -> str:
    """Return an HTML link to the fold that fits a repeated failure, "" if there is none."""
    fold = fitting(stated.name, verdict, notebook.FOLDER, record.cell)
    return help_link(f"{notebook.FOLDER.name}.ipynb#cell-id={fold.cell}", fold.number, fold.says) if fold else ""


def _show(feedback: Feedback, picture: Picture | None = None, helps: str = "") -> None:
    """Show the card in a notebook. In a terminal, print only a pass: a failure appears as an error."""
    if _in_notebook():
        text = feedback.text if feedback.state == messages.PASSED else f"{feedback.title}: {feedback.head}."
        display({"text/html": card(feedback, picture, helps), "text/plain": text}, raw=True)
    elif feedback.state == messages.PASSED:
        print(feedback.text)


def _in_notebook() -> bool:
    return getattr(get_ipython(), "kernel", None) is not None


def _find(stated: Check) -> CheckRecord:
    """Return a check's record: made now in a solved notebook, else read from the file beside the student's notebook."""
    check_id = stated.check_id
    made = authored and authored(stated)
    if made:
        return made
    checks = load_beside(notebook.FOLDER)
    if check_id not in checks:
        raise RecordError(f"The record beside this notebook has no check {check_id}. It has: {', '.join(checks)}.")
    if checks[check_id].digest not in map(stated.digest, (False, True)):
        raise RecordError(
            f"The check cell of {check_id} differs from the one that the record beside this notebook was made for. "
            "If you changed the cell, restore it from the released chapter; if the chapter has a newer edition, "
            "take both its notebook and its record."
        )
    return checks[check_id]


def given_here() -> str:
    """Return what `given` says for the running cell of a student's notebook; "" while a chapter is built."""
    return "" if authored else given(cells_beside(notebook.FOLDER), _running())


def _running() -> str:
    """Return the text of the running cell."""
    shell = get_ipython()
    return "".join(shell.user_ns.get("In", [])[-1:]) if shell is not None else ""


def passed(check_id: str) -> bool:
    """Return whether the last run of a check passed, in any kernel."""
    now = [stood for name, stood in _stands.items() if name.split()[0] == check_id]
    return now[-1] if now else read().get(check_id) == "passed"


def answer_name(check_id: str) -> str:
    """Return the name of the answer that a check of this chapter tests, or "" if no record has this check."""
    try:
        return load_beside(notebook.FOLDER)[check_id].answer
    except (RecordError, KeyError):
        return ""


def check_of_answer(name: str) -> str:
    """Return the id of this chapter's check that tests the answer `name`, or "" if there is no such check."""
    try:
        return next(check_id for check_id, check in load_beside(notebook.FOLDER).items() if check.answer == name)
    except (RecordError, StopIteration):
        return ""


def summary() -> None:
    """Show each exercise's state and points, from the last run of its check in any session.

    In a notebook, also link the next chapter and, once all checks have passed, list what the reader can do now.
    """
    data = _overview()
    if _in_notebook():
        _summary[:] = [display(one, raw=True, display_id=True) for one in data]
    else:
        print(data[0]["text/plain"])


def _overview() -> list[dict[str, str]]:
    """Return what `summary` displays: the table with its total and, for a student, the end of the chapter."""
    names = list(_stands) if authored else [record.title for record in load_beside(notebook.FOLDER).values()]
    known, worth = {} if authored else read(), points(notebook.FOLDER)
    rows, got, all_of = [], 0.0, 0.0
    for name in names:
        check_id = name.split()[0]
        last = {True: "passed", False: "tried", None: known.get(check_id)}[_stands.get(name)]
        state = {"passed": "passed", "tried": "not yet"}.get(last, "not tried")
        most = worth.get(check_id, 0)
        got, all_of = got + most * (state == "passed"), all_of + most
        rows.append((name, state, f"{most * (state == 'passed'):g} of {most:g}" if most else ""))
    total = f"{sum(state == 'passed' for _, state, _ in rows)} of {len(rows)} checks passed"
    total += f", {got:g} of {all_of:g} points." if all_of else "."
    width = max((len(name) for name in names), default=0) + 4
    lines = [f"{name} {'.' * (width - len(name))} {state:9} {of}".rstrip() for name, state, of in rows]
    table = {"text/html": overview(rows, total), "text/plain": "\n".join([*lines, total])}
    end = "" if authored else ending(notebook.FOLDER, all(state == "passed" for _, state, _ in rows))
    return [table, *([{"text/markdown": end, "text/plain": end}] if end else [])]


def explain_missing(shell: Any, kind: type, error: Exception, trace: Any, tb_offset: int | None = None) -> None:
    """Replace IPython's traceback if a check cell lacks its setup or its answer: say which cells to run.

    For any other cell, add this advice below the traceback if a setup cell defines the name.
    """
    name, checks = missing_name(error), called_checks(_running())
    feedback = _cells_to_run(checks, name) if name and authored is None and name not in shell.user_ns else None
    if feedback and checks:
        _show(feedback)
        kind, error, trace = CheckFailed, CheckFailed(feedback.text), None
    elif feedback:
        error.add_note(feedback.lead)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _cells_to_run(checks: dict[str, str], name: str) -> Feedback | None:
    """Return feedback on which cells to run first to define `name`; None if no setup or answer cell defines it."""
    for title, answer in checks.items():
        if name == answer:
            return messages.answer_missing(title, name)
    known, cells = setup_names(notebook.FOLDER, _running())
    return messages.setup_missing(next(iter(checks), ""), name, cells) if name in known else None


if watched() is not None:
    get_ipython().set_custom_exc((NameError,), explain_missing)
