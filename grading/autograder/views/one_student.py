"""Say how one student's grade in an assignment came about: points, reasons, dates, changes, and where to see more."""

from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from ..errors import ClassError, did_you_mean
from ..steps.files import readable
from .changes import compare_all, points
from .renderings import rows_as_text
from .report import Report, Row, gather
from .standing import in_words
from .submission_page import write_pages
from .words import local


def lines(course: CourseDirectory, name: str, student: str) -> list[str]:
    """Return the student's rows of the report and further facts, and nothing about others.

    Writes the submission's page into the class's folder `reports` if it is missing or outdated. Raises ClassError if
    the gradebook has no such assignment or student.
    """
    report = gather(course, name, only=student)
    if not report.rows:
        with Gradebook(course.db_url, course.course_id) as gradebook:
            meant = did_you_mean(student, [person.id for person in gradebook.students])
        raise ClassError(f"The gradebook has no student {readable(student)}.{meant}")
    return rows_as_text(report) + list(_facts(course, report, report.rows[0]))


def _facts(course: CourseDirectory, report: Report, row: Row) -> Iterator[str]:
    yield f"points out of {report.max_score:g}"
    standing = row.standing
    if standing.submitted_at:
        yield f"submitted {local(standing.submitted_at)}"
    extended = f", with an extension of {in_words(standing.extension_s)}" if standing.extension_s else ""
    yield f"due {local(standing.due)}{extended}" if standing.due else "no due date"
    for at, changes in compare_all(course, report.assignment):
        for change in (change for change in changes if change.student == row.student):
            said = f" ({readable(change.said)})" if change.said else ""
            moved = f"{change.exercise} from {points(change.before)} to {points(change.after)}{said}"
            yield f"changed since the run of {local(at)}: {moved}"
    pages = dict(write_pages(course, report, Path(course.root, "reports", report.assignment)))
    yield from map(str, [*row.pages.values(), *pages.values()])
