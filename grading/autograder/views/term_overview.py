"""Show the term so far, by student and by exercise, as a table, CSV files and a page."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

from ..errors import ClassError
from ..steps.outcome import Status
from .export import as_text
from .renderings import exercise, padded, to_do, wide, with_name
from .report import Report, Row, gather
from .report_pages import render

SIGNS = {Status.NEEDS_MANUAL: "hand?", Status.UNGRADABLE: "?", Status.MISSING: "-"}
SIGNS |= {Status.UNGRADED: "new", Status.STALE: "again"}
LEGEND = "-: not submitted; new: not graded yet; again: to be graded again; ?: could not be graded;\n"
LEGEND += "hand?: needs a manual grade; L: late; *: points set manually"
MOST_SLIPS = 3  # per exercise
SECTIONS = [("students", "Students"), ("exercises", "Exercises")]


@dataclass(frozen=True)
class Overview:
    """All reports of a class, sorted by assignment; each has one row per student, in the same order."""

    made: datetime
    reports: list[Report]

    @property
    def students(self) -> Iterator[tuple[Row, list[Row]]]:
        """Yield each student's first row, which has the name, and the rows of all assignments."""
        for rows in zip(*(report.rows for report in self.reports), strict=True):
            yield rows[0], list(rows)

    @property
    def max_score(self) -> float:
        """The sum of all assignments' maximum points."""
        return sum(report.max_score for report in self.reports)


def gather_all(course: CourseDirectory) -> Overview:
    """Gather the reports of all generated assignments; raise ClassError if there are none."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        names = sorted(one.name for one in gradebook.assignments if one.name in [n.name for n in one.notebooks])
    if not names:
        raise ClassError("The gradebook has no assignments yet. Run: nbgrader generate_assignment ASSIGNMENT")
    return Overview(datetime.now().astimezone(), [gather(course, name, search=False) for name in names])


def total(rows: list[Row]) -> float:
    """Return a student's total points, leaving out assignments without a score."""
    return sum(row.score for row in rows if row.score is not None)


def without_score(rows: list[Row]) -> int:
    """Return how many of a student's submitted assignments have no score."""
    return sum(row.status not in (Status.GRADED, Status.MISSING) for row in rows)


def marks(row: Row) -> list[str]:
    """Return short notes on lateness, deductions and manual points of a row; empty if there is nothing to say."""
    standing = row.standing
    late = [f"{standing.late} late"] if standing.late else []
    penalty = [f"{standing.penalty:g} deducted"] if standing.penalty else []
    return late + penalty + (["set manually"] if standing.by_hand else [])


def table(overview: Overview) -> str:
    """Format the overview as text, with one line per student, then one per exercise."""
    heads = _heads([report.assignment for report in overview.reports])
    students = list(overview.students)
    width = max([len("student"), *(wide(_name(who)) for who, _ in students)])
    cells = [[_cell(row) for row in rows] + [f"{total(rows):g}"] for _, rows in students]
    columns = [*heads, "total"]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [_line("student", width, columns, widths)]
    lines += [_line(_name(who), width, line, widths) for (who, _), line in zip(students, cells, strict=True)]
    most = [*(report.max_score for report in overview.reports), overview.max_score]
    lines += [_line("out of", width, [f"{points:g}" for points in most], widths)]
    lines += [LEGEND, *_to_do(overview)]
    lines += ["", "exercise    solved  not tried  mean points  slips"]
    for report in overview.reports:
        for one in (exercise(report, check) for check in report.checks):
            solved = f"{one['kinds']['solved']} of {one['judged']}"
            mean = "" if one["points"] is None else f"{one['points']:.3g} of {one['check'].max_points:g}"
            line = f"{one['check'].check_id:8}  {solved:>8}  {one['not_tried']:9}  {mean:>11}  {_slips(one)}"
            lines.append(line.rstrip())
    return "\n".join(lines)


def _to_do(overview: Overview) -> list[str]:
    return [f"{report.assignment}: {line}" for report in overview.reports for line in to_do(report)]


def _line(first: str, width: int, cells: list[str], widths: list[int]) -> str:
    return "  ".join([padded(first, width), *(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))])


def _name(who: Row) -> str:
    return with_name(who.student, who.standing.name)


def _heads(names: list[str]) -> list[str]:
    """Return column heads for these assignments: their numbers, or their full names if numbers repeat."""
    numbers = [name.partition("_")[0] for name in names]
    return numbers if len(set(numbers)) == len(names) else names


def _cell(row: Row) -> str:
    shown = f"{row.score:.4g}" if row.score is not None else SIGNS.get(row.status, row.status)
    return shown + " L" * bool(row.standing.late) + "*" * bool(row.standing.by_hand)


def _slips(one: dict) -> str:
    return ", ".join(f"{slip} ({count})" for slip, count in one["slips"][:MOST_SLIPS])


def as_csv(overview: Overview) -> str:
    """Format the students as CSV: points, status, lateness and manual points per assignment, and the total."""
    names = [report.assignment for report in overview.reports]
    fields = ["student", "name"]
    fields += [field for name in names for field in (name, f"{name} status", f"{name} late_hours", f"{name} by_hand")]
    lines = [[*fields, "total", "max_score", "without_score"]]
    for who, rows in overview.students:
        line = [who.student, who.standing.name]
        for row in rows:
            line += ["" if row.score is None else row.score, row.status, round(row.standing.late_s / 3600, 2) or ""]
            line.append("yes" if row.standing.by_hand else "")
        lines.append([*line, total(rows), overview.max_score, without_score(rows)])
    return _csv(lines)


def exercises_as_csv(overview: Overview) -> str:
    """Format the exercises of all assignments as CSV, one line each."""
    lines = [["assignment", "exercise", "title", "max_points", "mean_points", "judged", "solved", "not_tried", "slips"]]
    for report in overview.reports:
        for one in (exercise(report, check) for check in report.checks):
            check, kinds = one["check"], one["kinds"]
            mean = "" if one["points"] is None else one["points"]
            lines.append([report.assignment, check.check_id, check.title, check.max_points, mean])
            lines[-1] += [one["judged"], kinds["solved"], one["not_tried"], _slips(one)]
    return _csv(lines)


def _csv(lines: list[list]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(as_text, line) for line in lines)
    return text.getvalue()


def write(course: CourseDirectory, overview: Overview) -> list[Path]:
    """Write the overview's two CSV files and page into the class's folder `reports`; return their paths."""
    folder = Path(course.root, "reports")
    folder.mkdir(exist_ok=True)
    files = {"overview.csv": as_csv(overview), "overview_exercises.csv": exercises_as_csv(overview)}
    files["overview.html"] = page(overview, folder)
    for name, text in files.items():
        atomic.write_text(folder / name, text)
    return [folder / name for name in files]


def page(overview: Overview, folder: Path) -> str:
    """Return the overview's page as HTML, with links relative to `folder`."""
    reports = {report.assignment: folder / f"{report.assignment}.html" for report in overview.reports}
    return render(
        "overview.html.j2",
        folder,
        title="Overview of the course",
        made=overview.made,
        source="from the gradebook and the autograded notebooks of all assignments.",
        sections=SECTIONS,
        broad=len(overview.reports) > 4,
        overview=overview,
        to_do=_to_do(overview),
        reports={name: path for name, path in reports.items() if path.exists()},
        exercises=[(r.title, [exercise(r, check) for check in r.checks]) for r in overview.reports],
        total=total,
        without_score=without_score,
        marks=marks,
        most_slips=MOST_SLIPS,
    )
