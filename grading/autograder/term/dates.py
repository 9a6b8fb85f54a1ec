"""When an assignment is due: for all, and for one student by an extension; what was graded takes its penalty anew."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from nbgrader.api import Assignment, Gradebook, SubmittedAssignment
from nbgrader.apps import NbGraderAPI

from .. import gradebook
from ..dropped import enrolled
from ..errors import ClassError, did_you_mean
from ..run.journal import only_run
from ..settings import class_api
from ..steps.files import readable
from ..steps.late import TakeLatePenalties
from ..steps.outcome import only_extended
from .written import local


@dataclass(frozen=True)
class Dates:
    """What a change of dates led to.

    due: for all, in UTC, None if there is no date. extended: whose dates are other, in UTC. ended: whose extension is
    over because all have as long now. penalties: of whom the penalty is another now, with the old and the new one.
    """

    due: datetime | None
    extended: dict[str, datetime]
    ended: list[str]
    penalties: dict[str, tuple[float, float]]


def set_due(folder: Path, name: str, due: datetime | None) -> Dates:
    """Set when an assignment is due, or that it is due at no time.

    The dates of extensions stay where they reach further. Raises ClassError if there is no such assignment.
    """
    api = class_api(folder)
    with only_run(folder), _open(api) as book:
        assignment = gradebook.find_assignment(book, name)
        until = {s.student_id: s.duedate for s in _extended(assignment)}
        assignment.duedate = due
        ended = []
        for submission in _extended(assignment):
            date = until[submission.student_id]
            if due and date > due:
                submission.extension = date - due
            else:
                ended.append(submission)
        _end(book, ended)
        return _dates(api, book, assignment, sorted(set(until) - {s.student_id for s in _extended(assignment)}))


def extend(folder: Path, student: str, name: str, until: datetime | None) -> Dates:
    """Let one student hand in until another date; None takes the extension back.

    A student who has not handed in yet gets nbgrader's entry of a submission, without any grade: nbgrader keeps
    extensions there. Raises ClassError if the assignment has no date, or one as late, or if nobody is so called.
    """
    api = class_api(folder)
    with only_run(folder), _open(api) as book:
        assignment = gradebook.find_assignment(book, name)
        known = [one.id for one in enrolled(book, api.coursedir)]
        if student not in known:
            raise ClassError(f"No student {readable(student)} in the gradebook.{did_you_mean(student, known)}")
        if until is None:
            _end(book, [submission for submission in _extended(assignment) if submission.student_id == student])
        elif assignment.duedate is None:
            raise ClassError(f"{name} is due at no time, so there is nothing to extend: autograder due {name} DATE.")
        elif until <= assignment.duedate:
            raise ClassError(f"{name} is due {local(assignment.duedate)} for all; an extension has to be later.")
        else:
            submission = book.update_or_create_submission(name, student)
            submission.extension = until - assignment.duedate
            book.db.commit()
        return _dates(api, book, assignment, [])


def _open(api: NbGraderAPI) -> Gradebook:
    gradebook.require(api.coursedir)
    return Gradebook(api.coursedir.db_url, api.coursedir.course_id)


def _extended(assignment: Assignment) -> list[SubmittedAssignment]:
    return [submission for submission in assignment.submissions if submission.extension is not None]


def _end(book: Gradebook, extended: list[SubmittedAssignment]) -> None:
    """Save all changes, and take these extensions back; entries that are there for them alone go."""
    alone = [(one.assignment.name, one.student_id) for one in extended if only_extended(one)]
    for submission in extended:
        submission.extension = None
    book.db.commit()
    for name, student in alone:
        book.remove_submission(name, student)


def _dates(api: NbGraderAPI, book: Gradebook, assignment: Assignment, ended: list[str]) -> Dates:
    """Take the penalties of what was graded anew, by the step that takes them when it is graded."""
    before = _penalties(assignment)
    with gradebook.one_engine():
        for student in before:
            names = {"student": student, "assignment": assignment.name, "notebook": assignment.name}
            step = TakeLatePenalties(parent=api.coursedir)
            step.preprocess(nbformat.v4.new_notebook(), {"nbgrader": names | {"db_url": api.coursedir.db_url}})
    book.db.expire_all()
    after = _penalties(assignment)
    other = {s: (before[s], after[s]) for s in sorted(before) if before[s] != after[s]}
    return Dates(assignment.duedate, {s.student_id: s.duedate for s in _extended(assignment)}, ended, other)


def _penalties(assignment: Assignment) -> dict[str, float]:
    """The penalties of all submissions that have a time at which they were handed in, by student."""
    return {
        submission.student_id: sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks)
        for submission in assignment.submissions
        if submission.timestamp is not None
    }
