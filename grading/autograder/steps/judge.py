"""Judge checks outside the student's process, by comparing observations with the record, and show the verdicts."""

import ast
import functools
import json
import re
from dataclasses import replace
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.utils import is_grade

from gradlab import ipynb
from gradlab.checks.compare import Judge
from gradlab.checks.messages import NOT_ALONE, REFUSED, Feedback
from gradlab.checks.observation import OBSERVATION_MIME, read_observation
from gradlab.checks.record import CheckRecord, Record
from gradlab.checks.verdict import Verdict, judge_check
from gradlab.words import _, of_chapter

from . import outcome
from .alone import Seen
from .execute import error_output
from .leaving import Known, shortened

Verdicts = dict[str, dict[str, Verdict]]  # by grade_id and check id
SUMMARY = "summary()"  # the cell at the end of a chapter


def judge(nb: NotebookNode, record: Record, judges: dict[str, Judge], cell_timeout_s: float) -> Verdicts:
    """Judge all checks of an executed notebook; return the verdicts by grade_id and check id.

    judges: the custom judges, by check id. cell_timeout_s: the time limit of a cell.
    """
    checks = record.by_cell()
    verdicts: Verdicts = {}
    known = Known.here(cell.source for cell in nb.cells)
    so_far: list[NotebookNode] = []  # the cells an answer may use; later cells may redefine its names
    for cell in (cell for cell in nb.cells if cell.cell_type == "code"):
        so_far.append(cell)
        grade_id = cell.metadata.nbgrader["grade_id"] if is_grade(cell) else ""
        if grade_id in checks:
            verdicts[grade_id] = {}
            for i, check in checks[grade_id].items():
                verdicts[grade_id][i] = _verdict(i, check, judges.get(i), so_far, known, cell_timeout_s)
    return verdicts


def _verdict(
    check_id: str, record: CheckRecord, judge: Judge | None, cells: list[NotebookNode], known: Known, timeout_s: float
) -> Verdict:
    """Return the verdict on a check in the last of these cells, which are all that its answer may use."""
    seen = observations(cells[-1], check_id, len(record.cases), known, timeout_s)
    if isinstance(seen, str):
        why = _why_undefined(record.answer, cells[:-1], timeout_s) or seen
        return Verdict(Feedback(record.title, REFUSED, why))
    verdict = judge_check(record, seen, judge)
    if verdict.passed or verdict.feedback.state == REFUSED:
        return verdict
    sides = zip(record.expected, *(slip.observations(record.expected) for slip in record.slips), strict=True)
    each = zip(map(read_observation, seen), record.cases, sides, strict=True)
    shown = [observation and known.of(case, side).observation(observation) for observation, case, side in each]
    return shortened(judge_check(record, shown, judge))


def judge_alone(record: CheckRecord, torch: bool, seen: Seen, judge: Judge | None) -> Verdict:
    """Return the verdict on a check that passed in the notebook, from what was seen of it alone.

    torch: whether the check allows torch. What neither passes nor used what is forbidden is for the instructor to see.
    """
    replies = [read for line in seen.replies if (read := _read(line)) is not None]
    verdict = judge_check(record, replies, judge)
    if seen.forbidden or is_forbidden(verdict):  # without any text that the process wrote
        kind = "gradlab.checks.shortcuts.ShortcutError" if torch else "gradlab.checks.without_torch.TorchError"
        used = {"values": [], "error": {"type": kind, "message": _("It was used")}}
        return judge_check(record, [used] * len(record.cases), judge)
    why = _(
        "Your function is right in your notebook, but not on its own, after only the cells that it names. "
        "Your instructor sees this and can give the points."
    )
    return verdict if verdict.passed else Verdict(Feedback(record.title, NOT_ALONE, why))


def is_forbidden(verdict: Verdict) -> bool:
    """Return whether an answer failed because it used what its exercise forbids."""
    return verdict.difference is not None and verdict.difference.kind in ("shortcut", "torch")


def _read(line: bytes | str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def observations(cell: NotebookNode, check_id: str, count: int, known: Known, timeout_s: float) -> list[dict] | str:
    """Return one check's observations from a cell's outputs, one per case in order, or why they are incomplete.

    known: the texts that the reason may contain.
    """
    reported = []
    for output in cell.outputs:
        data = output.get("data", {}).get(OBSERVATION_MIME)
        if isinstance(data, str):
            data = _read(data)
        if isinstance(data, dict) and data.get("check") == check_id:
            reported.append(data.get("observations"))
    if len(reported) == 1 and isinstance(reported[0], list) and len(reported[0]) == count:
        return json.loads(json.dumps(reported[0]))
    errors = [o for o in cell.outputs if o.output_type == "error"]
    if errors and not reported:
        error = errors[0]
        if error.ename == "CellTimeoutError":
            return _("The check did not end within {limit:g} s.", limit=timeout_s)
        why = _("The check did not finish: {error}.", error=known.kind(error))
        if error.ename == "NameError":
            why += " " + _("The cell that should define it is empty or raised an error.")
        return why
    return _("The check did not report exactly one observation per case.")


def _why_undefined(answer: str, cells: list[NotebookNode], timeout_s: float) -> str:
    """Return why the cell for an answer did not define it: a syntax error or a timeout; "" if neither."""
    defines = re.compile(rf"^[^\S\n]*(def|class)\s+{re.escape(answer)}\b|^{re.escape(answer)}\s*=", re.MULTILINE)
    for cell in (cell for cell in reversed(cells) if defines.search(cell.source)):
        for error in (output for output in cell.outputs if output.output_type == "error"):
            if error.ename in ("SyntaxError", "IndentationError", "TabError"):
                return _wrong_syntax(answer, cell.source)
            if error.ename == "CellTimeoutError":
                return _("The cell for {answer} did not end within {limit:g} s.", answer=answer, limit=timeout_s)
        break
    return ""


def _wrong_syntax(answer: str, source: str) -> str:
    """Return that a cell's syntax is wrong, with Python's words for it unless only IPython could say."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        where = {"answer": answer, "line": error.lineno, "error": error.msg}
        return _("The cell for {answer} has a syntax error in line {line}: {error}.", **where)
    except (ValueError, RecursionError, MemoryError):
        pass
    return _("The cell for {answer} has a syntax error.", answer=answer)


def show_verdicts(nb: NotebookNode, verdicts: Verdicts) -> None:
    """Replace the outputs of an executed notebook's check cells with their verdicts, in place, and store them there.

    Also remove all observations, and replace the output of the chapter's summary, which does not know the verdicts
    during grading. A graded cell without a verdict ends in an error, because it must not count as passed.
    """
    passed: list[bool] = []
    for cell in nb.cells:
        outcome.forget(cell)
        if cell.cell_type != "code":
            continue
        cell.outputs = [output for output in cell.outputs if OBSERVATION_MIME not in output.get("data", {})]
        cell_verdicts = verdicts.get(cell.metadata.nbgrader["grade_id"]) if is_grade(cell) else None
        if cell_verdicts:
            passed += [verdict.passed for verdict in cell_verdicts.values()]
            outcome.write_verdicts(cell, cell_verdicts)
            _show(cell, list(cell_verdicts.values()))
        elif is_grade(cell):
            cell.outputs.append(error_output("VerdictMissing", _("No verdict has been reached.")))
        elif cell.source.strip() == SUMMARY and cell.outputs:
            text = _("{right} of {total} checks passed.", right=sum(passed), total=len(passed))
            cell.outputs = [new_output("stream", name="stdout", text=f"{text}\n")]


def in_new_words(nb: NotebookNode, checks: dict[str, dict[str, CheckRecord]]) -> list[str]:
    """Show an autograded notebook's verdicts, in place, in the words of the class's record; return their texts.

    checks: of the record, by grade_id and check id.
    """
    texts = []
    for cell in (cell for cell in nb.cells if cell.cell_type == "code"):
        known = checks.get(ipynb.grade_id(cell) or "", {})
        before = outcome.read_verdicts(cell)
        verdicts = {i: _reworded(verdict, known[i]) if i in known else verdict for i, verdict in before.items()}
        texts += [verdict.feedback.text for verdict in verdicts.values()]
        if verdicts != before:
            outcome.write_verdicts(cell, verdicts)
            _show(cell, list(verdicts.values()))
    return texts


def _reworded(verdict: Verdict, check: CheckRecord) -> Verdict:
    """Return a verdict with the check's title, and the name and sentence of its slip, which keeps one of the two."""
    feedback = verdict.feedback
    shown = functools.partial(of_chapter, check.title.partition(" ")[0])
    words: dict[str, Any] = {"title": check.title} | ({"lead": shown(check.owns)} if verdict.passed else {})
    for slip in check.slips if feedback.name else ():
        if slip.name == feedback.name or feedback.lead in (slip.says, shown(slip.says)):
            words |= {"name": slip.name, "lead": shown(slip.says)}
    return Verdict(replace(feedback, **words))


def _show(cell: NotebookNode, verdicts: list[Verdict]) -> None:
    passed = sum(verdict.passed for verdict in verdicts)
    text = "\n\n".join(verdict.feedback.text for verdict in verdicts)
    cell.execution_count = cell.execution_count or 0
    if passed == 0:
        cell.outputs = [error_output("CheckFailed", text)]
    else:
        cell.outputs = [new_output("stream", name="stdout", text=text + "\n")]
    if 0 < passed < len(verdicts):
        points = cell.metadata.nbgrader["points"] * passed / len(verdicts)
        data = {"text/plain": repr(points)}
        cell.outputs.append(new_output("execute_result", data, execution_count=cell.execution_count))
