"""Compare scores before and after grading runs, by student and exercise."""

from dataclasses import dataclass
from itertools import pairwise

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab.words import _, ngettext

from ..errors import ClassError
from ..gradebook import find_assignment
from ..steps import scores
from ..steps.scores import Scores
from .table import Column, Table
from .words import exercise_of, full_name, local, with_name


@dataclass(frozen=True)
class Change:
    """One change of a student's points. before, after: points, None if there were none. said: explanations."""

    student: str
    exercise: str
    before: float | None
    after: float | None
    said: str = ""


def compare(old: dict[str, Scores], new: dict[str, Scores]) -> list[Change]:
    """Return the changes for students who appear in both `old` and `new`, sorted by student and exercise."""
    both = sorted(old.keys() & new.keys())
    return [change for student in both for change in _of(student, old[student], new[student])]


def _of(student: str, old: Scores, new: Scores) -> list[Change]:
    again = [_("submitted again")] if old.handed_in != new.handed_in else []
    changes = []
    for cell in sorted({*old.auto, *old.hand, *new.auto, *new.hand}):
        before, after = (run_scores.hand.get(cell, run_scores.auto.get(cell)) for run_scores in (old, new))
        said = []
        if old.hand.get(cell) != new.hand.get(cell):
            said.append(_("set manually") if cell in new.hand else _("no longer set manually"))
        if cell in new.hand and old.auto.get(cell) != new.auto.get(cell):
            both = {"old": points(old.auto.get(cell)), "new": points(new.auto.get(cell))}
            said.append(_("manual points stay and hide a change in the check's points from {old} to {new}", **both))
        if None in (before, after) and (new.reason or old.reason):
            said.append(new.reason or _("previously could not be graded"))
        if before != after or said:
            changes.append(Change(student, exercise_of(cell), before, after, "; ".join(said + again)))
    if old.penalty != new.penalty:
        said = [_("points deducted"), *again]
        changes.append(Change(student, _("lateness"), 0 - old.penalty, 0 - new.penalty, "; ".join(said)))
    return changes


def lines(course: CourseDirectory, name: str) -> list[str]:
    """Return a title and a table for each run, in order: what changed until the next one, or until now.

    Raises ClassError if the assignment is unknown or no scores were logged before a run.
    """
    noted = scores.noted(course, name)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        find_assignment(gradebook, name)
        names = {student.id: full_name(student) for student in gradebook.students}
    if not noted:
        raise ClassError(_("{name} has not been graded again, so nothing has changed.", name=name))
    said = []
    states = [state for _at, state in noted] + [scores.read(course, name)]
    for (at, _state), (before, after) in zip(noted, pairwise(states), strict=True):
        changes = compare(before, after)
        numbers = {"time": local(at), "count": len(changes)}
        said.append(_("{name}: changes since just before the run of {time}: {count}", name=name, **numbers))
        said += [table(changes, names)] if changes else []
    return said


def table(changes: list[Change], names: dict[str, str]) -> str:
    """Format changes as a table, one line each. names: students' names by id."""
    columns = [
        Column(_("student"), lambda change: with_name(change.student, names.get(change.student, ""))),
        Column(_("exercise"), lambda change: change.exercise, right=True),
        # Translators: the heads of the columns of points before and after
        Column(_("from"), lambda change: points(change.before), right=True),
        Column(_("to"), lambda change: points(change.after), right=True),
        Column(_("why"), lambda change: change.said),
    ]
    return Table(columns, [(change,) for change in changes]).text()


def counted(value: float) -> str:
    """Format a number of points with its unit."""
    return ngettext("{count:g} point", "{count:g} points", value)


def points(value: float | None) -> str:
    """Format points; "none" if there are none."""
    return _("none") if value is None else f"{value:g}"
