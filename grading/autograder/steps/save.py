"""Save scores, comments and late penalties to the gradebook, or the reason why a submission has no score."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Assignment, BaseCell, Comment, Grade, Notebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from gradlab.words import _

from ..errors import ClassError
from . import outcome
from .scores import seconds_late

Penalty = Callable[[str, float, float], float | None]  # called with the student id, the score and the seconds late


class LatePenalties(AssignLatePenalties):
    """nbgrader's AssignLatePenalties, with its settings, for submissions whose rows are written elsewhere."""

    def penalty(self, student: str, score: float, late_s: float) -> float | None:
        """Return the plugin's penalty, clamped between 0 and the score; None if there is none.

        Raises ClassError if the plugin fails.
        """
        if not self.enabled or late_s <= 0:
            return None
        try:
            self.init_plugin()
            said = self.plugin_inst.late_submission_penalty(student, score, late_s)
            return None if said is None else min(max(said, 0.0), score)
        except Exception as error:
            why = _(
                "The plugin for late submissions failed: {error!r}. Fix it, then run the command again.", error=error
            )
            raise ClassError(why) from error


@dataclass(frozen=True)
class Scored:
    """The scores and automatic comments of a graded notebook, by grade_id.

    A score is None if it must be given manually. reason: why the submission could not be graded; then it has no scores.
    """

    scores: dict[str, float | None]
    comments: dict[str, str | None]
    reason: str = ""

    @classmethod
    def of(cls, nb: NotebookNode) -> "Scored":
        """Read scores and comments from a notebook's cells, as nbgrader does."""
        return cls(
            {cell.metadata.nbgrader["grade_id"]: determine_grade(cell)[0] for cell in nb.cells if is_grade(cell)},
            {cell.metadata.nbgrader["grade_id"]: _comment(cell) for cell in nb.cells if is_solution(cell)},
        )


def _comment(cell: NotebookNode) -> str | None:
    return _("No response.") if cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) else None


class Rows:
    """Writes an assignment's rows in nbgrader's gradebook, with one transaction per submission.

    Every query names the columns of a unique constraint, whose index keeps it fast in a gradebook of any size.
    """

    def __init__(self, course: CourseDirectory, name: str):
        self._engine = create_engine(course.db_url, poolclass=NullPool)
        with Session(self._engine) as book:
            self._assignment = book.scalar(select(Assignment.id).filter_by(name=name))
            self._notebook = book.scalar(select(Notebook.id).filter_by(assignment_id=self._assignment, name=name))
            cells = select(BaseCell.id, BaseCell.name, BaseCell.type).filter_by(notebook_id=self._notebook)
            self._cells = book.execute(cells).all()

    def save(self, student: str, scored: Scored, submitted_at: datetime | None, again: bool, penalty: Penalty) -> None:
        """Write a submission's scores and penalty. Manual points stay, but need confirmation unless `again`.

        submitted_at: the time of submission in UTC, or None if unknown; then a submission that was graded before keeps
        the one in the gradebook. again: whether this submission was graded before, so that manual points belong to it.
        penalty: called if it has a score.
        """
        with Session(self._engine) as book, book.begin():
            _row(book, Student, id=student)
            submission = _row(book, SubmittedAssignment, assignment_id=self._assignment, student_id=student)
            if submitted_at or not again:
                submission.timestamp = submitted_at
            submitted = _row(book, SubmittedNotebook, notebook_id=self._notebook, assignment_id=submission.id)
            self._write_comments(book, submitted, scored)
            score = self._write_grades(book, submitted, scored, again)
            late_s = seconds_late(submission)
            submitted.late_submission_penalty = None if score is None else penalty(student, score, late_s)

    def _write_comments(self, book: Session, submitted: SubmittedNotebook, scored: Scored) -> None:
        for name, comment in self._by_cell(book, Comment, submitted, "SolutionCell", "TaskCell"):
            comment.auto_comment = outcome.COMMENT + scored.reason if scored.reason else scored.comments.get(name)

    def _write_grades(self, book: Session, submitted: SubmittedNotebook, scored: Scored, again: bool) -> float | None:
        """Write the grades of a submitted notebook; return its score, including manual points.

        Return None if the submission could not be graded and lacks points, even manual ones.
        """
        score, whole = 0.0, True
        for name, grade in self._by_cell(book, Grade, submitted, "GradeCell", "TaskCell"):
            grade.auto_score = scored.scores.get(name)
            waits = grade.needs_manual_grade or not again
            grade.needs_manual_grade = waits if outcome.by_hand(grade) else grade.auto_score is None
            counts = grade.auto_score if grade.manual_score is None else grade.manual_score
            score += 0.0 if counts is None else counts + (grade.extra_credit or 0.0)
            whole = whole and counts is not None
        return score if whole or not scored.reason else None

    def _by_cell(self, book: Session, kind: Any, submitted: SubmittedNotebook, *cells: str) -> Iterator[tuple]:
        """Yield each cell of these types with its row of a submitted notebook, which is added if it is missing."""
        names = {cell: name for cell, name, of_type in self._cells if of_type in cells}
        of_it = (kind.notebook_id == submitted.id) & kind.cell_id.in_(names)
        there = {row.cell_id: row for row in book.scalars(select(kind).where(of_it))}
        for cell, name in names.items():
            if cell not in there:
                there[cell] = kind(cell_id=cell, notebook_id=submitted.id)
                book.add(there[cell])
            yield name, there[cell]


def _row(book: Session, kind: Any, **key: object) -> Any:
    """Return the row with this key, which is added if it is missing."""
    row = book.scalar(select(kind).filter_by(**key))
    if row is None:
        row = kind(**key)
        book.add(row)
        book.flush()
    return row
