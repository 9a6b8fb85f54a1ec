"""The table after a run: student by check, with points and reasons."""

from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_grade

from .export import GRADED, grade_row


@dataclass(frozen=True)
class Row:
    """One student: status, score or None, points by check cell, and why points are missing, by check id."""

    student: str
    status: str
    score: float | None
    points: dict[str, float]
    reasons: dict[str, str]


def rows(course: CourseDirectory, name: str) -> list[Row]:
    """What the gradebook and the autograded notebooks say of one assignment, in order of student."""
    found = []
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assignment = gradebook.find_assignment(name)
        for student in sorted(gradebook.students, key=lambda s: s.id):
            row = grade_row(gradebook, assignment, student)
            path = Path(course.format_path(course.autograded_directory, student.id, name), f"{name}.ipynb")
            if row["status"] != GRADED or not path.exists():
                found.append(Row(student.id, row["status"], None, {}, {"": row["reason"]} if row["reason"] else {}))
                continue
            grades = gradebook.find_submission_notebook(name, name, student.id).grades
            points = {grade.name: grade.score for grade in sorted(grades, key=lambda g: g.name)}
            found.append(Row(student.id, GRADED, row["score"], points, _reasons(path)))
    return found


def _reasons(path: Path) -> dict[str, str]:
    reasons = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if is_grade(cell):
            for check_id, verdict in cell.metadata.get("autograder", {}).items():
                if not verdict["passed"]:
                    lines = verdict["message"].splitlines()
                    reasons[check_id] = f"slip: {verdict['slip']}" if verdict["slip"] else (lines[1:2] or lines)[0]
    return reasons


def table(found: list[Row], max_score: float) -> str:
    """The rows as text, points by check cell, one line of reasons under each student who lost points."""
    cells = sorted({cell for row in found for cell in row.points})
    heads = [cell.removeprefix("check-").replace("-", ".") for cell in cells]
    width = max([len("student"), *(len(row.student) for row in found)])
    lines = ["  ".join([f"{'student':{width}}", *(f"{head:>6}" for head in heads), f"{'score':>6}"])]
    for row in found:
        if row.score is None:
            lines.append(f"{row.student:{width}}  {row.status}: {row.reasons.get('', '')}".rstrip(": "))
            continue
        points = [f"{row.points.get(cell, 0):6g}" for cell in cells]
        lines.append("  ".join([f"{row.student:{width}}", *points, f"{row.score:6g}"]))
        lines += [f"{'':{width}}    {check_id}  {reason}" for check_id, reason in row.reasons.items()]
    return "\n".join([*lines, f"points of {max_score:g}"])
