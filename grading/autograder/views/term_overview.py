"""Show the term so far as a table, a CSV file and a page."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

from ..errors import ClassError
from ..steps.outcome import Status
from .renderings import exercise, to_do, with_name
from .report import Report, Row, gather
from .report_pages import render
from .table import Column, Table

SIGNS: dict[str, str] = {Status.NEEDS_MANUAL: "hand?", Status.UNGRADABLE: "?", Status.MISSING: "-"}
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
        names = sorted(
            assignment.name
            for assignment in gradebook.assignments
            if assignment.name in [n.name for n in assignment.notebooks]
        )
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
    """Format the overview as text, with one line per student."""
    heads = _heads([report.assignment for report in overview.reports])
    heads = [f"{head} of {report.max_score:g}" for head, report in zip(heads, overview.reports, strict=True)]
    columns = [Column("student", lambda who, rows: with_name(who.student, who.standing.name))]
    columns += [Column(head, lambda who, rows, at=at: _cell(rows[at]), right=True) for at, head in enumerate(heads)]
    columns += [Column(f"total of {overview.max_score:g}", lambda who, rows: total(rows), right=True)]
    return "\n".join([Table(columns, list(overview.students)).text(), LEGEND, *_to_do(overview)])


def _to_do(overview: Overview) -> list[str]:
    return [f"{report.assignment}: {line}" for report in overview.reports for line in to_do(report)]


def _heads(names: list[str]) -> list[str]:
    """Return column heads for these assignments: their numbers, or their full names if numbers repeat."""
    numbers = [name.partition("_")[0] for name in names]
    return numbers if len(set(numbers)) == len(names) else names


def _cell(row: Row) -> str:
    shown = f"{row.score:.4g}" if row.score is not None else SIGNS.get(row.status, row.status)
    return shown + " L" * bool(row.standing.late) + "*" * bool(row.standing.by_hand)


def by_student(overview: Overview) -> Table:
    """Return the table of the CSV file: points and status per assignment, and the total."""
    columns = [Column("student", lambda who, rows: who.student), Column("name", lambda who, rows: who.standing.name)]
    for at, report in enumerate(overview.reports):
        name = report.assignment
        columns += [
            Column(name, lambda who, rows, at=at: rows[at].score),
            Column(f"{name} status", lambda who, rows, at=at: rows[at].status),
        ]
    columns.append(Column("total", lambda who, rows: total(rows)))
    return Table(columns, list(overview.students))


def write(course: CourseDirectory, overview: Overview) -> list[Path]:
    """Write the overview's CSV file and page into the class's folder `reports`; return their paths."""
    folder = Path(course.root, "reports")
    folder.mkdir(exist_ok=True)
    files = {"overview.csv": by_student(overview).csv(), "overview.html": page(overview, folder)}
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
