"""The report of an assignment: gathered once, from the gradebook and the autograded notebooks, into plain data."""

import ast
import json
import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nbgrader.api import Grade, Gradebook, MissingEntry, Notebook
from nbgrader.coursedir import CourseDirectory

from ..errors import ClassError
from .export import GRADED, NEEDS_MANUAL, STATUSES, grade_row, submissions
from .flags import Flag, Look, plain


@dataclass(frozen=True)
class Check:
    """One exercise: its id and title, the cell in which it stands, and its share of that cell's points."""

    check_id: str
    title: str
    cell: str
    max_points: float


@dataclass(frozen=True)
class Result:
    """What one check of one submission came to.

    passed: None without a verdict. points: None while they wait for a grade by hand. reason: why it did not pass.
    seconds: of its cell, as the kernel tells it; None if the cell was not run.
    """

    passed: bool | None
    points: float | None
    slip: str = ""
    reason: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Row:
    """One student: status, score or None, points by check cell, and results by check id.

    reason: why there is no score. seconds: for all runs of the submission. pages: where to look, by what it is.
    """

    student: str
    status: str
    score: float | None
    reason: str = ""
    points: dict[str, float] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    seconds: float | None = None
    flags: list[Flag] = field(default_factory=list)
    pages: dict[str, Path] = field(default_factory=dict)

    @property
    def reasons(self) -> dict[str, str]:
        """Why points are missing, by check id; why there is no score, under ""."""
        found = {"": self.reason} | {check_id: result.reason for check_id, result in self.results.items()}
        return {check_id: reason for check_id, reason in found.items() if reason}


@dataclass(frozen=True)
class Report:
    """All that is known of one assignment, checks in order of their cells and students in order of their names."""

    assignment: str
    made: datetime
    max_score: float
    checks: list[Check]
    rows: list[Row]

    @property
    def scores(self) -> list[float]:
        """The scores of those who have one."""
        return [row.score for row in self.rows if row.score is not None]

    @property
    def counts(self) -> dict[str, int]:
        """How many students there are of each status."""
        found = Counter(row.status for row in self.rows)
        return {status: found[status] for status in STATUSES if found[status]}


def gather(course: CourseDirectory, name: str) -> Report:
    """Read the gradebook and the autograded notebooks; raises ClassError if the gradebook has no such assignment."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        try:
            assignment, notebook = gradebook.find_assignment(name), gradebook.find_notebook(name, name)
        except MissingEntry:
            raise ClassError(f"{name} is not in the gradebook: nbgrader generate_assignment {name}") from None
        checks, by_hand = _checks(notebook)
        students = sorted(gradebook.students, key=lambda student: student.id)
        released = Path(course.format_path(course.release_directory, ".", name))
        look = Look(released, name, by_hand, [student.id for student in students])
        handed_in = submissions(gradebook, assignment)
        rows = []
        for student in students:
            submission = handed_in.get(student.id)
            grades = [grade for one in submission.notebooks for grade in one.grades] if submission else []
            rows.append(_row(course, grade_row(assignment, student, submission), grades, checks, look))
        return Report(name, datetime.now().astimezone(), assignment.max_score, checks, rows)


def _checks(notebook: Notebook) -> tuple[list[Check], list[str]]:
    """The checks of an assignment, and the functions that are to do without autograd, as its check cells name them."""
    checks, by_hand = [], []
    sources = {cell.name: cell.source for cell in notebook.source_cells if cell.locked and cell.cell_type == "code"}
    for cell in sorted(notebook.grade_cells, key=lambda cell: cell.name):
        calls = [n for n in ast.walk(ast.parse(sources.get(cell.name, ""))) if isinstance(n, ast.Call)]
        calls = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "check"]
        titles = [call.args[0].value for call in sorted(calls, key=lambda call: call.lineno)]
        titles = titles or [_head(cell.name)]  # graded by hand
        checks += [Check(title.split()[0], title, cell.name, cell.max_score / len(titles)) for title in titles]
        forbidden = [
            c for c in calls if any(k.arg == "autograd" and ast.unparse(k.value) == "False" for k in c.keywords)
        ]
        by_hand += [ast.unparse(call.args[1]) for call in forbidden]
    return checks, by_hand


def _head(cell: str) -> str:
    return cell.removeprefix("check-").replace("-", ".")


def _row(course: CourseDirectory, row: dict, grades: list[Grade], checks: list[Check], look: Look) -> Row:
    student, name, status = row["student_id"], row["assignment"], row["status"]
    folder = Path(course.format_path(course.autograded_directory, student, name))
    path = folder / f"{name}.ipynb"
    feedback = Path(course.format_path(course.feedback_directory, student, name), f"{name}.html")
    pages = {label: page for label, page in [("feedback", feedback), ("notebook", path)] if page.exists()}
    if status not in (GRADED, NEEDS_MANUAL) or not path.exists():
        score = row["score"] if status == GRADED else None
        return Row(plain(student), status, score, plain(row["reason"]), pages=pages)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = {c["metadata"].get("nbgrader", {}).get("grade_id"): c["metadata"] for c in notebook["cells"]}
    graded = {grade.name: grade for grade in sorted(grades, key=lambda grade: grade.name)}
    results = {
        check.check_id: _result(
            check, [c for c in checks if c.cell == check.cell], cells[check.cell], graded[check.cell]
        )
        for check in checks
        if check.cell in cells and check.cell in graded
    }
    return Row(
        plain(student),
        status,
        row["score"] if status == GRADED else None,
        plain(row["reason"]),
        {cell: grade.score for cell, grade in graded.items()},
        results,
        notebook["metadata"].get("autograder", {}).get("seconds"),
        look.at(notebook, folder, student),
        pages,
    )


def _result(check: Check, together: list[Check], metadata: dict, grade: Grade) -> Result:
    """The result of a check; points that were given by hand are shared equally among the checks of the cell."""
    verdicts = metadata.get("autograder", {}) if metadata["nbgrader"].get("locked") else {}
    verdict = verdicts.get(check.check_id, {"passed": None, "slip": "", "message": ""})
    points = [c.max_points * bool(verdicts.get(c.check_id, {}).get("passed")) for c in together]
    share = points[together.index(check)]
    if not math.isclose(sum(points), grade.score, abs_tol=1e-9):
        share = grade.score / len(together)
    if grade.auto_score is None and grade.manual_score is None:
        share = None
    lines = [] if verdict["passed"] else verdict["message"].splitlines()
    reasons = [f"slip: {verdict['slip']}"] if verdict["slip"] else (lines[1:2] or lines)
    reasons += ["points given by hand"] if grade.manual_score is not None else []
    seconds = _cell_seconds(metadata)
    return Result(verdict["passed"], share, plain(verdict["slip"]), plain("; ".join(reasons)), seconds)


def _cell_seconds(metadata: dict) -> float | None:
    times = metadata.get("execution")
    try:
        start, end = (datetime.fromisoformat(times[key]) for key in ("iopub.execute_input", "shell.execute_reply"))
        return max(0.0, (end - start).total_seconds())
    except (KeyError, TypeError, ValueError):
        return None
