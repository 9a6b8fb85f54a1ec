"""Keep or drop points that were set manually for an earlier submission."""

from pathlib import Path

from nbgrader.api import Grade, Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab.words import _

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError, did_you_mean
from ..run.lock import only_run
from ..settings import open_class
from ..steps.files import readable
from ..steps.outcome import TO_DECIDE, undecided
from ..views.changes import points
from ..views.words import exercise_of


def listed(course: CourseDirectory, name: str) -> tuple[str, list[str]]:
    """Return a title, and all points of an assignment that need a decision, sorted by student and cell."""
    title = _("Points set manually for an earlier submission ({command})", command=TO_DECIDE.format(name))
    with Gradebook(course.db_url, course.course_id) as book:
        return title, [line for lines in _waiting(book, course, name).values() for line in lines]


def decide(folder: Path, name: str, students: list[str], keep: bool) -> list[str]:
    """Keep these students' manual points, or drop them so that the check's points count; return them as lines.

    Raises ClassError, and changes nothing, if one of the students has no points that need a decision.
    """
    course = open_class(folder).coursedir
    with only_run(folder), gradebook.needed(course), Gradebook(course.db_url, course.course_id) as book:
        waiting = _waiting(book, course, name)
        for student in students:
            if student not in waiting:
                none = _("{student} has no points that need a decision.", student=readable(student))
                raise ClassError(none + did_you_mean(student, waiting))
            for grade in undecided(book.find_submission_notebook(name, name, student)):
                if not keep:
                    grade.manual_score = grade.extra_credit = None
                grade.needs_manual_grade = grade.auto_score is None and not keep
        book.db.commit()
        return [line for student, lines in waiting.items() if student in students for line in lines]


def _waiting(book: Gradebook, course: CourseDirectory, name: str) -> dict[str, list[str]]:
    """Return lines about the points that need a decision, by student."""
    notebook, out = gradebook.find_notebook(book, name), dropped(course)
    submitted = {notebook.student.id: undecided(notebook) for notebook in notebook.submissions}
    return {
        student: list(map(_line, grades))
        for student, grades in sorted(submitted.items())
        if grades and student not in out
    }


def _line(grade: Grade) -> str:
    said = _("{by_hand:g} set manually, {auto} by the check", by_hand=grade.score, auto=points(grade.auto_score))
    return f"{grade.student.id}: {exercise_of(grade.name)}: {said}"
