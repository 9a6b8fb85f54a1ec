"""Keep or drop points that were set manually for an earlier submission."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory

from gradlab.words import _

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError, did_you_mean
from ..run.lock import only_run
from ..settings import open_class
from ..steps.files import readable
from ..steps.outcome import undecided
from ..views.changes import points
from ..views.words import exercise_of


@dataclass(frozen=True)
class Undecided:
    """Points set manually for an earlier submission. auto: the check's points for the new submission, or None."""

    student: str
    cell: str
    by_hand: float
    auto: float | None

    def __str__(self):
        said = _("{by_hand:g} set manually, {auto} by the check", by_hand=self.by_hand, auto=points(self.auto))
        return f"{self.student}: {exercise_of(self.cell)}: {said}"


def listed(course: CourseDirectory, name: str) -> list[Undecided]:
    """Return all points of an assignment that need a decision, sorted by student and cell."""
    with Gradebook(course.db_url, course.course_id) as book:
        return sorted(_waiting(book, course, name), key=lambda points: (points.student, points.cell))


def decide(folder: Path, name: str, students: list[str], keep: bool) -> list[Undecided]:
    """Keep these students' manual points, or drop them so that the check's points count; return the decisions.

    Raises ClassError, and changes nothing, if one of the students has no points that need a decision.
    """
    course = open_class(folder).coursedir
    with only_run(folder), gradebook.needed(course), Gradebook(course.db_url, course.course_id) as book:
        waiting = list(_waiting(book, course, name))
        known = sorted({points.student for points in waiting})
        for student in students:
            if student not in known:
                none = _("{student} has no points that need a decision.", student=readable(student))
                raise ClassError(none + did_you_mean(student, known))
            for grade in undecided(book.find_submission_notebook(name, name, student)):
                if not keep:
                    grade.manual_score = grade.extra_credit = None
                grade.needs_manual_grade = grade.auto_score is None and not keep
        book.db.commit()
        return [points for points in waiting if points.student in students]


def _waiting(book: Gradebook, course: CourseDirectory, name: str) -> Iterator[Undecided]:
    notebook = gradebook.find_notebook(book, name)
    out = dropped(course)
    submitted: list[SubmittedNotebook] = notebook.submissions
    for submission in (submission for submission in submitted if submission.student.id not in out):
        for grade in undecided(submission):
            yield Undecided(submission.student.id, grade.name, grade.score, grade.auto_score)
