"""Gather an assignment's report from the gradebook and the autograded notebooks, as plain data."""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from nbgrader.api import Grade, Gradebook, Notebook, Student, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory

from gradlab import ipynb
from gradlab.checks.record import CheckRecord, titled
from gradlab.words import _, of_chapter

from ..dropped import enrolled
from ..gradebook import find_notebook
from ..steps import outcome, scores
from ..steps.answer_key import stored_checks
from ..steps.bounded import Bounded, OutOfBoundsError
from ..steps.files import readable
from ..steps.outcome import Status
from . import words
from .export import each_grade
from .feedback_page import is_same, made_of
from .flags import Flag, Flagger


@dataclass(frozen=True)
class Check:
    """One check: its id and title, its cell, and its share of that cell's points."""

    check_id: str
    title: str
    cell: str
    max_points: float


@dataclass(frozen=True)
class Result:
    """The result of one check in one submission.

    passed: None without a verdict. points: None if they need a manual grade. slip: its name in English, which is data.
    reason: why it did not pass.
    """

    passed: bool | None
    points: float | None
    slip: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Row:
    """One student's row: status, score or None, points by check cell, and results by check id.

    reason: why there is no score. pages: links by label. notebook: the autograded notebook, None if there is none.
    outdated: whether the feedback page is outdated. ran: whether any check could run. name: the student's. on_roster:
    whether the gradebook has a name, e-mail address or platform id; grading adds students without. late: the delay as
    text, such as "1 day, 2:00:00"; "" if the submission is on time. penalty: points deducted. by_hand: points that were
    set manually, by cell.
    """

    student: str
    status: str
    score: float | None
    reason: str = ""
    points: dict[str, float] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)
    pages: dict[str, Path] = field(default_factory=dict)
    notebook: Path | None = None
    outdated: bool = False
    ran: bool = True
    name: str = ""
    on_roster: bool = False
    late: str = ""
    penalty: float = 0.0
    by_hand: dict[str, float] = field(default_factory=dict)

    @property
    def current(self) -> dict[str, Result]:
        """The results by check id; empty if the submission must be graded again."""
        return {} if self.status == Status.STALE else self.results

    @property
    def reasons(self) -> dict[str, str]:
        """The reasons for missing points by check id, and for a missing score under ""."""
        reasons = {"": self.reason} | {check_id: result.reason for check_id, result in self.results.items()}
        return {check_id: reason for check_id, reason in reasons.items() if reason}


@dataclass(frozen=True)
class Report:
    """The report of one assignment, with its title, checks sorted by cell and rows by student."""

    assignment: str
    title: str
    made: datetime
    max_score: float
    checks: list[Check]
    rows: list[Row]

    @property
    def scores(self) -> list[float]:
        """All existing scores."""
        return [row.score for row in self.rows if row.score is not None]

    @property
    def counts(self) -> dict[str, int]:
        """The number of students by status, without zeros."""
        counts = Counter(row.status for row in self.rows)
        return {status: counts[status] for status in Status if counts[status]}


def gather(course: CourseDirectory, name: str, search: bool = True, only: str | None = None) -> Report:
    """Read the gradebook and the autograded notebooks; raise ClassError if the gradebook has no such assignment.

    search: whether to search for lines to flag, which takes time. only: report only on the student with this id.
    """
    with Gradebook(course.db_url, course.course_id) as gradebook:
        notebook = find_notebook(gradebook, name)
        assignment = notebook.assignment
        checks = _checks(notebook, stored_checks(course, name))
        students = [student.id for student in enrolled(gradebook, course)]
        released = Path(course.format_path(course.release_directory, ".", name))
        flagger = Bounded(Flagger(released, name, students).flags) if search else None
        rows = []
        for student, submission, grade in each_grade(gradebook, course, assignment):
            if only not in (None, student.id):
                continue
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades] if submission else []
            try:
                row = _row(course, grade, grades, checks, flagger)
                outdated = submission is not None and _is_outdated(course, row, submission)
            except Exception as error:
                said = readable(f"{type(error).__name__}: {error}")[:200]
                reason = _("it could not be read ({error}); grade it again", error=said)
                row, outdated = Row(readable(student.id), grade["status"], grade["score"], reason), False
            rows.append(replace(row, outdated=outdated, **_circumstances(student, submission)))
        if flagger:
            flagger.close()
        title, made = words.chapter(course, name), datetime.now().astimezone()
        return Report(name, title, made, assignment.max_score, checks, rows)


def _checks(notebook: Notebook, stated: dict[str, dict[str, CheckRecord]]) -> list[Check]:
    """Return an assignment's checks; a cell that is graded manually, or has no record, counts as one check."""
    checks = []
    for cell in sorted(notebook.grade_cells, key=lambda cell: cell.name):
        head = words.exercise_of(cell.name)
        titles = {i: titled(check.title) for i, check in stated.get(cell.name, {}).items()} or {head: head}
        checks += [Check(i, title, cell.name, cell.max_score / len(titles)) for i, title in titles.items()]
    return checks


def _row(course: CourseDirectory, row: dict, grades: list[Grade], checks: list[Check], flagger: Bounded | None) -> Row:
    student, name, status = row["student_id"], row["assignment"], row["status"]
    folder = Path(course.format_path(course.autograded_directory, student, name))
    path = folder / f"{name}.ipynb"
    feedback = Path(course.format_path(course.feedback_directory, student, name), f"{name}.html")
    pages = {"feedback": feedback} if feedback.exists() else {}
    there = path if path.exists() else None
    summary = Row(readable(student), status, row["score"], readable(row["reason"]), pages=pages, notebook=there)
    if status not in (Status.GRADED, Status.NEEDS_MANUAL, Status.STALE) or not there:
        return summary
    notebook = ipynb.read(path.read_bytes())
    cells = {ipynb.grade_id(cell): cell for cell in notebook["cells"]}
    graded = {grade.name: grade for grade in sorted(grades, key=lambda grade: grade.name)}
    results = {}
    for check in (check for check in checks if check.cell in cells and check.cell in graded):
        together = [other for other in checks if other.cell == check.cell]
        results[check.check_id] = _result(check, together, cells[check.cell], graded[check.cell])
    return replace(
        summary,
        points={} if status == Status.STALE else {cell: grade.score for cell, grade in graded.items()},
        results=results,
        flags=_flags(flagger, notebook, folder, student) if flagger else [],
        ran=outcome.ran(notebook),
    )


def _circumstances(student: Student, submission: SubmittedAssignment | None) -> dict:
    """Return a row's name, lateness, penalty and manual points; without a time or a due date, it is on time."""
    on_roster = any((student.first_name, student.last_name, student.email, student.lms_user_id))
    row = {"name": words.full_name(student), "on_roster": on_roster}
    if submission is None:
        return row
    # nbgrader cannot add an extension to a due date that was removed
    late_s = submission.total_seconds_late if submission.assignment.duedate else 0
    now = scores.of(submission)
    return row | {"late": words.duration(late_s) if late_s else "", "penalty": now.penalty, "by_hand": now.hand}


def _is_outdated(course: CourseDirectory, row: Row, submission: SubmittedAssignment) -> bool:
    """Return whether `feedback` would make a student's existing page again; False if grading must come first."""
    if "feedback" not in row.pages or row.notebook is None or row.status in (Status.STALE, Status.UNGRADED):
        return False
    (notebook,) = (notebook for notebook in submission.notebooks if notebook.name == row.notebook.stem)
    return not is_same(row.pages["feedback"], made_of(course, notebook, row.notebook))


def _flags(flagger: Bounded, notebook: dict, folder: Path, student: str) -> list[Flag]:
    """Return a submission's flags; if it cannot be searched, return a flag that says so."""
    try:
        return flagger({"cells": [cell | {"outputs": []} for cell in notebook["cells"]]}, folder, student)
    except Exception as error:
        said = str(error) if isinstance(error, OutOfBoundsError) else readable(repr(error))[:200]
        return [Flag("", 0, "", _("it could not be searched: {error}", error=said))]


def _result(check: Check, together: list[Check], cell: dict, grade: Grade) -> Result:
    """Return a check's result; manual points are divided equally among the cell's checks."""
    verdicts = outcome.read_verdicts(cell) if cell["metadata"]["nbgrader"].get("locked") else {}
    verdict = verdicts.get(check.check_id)
    passed = [c.check_id in verdicts and verdicts[c.check_id].passed for c in together]
    share: float | None = check.max_points * passed[together.index(check)]
    if not math.isclose(check.max_points * sum(passed), grade.score, abs_tol=1e-9):
        share = grade.score / len(together)
    if grade.auto_score is None and grade.manual_score is None:
        share = None
    slip = verdict.slip if verdict else ""
    why = verdict.feedback.lead if verdict and not verdict.passed else ""
    why = _("slip: {name}", name=of_chapter(check.check_id, slip)) if slip else why
    by_hand = _("points set manually") if grade.manual_score is not None else ""
    reason = readable("; ".join(filter(None, [why, by_hand])))
    return Result(verdict.passed if verdict else None, share, readable(slip), reason)
