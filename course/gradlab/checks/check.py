"""The check at the end of each exercise, and the summary at the end of each chapter."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from IPython import get_ipython
from IPython.display import display

from .. import notebook
from ..pictures.diff import difference_picture
from ..pictures.picture import Picture
from . import reached, words
from .card import card, overview
from .compare import Judge
from .encoding import decode
from .given import as_given, given
from .known_state import known_state
from .memory import read, remember, remember_answer
from .observation import OBSERVATION_MIME, Dict, Observation
from .observe import Scenario, call, observe
from .page import answer_cells, cells_beside, points, setup_names, text_of
from .plain import as_python
from .printed import kept_back
from .record import CheckRecord, RecordError, digest, load_beside
from .session import called_checks, missing_name, watched
from .verdict import Verdict, judge_check
from .words import Told

CasePicture = Callable[[dict, list, list], Picture | None]


# Where chapters are written: what makes the record of a check from its reference cell, None if there is no such cell
authored: Callable[["Check"], CheckRecord | None] | None = None
_stands: dict[str, bool] = {}  # by name: whether the check passed when it ran last


class CheckFailed(AssertionError):
    """A check did not pass; the message is written for the learner, and is all that a terminal shows of it."""

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
        """What is observed on one case of the answer that is checked, or of another one."""
        return observe(answer or self.answer, self.scenario, case, self.autograd, self.torch)

    def digest(self) -> str:
        """The fingerprint by which a record knows its check."""
        return digest(self.name, self.scenario, self.judge, self.autograd, self.torch)


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
    """Try `answer` on every case of this check and say what came of it.

    name: the check's id, then its title in words: "02.1 the gradient that arrives at x".
    scenario(answer, case): what is done with the answer; a plain call with the case's values by default. What it
    returns is compared, or each value that it yields.
    judge(case, observed, expected): decides where several answers are right; returns None, or why not.
    autograd: False where torch's autograd would be a shortcut around the exercise.
    torch: False where the learner's own engine takes torch's place; then the values of cases are arrays.
    picture(case, observed, expected): draws a case that went wrong; it takes what `judge` takes, and has no part in the
    verdict.

    Raises CheckFailed, whose text explains the first difference, and RecordError where the check cannot be made. In
    grading, where the record holds cases but nothing that is expected, it only shows what it observed.
    """
    stated = Check(name, answer, scenario, judge, autograd, torch, picture)
    session = watched()
    if session is not None:
        session.give_back(scenario, judge, picture)
    try:
        record = _find(stated)
    except RecordError as error:
        _show(Told(name, words.STOPPED, str(error)))
        raise
    if not record.expected:
        with as_given(record.given, scenario, missing=True):
            _hand_over(stated, record)
        return
    text = "" if authored else given(cells_beside(notebook.FOLDER), _running())
    with kept_back() as printed, as_given(text, scenario):
        verdict, picture = _verdict(stated, record)
    told = replace(verdict.told, printed=printed.text, first=words.ran_first(session.ran_first) if session else "")
    if told.state != words.STOPPED:
        _stands[name] = verdict.passed
        _remember(stated, record.answer, verdict)
    _show(told, picture)
    printed.show_displayed()
    if not verdict.passed:
        raise CheckFailed(told.text)


def _hand_over(stated: Check, record: CheckRecord) -> None:
    """Show what is observed, for whoever grades."""
    for number, case in enumerate(record.cases):
        seen = msgspec.to_builtins(stated.observe_case(case.inputs))
        display({OBSERVATION_MIME: {"check": stated.check_id, "case": number, "observation": seen}}, raw=True)


def _verdict(stated: Check, record: CheckRecord) -> tuple[Verdict, Picture | None]:
    """The verdict on the answer as it stands on the page, or why there can be none; and a picture of what is wrong."""
    session = watched()
    saved = {cell.get("id", ""): text_of(cell) for cell in cells_beside(notebook.FOLDER)}
    stale = session and session.why_stale(stated.answer, record.answer, saved)
    if stale:
        return Verdict.of(words.not_run(stated.name, *stale)), None
    home = session and session.homes.get(record.answer)
    if home and home not in (answer_cells(notebook.FOLDER, record.answer) or {home}):
        return Verdict.of(words.elsewhere(stated.name, record.answer)), None
    lines = [] if stated.autograd else reached.find(record.answer, _cells_so_far())
    if lines:
        return Verdict.of(words.shortcut_in_source(stated.name, lines)), None
    seen: list[Observation] = []
    try:
        for case in record.cases:
            seen.append(stated.observe_case(case.inputs))
    except KeyboardInterrupt:
        pass
    if len(seen) < len(record.cases):
        return Verdict.of(
            words.interrupted(stated.name, record.cases[len(seen)], len(seen) + 1, len(record.cases))
        ), None
    missing, cells = _missing_setup(seen)
    if missing:
        return Verdict.of(words.setup_missing(stated.name, missing, cells)), None
    verdict = judge_check(record, seen, stated.judge)
    drawn = _drawn(stated, record, seen, verdict.wrong) if verdict.told.state == words.WRONG else None
    told = replace(verdict.told, drawn=drawn.text if drawn else "")
    return Verdict.of(told), drawn or _arrays_drawn(verdict)


def _drawn(stated: Check, record: CheckRecord, seen: list[Observation], number: int) -> Picture | None:
    """The check's own picture of a wrong case, where what came back has the form of what was expected.

    The verdict stands without it: whatever goes wrong in drawing, there is no picture.
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
    """The picture of the two sides and their difference, where they are arrays of several numbers."""
    if verdict.difference is None or not verdict.difference.arrays:
        return None
    yours, expected, differs = verdict.difference.arrays
    return difference_picture(yours, expected, verdict.told.whose, differs)


def _missing_setup(seen: list[Observation]) -> tuple[str, int]:
    """A name that setup cells define and that was missing in a case, and how many setup cells there are."""
    errors = [one.error for one in seen if one.error and one.error.type == "NameError"]
    missing = [name for error in errors if (name := missing_name(NameError(error.message)))]
    names = [name for name in missing if name not in getattr(get_ipython(), "user_ns", {})]
    if names and authored is None:
        known, cells = setup_names(notebook.FOLDER, _running())
        return next((name for name in names if name in known), ""), cells
    return "", 0


def _remember(stated: Check, answer: str, verdict: Verdict) -> None:
    """Note for `gradlab.progress` what a student has passed or tried; an author's runs leave no trace.

    Of an answer that becomes a part of the engine, the text is noted, too.
    """
    untouched = verdict.told.state == words.UNSOLVED and stated.check_id not in read()
    if authored is not None or untouched:
        return
    remember(stated.check_id, "passed" if verdict.passed else "tried")
    session = watched()
    if verdict.passed and not stated.torch and session and answer in session.texts:
        remember_answer(stated.check_id, session.texts[answer])


def _show(told: Told, picture: Picture | None = None) -> None:
    """Show the card in a notebook; elsewhere the text of what passed, for what did not pass is told by its error."""
    if _in_notebook():
        text = told.text if told.state == words.PASSED else f"{told.title}: {told.head}."
        display({"text/html": card(told, picture), "text/plain": text}, raw=True)
    elif told.state == words.PASSED:
        print(told.text)


def _in_notebook() -> bool:
    return getattr(get_ipython(), "kernel", None) is not None


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


def _running() -> str:
    """The text of the cell that runs."""
    return "".join(_cells_so_far()[-1:])


def _cells_so_far() -> list[str]:
    shell = get_ipython()
    return list(shell.user_ns.get("In", [])) if shell is not None else []


def passed(check_id: str) -> bool:
    """Tell whether a check passed when it ran last, in this kernel or before it."""
    now = [stood for name, stood in _stands.items() if name.split()[0] == check_id]
    return now[-1] if now else read().get(check_id) == "passed"


def answer_name(check_id: str) -> str:
    """What a check of this chapter calls its answer, "" where no record tells."""
    try:
        return load_beside(notebook.FOLDER)[check_id].answer
    except (RecordError, KeyError):
        return ""


def check_of_answer(name: str) -> str:
    """The id of the check of this chapter that tries an answer of this name, "" if none does or no record tells."""
    try:
        return next(check_id for check_id, check in load_beside(notebook.FOLDER).items() if check.answer == name)
    except (RecordError, StopIteration):
        return ""


def summary() -> None:
    """Show which exercises of this chapter stand, and their points: what their checks said last, in any session."""
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
    text = "\n".join([*lines, total])
    if _in_notebook():
        display({"text/html": overview(rows, total), "text/plain": text}, raw=True)
    else:
        print(text)


def explain_missing(shell: Any, kind: type, error: Exception, trace: Any, tb_offset: int | None = None) -> None:
    """In the place of IPython's traceback: a check cell without its setup or its answer says which cells to run.

    Below the traceback of another cell stands the same, where a setup cell defines the name.
    """
    name, checks = missing_name(error), called_checks(_running())
    told = _cells_to_run(checks, name) if name and authored is None and name not in shell.user_ns else None
    if told and checks:
        _show(told)
        kind, error, trace = CheckFailed, CheckFailed(told.text), None
    elif told:
        error.add_note(told.lead)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _cells_to_run(checks: dict[str, str], name: str) -> Told | None:
    """What to say where a cell misses a name, with the checks that it calls: which other cells have not run."""
    for title, answer in checks.items():
        if name == answer:
            return words.answer_missing(title, name)
    known, cells = setup_names(notebook.FOLDER, _running())
    return words.setup_missing(next(iter(checks), ""), name, cells) if name in known else None


if watched() is not None:
    get_ipython().set_custom_exc((NameError,), explain_missing)
