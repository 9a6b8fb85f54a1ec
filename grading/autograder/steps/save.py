"""The saving step: scores and comments go into the gradebook, and the notebook says so."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from nbformat import NotebookNode
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution
from sqlalchemy import Connection, bindparam, create_engine, insert, select, update
from sqlalchemy.pool import NullPool

from . import outcome

ASSIGNMENT, CELL, NOTEBOOK, STUDENT = (kind.__table__ for kind in (Assignment, BaseCell, Notebook, Student))
SUBMISSION, SUBMITTED, GRADE, COMMENT = (
    kind.__table__ for kind in (SubmittedAssignment, SubmittedNotebook, Grade, Comment)
)
NO_RESPONSE = "No response."
Penalty = Callable[[str, float, float], float | None]  # of a student, the score, and the seconds late


class SaveGrades(SaveAutoGrades):
    """Write scores to the gradebook; from then on the notebook's outcome is that they are saved."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Let nbgrader save the scores."""
        self._again = outcome.read(nb).again
        nb, resources = super().preprocess(nb, resources)
        outcome.write(nb, replace(outcome.read(nb), saved=True))
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: dict) -> None:
        """Save one score. Points given by hand wait to be confirmed, but only if they were given to another submission.

        nbgrader lets them wait each time.
        """
        names = resources["nbgrader"]
        grade_id = cell.metadata.nbgrader["grade_id"]
        grade = self.gradebook.find_grade(grade_id, names["notebook"], names["assignment"], names["student"])
        waited = grade.needs_manual_grade
        super()._add_score(cell, resources)
        if outcome.by_hand(grade):
            grade.needs_manual_grade = waited or not self._again
            self.gradebook.db.commit()


@dataclass(frozen=True)
class Scored:
    """What the gradebook takes of a graded notebook: scores and automatic comments, by grade_id.

    A score is None where a person must give it.
    """

    scores: dict[str, float | None]
    comments: dict[str, str | None]

    @classmethod
    def of(cls, nb: NotebookNode) -> "Scored":
        """What nbgrader reads from a notebook's cells."""
        return cls(
            {cell.metadata.nbgrader["grade_id"]: determine_grade(cell)[0] for cell in nb.cells if is_grade(cell)},
            {cell.metadata.nbgrader["grade_id"]: _comment(cell) for cell in nb.cells if is_solution(cell)},
        )


def _comment(cell: NotebookNode) -> str | None:
    return NO_RESPONSE if cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) else None


class Rows:
    """The gradebook's rows of an assignment, in nbgrader's own tables; those of a submission are one transaction."""

    def __init__(self, course: CourseDirectory, name: str):
        self._engine = create_engine(course.db_url, poolclass=NullPool)
        with self._engine.connect() as rows:
            self._assignment = rows.scalar(select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.name == name))
            notebooks = select(NOTEBOOK.c.id, NOTEBOOK.c.name).where(NOTEBOOK.c.assignment_id == self._assignment)
            self._notebooks = {id_: notebook == name for id_, notebook in rows.execute(notebooks)}
            cells = select(CELL.c.id, CELL.c.notebook_id, CELL.c.name, CELL.c.type)
            self._cells = rows.execute(cells.where(CELL.c.notebook_id.in_(self._notebooks))).all()

    def save(self, student: str, scored: Scored, handed_in: datetime | None, again: bool, penalty: Penalty) -> None:
        """Write what a submission is worth. Points given by hand stay, and wait to be confirmed unless `again`.

        handed_in: when, None if nothing says so. again: it was graded before, and points given by hand are points of
        it. penalty: asked where it is late.
        """
        with self._engine.begin() as rows:
            if rows.scalar(select(STUDENT.c.id).where(STUDENT.c.id == student)) is None:
                rows.execute(insert(STUDENT), {"id": student})
            submission, late_s = self._submission(rows, student, handed_in)
            query = select(SUBMITTED.c.notebook_id, SUBMITTED.c.id).where(SUBMITTED.c.assignment_id == submission)
            there = dict(rows.execute(query).all())
            for notebook, is_ours in self._notebooks.items():
                score = self._write_cells(rows, notebook, there, submission, scored if is_ours else None, again)
                taken_off = penalty(student, score, late_s) if late_s > 0 and is_ours else None
                notebook_row = update(SUBMITTED).where(SUBMITTED.c.id == there[notebook])
                rows.execute(notebook_row, {"late_submission_penalty": taken_off})

    def _submission(self, rows: Connection, student: str, handed_in: datetime | None) -> tuple[str, float]:
        """The id of a submission's row, which is made where there is none, and by how many seconds it is late."""
        due = rows.scalar(select(ASSIGNMENT.c.duedate).where(ASSIGNMENT.c.id == self._assignment))
        query = select(SUBMISSION.c.id, SUBMISSION.c.timestamp, SUBMISSION.c.extension)
        of_it = (SUBMISSION.c.assignment_id == self._assignment) & (SUBMISSION.c.student_id == student)
        found = rows.execute(query.where(of_it)).first()
        if found is None:
            row = {"id": new_uuid(), "assignment_id": self._assignment, "student_id": student, "timestamp": handed_in}
            rows.execute(insert(SUBMISSION), row)
            number, extension = row["id"], None
        else:
            number, before, extension = found
            handed_in = handed_in or before
            if handed_in != before:
                rows.execute(update(SUBMISSION).where(SUBMISSION.c.id == number), {"timestamp": handed_in})
        if due is None or handed_in is None:
            return number, 0.0
        return number, (handed_in - due - extension if extension else handed_in - due).total_seconds()

    def _write_cells(
        self, rows: Connection, notebook: str, there: dict, submission: str, scored: Scored | None, again: bool
    ) -> float:
        """Write the grades and comments of one notebook; returns its score, with what was given by hand.

        scored: None for another notebook of the assignment, which nobody can hand in and is worth nothing.
        """
        if notebook not in there:
            there[notebook] = new_uuid()
            rows.execute(
                insert(SUBMITTED), {"id": there[notebook], "notebook_id": notebook, "assignment_id": submission}
            )
        place = there[notebook]
        query = select(GRADE.c.cell_id, GRADE.c.manual_score, GRADE.c.extra_credit, GRADE.c.needs_manual_grade)
        grades = {row.cell_id: row for row in rows.execute(query.where(GRADE.c.notebook_id == place))}
        comments = set(rows.scalars(select(COMMENT.c.cell_id).where(COMMENT.c.notebook_id == place)))
        score, graded, said = 0.0, [], []
        for cell, _, name, kind in (cell for cell in self._cells if cell.notebook_id == notebook):
            if kind in ("GradeCell", "TaskCell"):
                auto = 0.0 if scored is None else scored.scores.get(name)
                before = grades.get(cell)
                waits = auto is None
                if before is not None and outcome.by_hand(before):
                    waits = before.needs_manual_grade or not again
                by_hand, extra = (before.manual_score, before.extra_credit) if before is not None else (None, None)
                counts = by_hand if by_hand is not None else auto
                score += 0.0 if counts is None else counts + (extra or 0.0)
                graded.append({"cell": cell, "place": place, "auto_score": auto, "needs_manual_grade": waits})
            if kind in ("SolutionCell", "TaskCell"):
                text = None if scored is None else scored.comments.get(name)
                said.append({"cell": cell, "place": place, "auto_comment": text})
        _put(rows, GRADE, graded, set(grades))
        _put(rows, COMMENT, said, comments)
        return score


def _put(rows: Connection, table, wanted: list[dict], there: set[str]) -> None:
    """Insert what is not there yet, and update the rest: rows of `table` by their cell and notebook."""
    new = [row for row in wanted if row["cell"] not in there]
    old = [row for row in wanted if row["cell"] in there]
    if new:
        keys = {"cell": "cell_id", "place": "notebook_id"}
        rows.execute(insert(table), [{keys.get(key, key): value for key, value in row.items()} for row in new])
    if old:
        same = (table.c.cell_id == bindparam("cell")) & (table.c.notebook_id == bindparam("place"))
        rows.execute(update(table).where(same), old)
