"""Set due dates and extensions, and recompute the late penalties of graded submissions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment
from nbgrader.apps import NbGraderAPI

from gradlab.words import _

from .. import gradebook
from ..dropped import enrolled
from ..errors import ClassError, did_you_mean
from ..run.lock import only_run
from ..settings import open_class
from ..steps import outcome, scores
from ..steps.files import readable
from ..steps.save import LatePenalties
from ..views.words import local


@dataclass(frozen=True)
class Dates:
    """The result of a change of dates; times are in UTC.

    due: the general due date, None if there is none. extended: later dates by student. ended: students whose extension
    was removed because the general date is at least as late, or there is none. penalties: changed penalties by student,
    as (old, new).
    """

    due: datetime | None
    extended: dict[str, datetime]
    ended: list[str]
    penalties: dict[str, tuple[float, float]]


def set_due(folder: Path, name: str, due: datetime | None) -> Dates:
    """Set an assignment's due date in UTC; None removes it.

    Extensions beyond the new date keep their dates; all others are removed. Raises ClassError if the assignment
    is unknown.
    """
    api = open_class(folder)
    with only_run(folder), Gradebook(api.coursedir.db_url, api.coursedir.course_id) as book:
        assignment = gradebook.find_assignment(book, name)
        extended = [(submission, _until(submission)) for submission in _extended(assignment)]
        assignment.duedate, ended = due, list[SubmittedAssignment]()
        for submission, until in extended:
            if due and until and until > due:
                submission.extension = until - due
            else:
                ended.append(submission)
        students = sorted(submission.student_id for submission in ended)
        _end(book, ended)
        return _dates(api, book, assignment, students)


def extend(folder: Path, student: str, name: str, until: datetime | None) -> Dates:
    """Give one student a later due date in UTC; None removes the extension.

    nbgrader stores extensions in submissions, so a student without a submission gets an entry without grades. Raises
    ClassError if the student or assignment is unknown, or if the due date is missing or not before `until`.
    """
    api = open_class(folder)
    with only_run(folder), Gradebook(api.coursedir.db_url, api.coursedir.course_id) as book:
        assignment = gradebook.find_assignment(book, name)
        known = [person.id for person in enrolled(book, api.coursedir)]
        if student not in known:
            unknown = _("The gradebook has no student {student}.", student=readable(student))
            raise ClassError(unknown + did_you_mean(student, known))
        if until is None:
            _end(book, [submission for submission in _extended(assignment) if submission.student_id == student])
        elif assignment.duedate is None:
            command = f"autograder due {name} DATE"
            raise ClassError(_("There is no due date for everyone yet. Set one with: {command}", command=command))
        elif until <= assignment.duedate:
            date = local(assignment.duedate)
            raise ClassError(_("The due date for everyone is {date}; an extension must be later.", date=date))
        else:
            submission = book.update_or_create_submission(name, student)
            submission.extension = until - assignment.duedate
            book.db.commit()
        return _dates(api, book, assignment, [])


def extend_all(folder: Path, name: str, until: Mapping[str, datetime]) -> Dates:
    """Give each of these students a due date in UTC, by id, unless theirs is as late already, or there is none."""
    api = open_class(folder)
    with only_run(folder), Gradebook(api.coursedir.db_url, api.coursedir.course_id) as book:
        assignment = gradebook.find_assignment(book, name)
        enrolled_ids = {student.id for student in enrolled(book, api.coursedir)}
        now = {submission.student_id: _until(submission) for submission in assignment.submissions}
        for student, date in until.items() if assignment.duedate else ():
            if student in enrolled_ids and date > now.get(student, assignment.duedate):
                book.update_or_create_submission(name, student).extension = date - assignment.duedate
        book.db.commit()
        return _dates(api, book, assignment, [])


def _extended(assignment: Assignment) -> list[SubmittedAssignment]:
    return [submission for submission in assignment.submissions if submission.extension is not None]


def _until(submission: SubmittedAssignment) -> datetime | None:
    """Return a submission's due date; None if the assignment has none, such as after Formgrader removed it."""
    return submission.duedate if submission.assignment.duedate else None


def _end(book: Gradebook, extended: list[SubmittedAssignment]) -> None:
    """Remove these submissions' extensions, and entries that exist only for them; save all changes to the gradebook."""
    alone = [(s.assignment.name, s.student_id) for s in extended if scores.only_extended(s)]
    for submission in extended:
        submission.extension = None
    book.db.commit()
    for name, student in alone:
        book.remove_submission(name, student)


def _dates(api: NbGraderAPI, book: Gradebook, assignment: Assignment, ended: list[str]) -> Dates:
    """Recompute the penalties of graded submissions as grading does; return the dates and the changed penalties.

    If there is no due date, for example because Formgrader removed it, extensions end.
    """
    if assignment.duedate is None:
        ended = [*ended, *(s.student_id for s in _extended(assignment))]
        _end(book, _extended(assignment))
    late, changed = LatePenalties(parent=api.coursedir), {}
    for student, submission in sorted(scores.submissions(book, assignment).items()):
        before = scores.of(submission).penalty
        for notebook in submission.notebooks:
            no_score, late_s = outcome.reason_in_gradebook(notebook), submission.total_seconds_late
            notebook.late_submission_penalty = None if no_score else late.penalty(student, notebook.score, late_s)
        after = scores.of(submission).penalty
        if after != before:
            changed[student] = before, after
    book.db.commit()
    return Dates(assignment.duedate, {s.student_id: s.duedate for s in _extended(assignment)}, ended, changed)
