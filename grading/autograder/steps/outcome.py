"""Read and write a submission's outcome in its autograded notebook and in the gradebook.

The notebook's metadata contains a `NotebookOutcome`; each check cell's metadata contains its verdicts. In the
gradebook, a submission that could not be graded has no score, needs a manual grade, and has the reason as a comment.
"""

import contextlib
import json
from collections.abc import Mapping, MutableMapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

import msgspec
from nbformat import NotebookNode
from nbgrader.api import Grade, SubmittedNotebook

from gradlab import atomic
from gradlab.checks.messages import REFUSED, Feedback
from gradlab.checks.verdict import Verdict
from gradlab.words import N_

KEY = "autograder"  # in the metadata of notebooks and cells
COMMENT = "Could not be graded: "  # marks a comment as the reason; gradebooks hold it, so it must not change
TO_DECIDE = "autograder grade {} --keep-points or --drop-points STUDENT"  # see `undecided`


class Status(StrEnum):
    """The status of a submission, in the order of a report's counts; `views/export.py` decides which one it has.

    It is data, in English; people read it in the class's language.
    """

    GRADED = N_("graded")
    STALE = N_("to be graded again")  # its grade belongs to an earlier submission, or to earlier checks or points
    UNGRADED = N_("not graded yet")
    NEEDS_MANUAL = N_("needs manual grade")
    UNGRADABLE = N_("could not be graded")
    MISSING = N_("not submitted")
    SKIPPED = N_("skipped")  # by a run, because its grade is current


@dataclass(frozen=True)
class NotebookOutcome:
    """The outcome stored in an autograded notebook; the field names are metadata keys and must not change.

    could_not_grade: the reason, "" if it was graded. saved: whether the gradebook has its scores or the reason.
    handed_in: the fingerprint of the graded submission. graded_by: the version of the assignment that graded it. again:
    whether it was graded before, so manual scores belong to it.
    """

    could_not_grade: str = ""
    saved: bool = False
    handed_in: str = ""
    graded_by: str = ""
    again: bool = False

    def is_of(self, fingerprint: str) -> bool:
        """Return whether this outcome belongs to the submission with that fingerprint, graded or being regraded."""
        return self.handed_in == fingerprint and (self.saved or self.again)


def read(nb: Mapping) -> NotebookOutcome:
    """Return the outcome stored in a notebook, with defaults for what is missing; an empty one if it is malformed."""
    try:
        return msgspec.convert(nb["metadata"].get(KEY, {}), NotebookOutcome)
    except msgspec.ValidationError:
        return NotebookOutcome()


def of(path: Path) -> NotebookOutcome:
    """Return the outcome stored in a notebook file; an empty outcome if the file is missing or damaged."""
    return _file(path)[1]


def _file(path: Path) -> tuple[dict, NotebookOutcome]:
    """Return the autograded notebook in a file and its outcome; both are empty if the file is missing or damaged."""
    try:
        nb = json.loads(path.read_text(encoding="utf-8"))
        return nb, read(nb)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}, NotebookOutcome()


def write(nb: MutableMapping, outcome: NotebookOutcome) -> None:
    """Store an outcome in a notebook's metadata."""
    unset = asdict(NotebookOutcome())
    nb["metadata"][KEY] = {name: value for name, value in asdict(outcome).items() if value is not unset[name]}


def reopen(path: Path, fingerprint: str) -> bool:
    """Mark an autograded notebook as not saved while its submission is graded again.

    After an interruption, the gradebook therefore never shows new scores beside old verdicts. Return whether the
    notebook belongs to the submission with this fingerprint.
    """
    nb, stored = _file(path)
    if stored.saved:
        write(nb, replace(stored, saved=False, again=stored.is_of(fingerprint)))
        atomic.write_text(path, json.dumps(nb))
    return stored.is_of(fingerprint)


def read_verdicts(cell: Mapping) -> dict[str, Verdict]:
    """Return the verdicts stored in a check cell, by check id, without malformed ones."""
    verdicts = {}
    for check_id, said in as_dict(cell["metadata"].get(KEY)).items():
        with contextlib.suppress(msgspec.ValidationError):
            verdicts[check_id] = Verdict(msgspec.convert(as_dict(said).get("feedback"), Feedback))
    return verdicts


def ran(nb: Mapping) -> bool:
    """Return whether any check of an autograded notebook ran to its end; True if it has no verdicts."""
    states = [verdict.feedback.state for cell in nb["cells"] for verdict in read_verdicts(cell).values()]
    return not states or any(state != REFUSED for state in states)


def write_verdicts(cell: NotebookNode, verdicts: dict[str, Verdict]) -> None:
    """Store the verdicts in a check cell's metadata."""
    cell.metadata[KEY] = {
        check_id: {"feedback": {name: part for name, part in msgspec.to_builtins(v.feedback).items() if part}}
        for check_id, v in verdicts.items()
    }


def forget(part: NotebookNode) -> None:
    """Remove the outcome or verdicts from the metadata of a notebook or cell."""
    part.metadata.pop(KEY, None)


def by_hand(grade: Grade) -> bool:
    """Return whether the points of this grade, or extra credit, were set manually."""
    return grade.manual_score is not None or bool(grade.extra_credit)


def undecided(submitted: SubmittedNotebook) -> list[Grade]:
    """Return the grades with manual points that nobody has confirmed for a new submission, sorted by cell."""
    return sorted((g for g in submitted.grades if g.needs_manual_grade and by_hand(g)), key=lambda grade: grade.name)


def reason_in_gradebook(submitted: SubmittedNotebook) -> str:
    """Return why a submitted notebook could not be graded; "" if it was graded, manually or not."""
    if not any(grade.auto_score is None and grade.manual_score is None for grade in submitted.grades):
        return ""
    comments = [comment.auto_comment or "" for comment in submitted.comments]
    return next((text.removeprefix(COMMENT) for text in comments if text.startswith(COMMENT)), "")


def as_dict(value: object) -> dict:
    """Return a dict; an empty one instead of anything else, which may stand in a submission."""
    return value if isinstance(value, dict) else {}
