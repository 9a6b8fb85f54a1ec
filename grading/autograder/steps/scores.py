"""Log an assignment's scores before each grading run, so that a run's changes can be shown.

The log is in the class's folder `runs`, with one line of JSON per run; it never affects grades.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.orm import selectinload

from .outcome import reason_in_gradebook


@dataclass(frozen=True)
class Scores:
    """The scores of one submission; the field names are keys in the log and must not change.

    auto, hand: the automatic and manual points, by check cell. reason: why the submission could not be graded.
    handed_in: its timestamp. penalty: the points deducted for lateness.
    """

    auto: dict[str, float] = field(default_factory=dict)
    hand: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    handed_in: str = ""
    penalty: float = 0.0

    @property
    def graded(self) -> bool:
        """Whether there is a result: extensions and interrupted runs leave entries without scores."""
        return bool(self.auto or self.hand or self.reason)


def read(course: CourseDirectory, name: str) -> dict[str, Scores]:
    """Return the gradebook's current scores by student; empty if it has no such assignment."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        try:
            assignment = gradebook.find_assignment(name)
        except MissingEntry:
            return {}
        return _graded({student: of(submission) for student, submission in submissions(gradebook, assignment).items()})


def submissions(gradebook: Gradebook, assignment: Assignment) -> dict[str, SubmittedAssignment]:
    """Return an assignment's submissions by student, loading notebooks, grades and comments in four queries."""
    notebooks = selectinload(SubmittedAssignment.notebooks)
    query = gradebook.db.query(SubmittedAssignment).filter_by(assignment_id=assignment.id)
    query = query.options(notebooks.selectinload(SubmittedNotebook.grades))
    query = query.options(notebooks.selectinload(SubmittedNotebook.comments))
    return {submission.student_id: submission for submission in query}


def _graded(by_student: dict[str, Scores]) -> dict[str, Scores]:
    return {student: scores for student, scores in by_student.items() if scores.graded}


def of(submission: SubmittedAssignment) -> Scores:
    """Return a submission's current scores."""
    grades = sorted((g for notebook in submission.notebooks for g in notebook.grades), key=lambda g: g.name or "")
    return Scores(
        {grade.name: grade.auto_score for grade in grades if grade.auto_score is not None},
        {grade.name: grade.manual_score for grade in grades if grade.manual_score is not None},
        " ".join(filter(None, map(reason_in_gradebook, submission.notebooks))),
        str(submission.timestamp or ""),
        sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks),
    )


def only_extended(submission: SubmittedAssignment) -> bool:
    """Return whether the gradebook's entry exists only because of an extension, without a submission."""
    return submission.extension is not None and submission.timestamp is None and not of(submission).graded


def note(course: CourseDirectory, name: str) -> None:
    """Append the gradebook's current scores to the log, unless they equal the last entry."""
    now, last = read(course, name), noted(course, name)
    if not now or (last and last[-1][1] == now):
        return
    at = datetime.now(UTC).isoformat(timespec="seconds")
    entry = {"at": at, "scores": {student: asdict(scores) for student, scores in now.items()}}
    path = _path(course, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    broken = path.exists() and not path.read_bytes().endswith(b"\n")  # an interrupted write
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * broken + json.dumps(entry) + "\n")
        file.flush()
        os.fsync(file.fileno())


def noted(course: CourseDirectory, name: str) -> list[tuple[datetime, dict[str, Scores]]]:
    """Return the logged scores with their times, oldest first; damaged lines are skipped."""
    path, logged = _path(course, name), []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
            scores = {student: Scores(**fields) for student, fields in entry["scores"].items()}
            if _graded(scores):
                logged.append((datetime.fromisoformat(entry["at"]), _graded(scores)))
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return logged


def _path(course: CourseDirectory, name: str) -> Path:
    return Path(course.root, "runs", f"{name}.scores.jsonl")
