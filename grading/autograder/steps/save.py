"""Save scores, comments and late penalties to the gradebook, or the reason why a submission has no score."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution
from sqlalchemy import Connection, bindparam, create_engine, insert, select, update
from sqlalchemy.pool import NullPool

from gradlab.words import _

from ..errors import ClassError
from . import outcome

ASSIGNMENT, CELL, NOTEBOOK = (kind.__table__ for kind in (api.Assignment, api.BaseCell, api.Notebook))
STUDENT, SUBMISSION = (kind.__table__ for kind in (api.Student, api.SubmittedAssignment))
SUBMITTED, GRADE, COMMENT = (kind.__table__ for kind in (api.SubmittedNotebook, api.Grade, api.Comment))
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
    """Writes an assignment's rows in nbgrader's tables, with one transaction per submission.

    Every query names the columns of a unique constraint, whose index keeps it fast in a gradebook of any size.
    """

    def __init__(self, course: CourseDirectory, name: str):
        self._engine = create_engine(course.db_url, poolclass=NullPool)
        with self._engine.connect() as rows:
            self._assignment = rows.scalar(select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.name == name))
            of_it = (NOTEBOOK.c.assignment_id == self._assignment) & (NOTEBOOK.c.name == name)
            self._notebook = rows.scalar(select(NOTEBOOK.c.id).where(of_it))
            cells = select(CELL.c.id, CELL.c.name, CELL.c.type).where(CELL.c.notebook_id == self._notebook)
            self._cells = rows.execute(cells).all()

    def save(self, student: str, scored: Scored, submitted_at: datetime | None, again: bool, penalty: Penalty) -> None:
        """Write a submission's scores and penalty. Manual points stay, but need confirmation unless `again`.

        submitted_at: the time of submission in UTC, or None if unknown. again: whether this submission was graded
        before, so that manual points belong to it. penalty: called if it has a score.
        """
        with self._engine.begin() as rows:
            if rows.scalar(select(STUDENT.c.id).where(STUDENT.c.id == student)) is None:
                rows.execute(insert(STUDENT), {"id": student})
            submission, late_s = self._submission(rows, student, submitted_at, again)
            of_it = (SUBMITTED.c.notebook_id == self._notebook) & (SUBMITTED.c.assignment_id == submission)
            submitted = rows.scalar(select(SUBMITTED.c.id).where(of_it))
            if submitted is None:
                submitted = api.new_uuid()
                row = {"id": submitted, "notebook_id": self._notebook, "assignment_id": submission}
                rows.execute(insert(SUBMITTED), row)
            score = self._write_cells(rows, submitted, scored, again)
            taken_off = None if score is None else penalty(student, score, late_s)
            row = {"late_submission_penalty": taken_off}
            rows.execute(update(SUBMITTED).where(SUBMITTED.c.id == submitted), row)

    def _submission(
        self, rows: Connection, student: str, submitted_at: datetime | None, again: bool
    ) -> tuple[str, float]:
        """Return the id of a submission's row, creating it if missing, and how many seconds late the submission is.

        A submission without a time keeps the one that the gradebook has for it; a new one never gets that of the last.
        """
        due = rows.scalar(select(ASSIGNMENT.c.duedate).where(ASSIGNMENT.c.id == self._assignment))
        query = select(SUBMISSION.c.id, SUBMISSION.c.timestamp, SUBMISSION.c.extension)
        of_it = (SUBMISSION.c.assignment_id == self._assignment) & (SUBMISSION.c.student_id == student)
        stored = rows.execute(query.where(of_it)).first()
        if stored is None:
            number, extension = api.new_uuid(), None
            row = {"id": number, "assignment_id": self._assignment, "student_id": student, "timestamp": submitted_at}
            rows.execute(insert(SUBMISSION), row)
        else:
            number, before, extension = stored
            submitted_at = submitted_at or (before if again else None)
            if submitted_at != before:
                rows.execute(update(SUBMISSION).where(SUBMISSION.c.id == number), {"timestamp": submitted_at})
        if due is None or submitted_at is None:
            return number, 0.0
        return number, (submitted_at - due - extension if extension else submitted_at - due).total_seconds()

    def _write_cells(self, rows: Connection, submitted: str, scored: Scored, again: bool) -> float | None:
        """Write the grades and comments of a submitted notebook; return its score, including manual points.

        Return None if the submission could not be graded and lacks points, even manual ones.
        """
        ids = [cell.id for cell in self._cells]
        query = select(GRADE.c.cell_id, GRADE.c.manual_score, GRADE.c.extra_credit, GRADE.c.needs_manual_grade)
        of_it = GRADE.c.cell_id.in_(ids) & (GRADE.c.notebook_id == submitted)
        grades = {row.cell_id: row for row in rows.execute(query.where(of_it))}
        of_it = COMMENT.c.cell_id.in_(ids) & (COMMENT.c.notebook_id == submitted)
        comments = set(rows.scalars(select(COMMENT.c.cell_id).where(of_it)))
        score, whole, graded, said = 0.0, True, [], []
        for cell, name, kind in self._cells:
            if kind in ("GradeCell", "TaskCell"):
                auto = scored.scores.get(name)
                before = grades.get(cell)
                waits = auto is None
                if before is not None and outcome.by_hand(before):
                    waits = before.needs_manual_grade or not again
                by_hand, extra = (before.manual_score, before.extra_credit) if before is not None else (None, None)
                counts = by_hand if by_hand is not None else auto
                score += 0.0 if counts is None else counts + (extra or 0.0)
                whole = whole and counts is not None
                graded.append({"cell": cell, "submitted": submitted, "auto_score": auto, "needs_manual_grade": waits})
            if kind in ("SolutionCell", "TaskCell"):
                text = outcome.COMMENT + scored.reason if scored.reason else scored.comments.get(name)
                said.append({"cell": cell, "submitted": submitted, "auto_comment": text})
        _put(rows, GRADE, graded, set(grades))
        _put(rows, COMMENT, said, comments)
        return score if whole or not scored.reason else None


def _put(rows: Connection, table, wanted: list[dict], there: set[str]) -> None:
    """Write `wanted` to `table`: insert rows for cells not in `there`; update the rows of the other cells."""
    new = [row for row in wanted if row["cell"] not in there]
    old = [row for row in wanted if row["cell"] in there]
    if new:
        keys = {"cell": "cell_id", "submitted": "notebook_id"}
        rows.execute(insert(table), [{keys.get(key, key): value for key, value in row.items()} for row in new])
    if old:
        same = (table.c.cell_id == bindparam("cell")) & (table.c.notebook_id == bindparam("submitted"))
        rows.execute(update(table).where(same), old)
