"""What a submission came to: the words for it, and the one place where it is written down and read again.

In the notebook, its metadata holds a `NotebookOutcome`, and a check cell's the verdicts on its checks. In the
gradebook, a submission that could not be graded has no score, needs a manual grade, and has the reason as a comment.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Grade, Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic
from gradlab.checks.verdict import Verdict

from ..errors import ClassError
from . import receipt
from .files import known_as
from .late import TakeLatePenalties

KEY = "autograder"  # of the metadata of notebooks and of cells
COMMENT = "Could not be graded: "


class Status(StrEnum):
    """How a submission stands, in the order in which a report counts."""

    GRADED = "graded"
    STALE = "to be graded again"  # its grade is that of an earlier submission, or of earlier checks or points
    UNGRADED = "not graded yet"
    NEEDS_MANUAL = "needs manual grade"
    UNGRADABLE = "could not be graded"
    MISSING = "not submitted"
    SKIPPED = "skipped"  # by a run, because it was graded before


@dataclass(frozen=True)
class NotebookOutcome:
    """What an autograded notebook says of its submission.

    seconds: of all its runs, None if there was none. could_not_grade: the reason, "" if it could be graded. saved: the
    gradebook has its scores, or that there are none, and why. handed_in: the fingerprint of what was graded. graded_by:
    the version of the assignment by which it was. again: it was graded before, so scores set by hand are scores of it.
    """

    seconds: float | None = None
    could_not_grade: str = ""
    saved: bool = False
    handed_in: str = ""
    graded_by: str = ""
    again: bool = False

    def is_of(self, fingerprint: str) -> bool:
        """Whether this is the outcome of the submission with that fingerprint, or will be at the end of its run."""
        return self.handed_in == fingerprint and (self.saved or self.again)


def read(nb: Mapping) -> NotebookOutcome:
    """What a notebook says of its submission; nothing that is no outcome is taken for one."""
    found = _dict(nb["metadata"].get(KEY))
    seconds, reason = found.get("seconds"), found.get("could_not_grade")
    return NotebookOutcome(
        float(seconds) if type(seconds) in (int, float) else None,
        reason if isinstance(reason, str) else "",
        found.get("saved") is True,
        _text(found.get("handed_in")),
        _text(found.get("graded_by")),
        found.get("again") is True,
    )


def of(path: Path) -> NotebookOutcome:
    """What an autograded notebook says; where it is missing or damaged, nothing was saved."""
    try:
        return read(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return NotebookOutcome()


def write(nb: NotebookNode, outcome: NotebookOutcome) -> None:
    """Let a notebook say what its submission came to."""
    unset = asdict(NotebookOutcome())
    nb.metadata[KEY] = {name: value for name, value in asdict(outcome).items() if value is not unset[name]}


def read_verdicts(cell: Mapping) -> dict[str, Verdict]:
    """The verdicts on the checks of a cell, by check id; empty where none was written."""
    found = {check_id: _dict(said) for check_id, said in _dict(cell["metadata"].get(KEY)).items()}
    return {
        check_id: Verdict(said.get("passed") is True, _text(said.get("message")), _text(said.get("slip")))
        for check_id, said in found.items()
    }


def write_verdicts(cell: NotebookNode, verdicts: dict[str, Verdict]) -> None:
    """Let a check cell say what its checks came to."""
    cell.metadata[KEY] = {
        check_id: {"passed": v.passed, "slip": v.slip, "message": v.message} for check_id, v in verdicts.items()
    }


def forget(part: NotebookNode) -> None:
    """Take from a notebook or a cell what it says of its outcome."""
    part.metadata.pop(KEY, None)


def set_aside(course: CourseDirectory, student: str, assignment: str, reason: str, submitted: Path) -> None:
    """Let the reason be all that there is of a submission which could not be graded; see `could_not_grade`."""
    path = Path(course.format_path(course.autograded_directory, known_as(student), assignment), f"{assignment}.ipynb")
    again = of(path).is_of(receipt.fingerprint(submitted, course.ignore))
    shutil.rmtree(path.parent, ignore_errors=True)
    nb = could_not_grade(course, known_as(student), assignment, reason, submitted, again)
    atomic.write_text(path, nbformat.writes(nb) + "\n")


def could_not_grade(
    course: CourseDirectory, student: str, assignment: str, reason: str, submitted: Path, again: bool = False
) -> NotebookNode:
    """Write into the gradebook that a submission could not be graded, and why; scores given by hand stay.

    submitted: its folder, whose receipt is kept. again: scores given by hand are scores of this submission. Returns the
    released notebook, which says the same, to replace the submission's. Raises ClassError if there is none.
    """
    released = Path(course.format_path(course.release_directory, ".", assignment)) / f"{assignment}.ipynb"
    if not released.exists():
        raise ClassError(f"{released} is missing: nbgrader generate_assignment {assignment}")
    reason = reason.encode(errors="backslashreplace").decode().replace("\0", r"\x00")  # else a database refuses it
    nb = nbformat.read(released, as_version=4)
    handed_in = receipt.fingerprint(submitted, course.ignore)
    write(nb, NotebookOutcome(could_not_grade=reason, saved=True, handed_in=handed_in))
    receipt.keep(submitted, Path(course.format_path(course.autograded_directory, student, assignment)))
    time = receipt.timestamp(submitted)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(assignment, student, **({"timestamp": time} if time else {}))
        submitted = gradebook.find_submission_notebook(assignment, assignment, student)
        for grade in submitted.grades:
            grade.auto_score = None
            grade.needs_manual_grade = grade.needs_manual_grade or not (again and by_hand(grade))
        for comment in submitted.comments:
            comment.auto_comment = COMMENT + reason
        gradebook.db.commit()
    names = {"student": student, "assignment": assignment, "notebook": assignment, "db_url": course.db_url}
    TakeLatePenalties(parent=course).preprocess(nb, {"nbgrader": names})
    return nb


def by_hand(grade: Grade) -> bool:
    """Whether somebody has given points for this cell."""
    return grade.manual_score is not None or bool(grade.extra_credit)


def undecided(submitted: SubmittedNotebook) -> list[Grade]:
    """The points given by hand that nobody has confirmed since another submission took the place of the old one."""
    return sorted((g for g in submitted.grades if g.needs_manual_grade and by_hand(g)), key=lambda grade: grade.name)


def reason_in_gradebook(submitted: SubmittedNotebook) -> str:
    """Why a submitted notebook could not be graded; "" if it was graded, or has been by hand since."""
    if not any(grade.auto_score is None and grade.manual_score is None for grade in submitted.grades):
        return ""
    comments = [comment.auto_comment or "" for comment in submitted.comments]
    return next((text.removeprefix(COMMENT) for text in comments if text.startswith(COMMENT)), "")


def only_extended(submitted: SubmittedAssignment) -> bool:
    """Whether the gradebook's entry of a submission is there for an extension alone, and nothing came in yet."""
    if submitted.extension is None or submitted.timestamp is not None:
        return False
    graded = [
        g for nb in submitted.notebooks for g in nb.grades if g.auto_score is not None or g.manual_score is not None
    ]
    return not graded and not any(map(reason_in_gradebook, submitted.notebooks))


def _dict(value: object) -> Mapping:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
