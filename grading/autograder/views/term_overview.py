"""Show the term so far, by student and assignment, as a table and a CSV file."""

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic
from gradlab.words import N_, _

from ..errors import ClassError
from ..steps.outcome import Status
from .renderings import to_do
from .report import Report, Row, gather
from .table import Column, Table
from .words import with_name

SIGNS: dict[str, str] = {Status.NEEDS_MANUAL: N_("hand?"), Status.UNGRADABLE: "?", Status.MISSING: "-"}
SIGNS |= {Status.UNGRADED: N_("new"), Status.STALE: N_("again")}
LEGEND = N_(
    "-: not submitted; new: not graded yet; again: to be graded again; ?: could not be graded;\n"
    "hand?: needs a manual grade; L: late; *: points set manually"
)


def gather_all(course: CourseDirectory) -> list[Report]:
    """Gather the reports of all generated assignments, sorted; raise ClassError if there are none."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        names = sorted(a.name for a in gradebook.assignments if a.name in [n.name for n in a.notebooks])
    if not names:
        raise ClassError(_("The gradebook has no assignments yet. Run: nbgrader generate_assignment ASSIGNMENT"))
    return [gather(course, name, search=False) for name in names]


def text(reports: list[Report]) -> str:
    """Format the overview as text: one line per student, then what is to do."""
    # Translators: the head of a column: an assignment's number, and its points
    heads = [_("{number} of {points:g}", number=r.assignment.partition("_")[0], points=r.max_score) for r in reports]
    columns = [Column(_("student"), lambda *rows: with_name(rows[0].student, rows[0].name))]
    columns += [Column(head, lambda *rows, at=at: _cell(rows[at]), right=True) for at, head in enumerate(heads)]
    total = _("total of {points:g}", points=sum(report.max_score for report in reports))
    columns += [Column(total, _total, right=True)]
    tasks = [f"{report.assignment}: {line}" for report in reports for line in to_do(report)]
    return "\n".join([Table(columns, _students(reports)).text(), _(LEGEND), *tasks])


def write(course: CourseDirectory, reports: list[Report]) -> Path:
    """Write points and status by student and assignment as CSV into the class's folder `reports`; return the path."""
    columns = [Column("student", lambda *rows: rows[0].student), Column("name", lambda *rows: rows[0].name)]
    for at, report in enumerate(reports):
        columns.append(Column(report.assignment, lambda *rows, at=at: rows[at].score))
        columns.append(Column(f"{report.assignment} status", lambda *rows, at=at: rows[at].status))
    columns.append(Column("total", _total))
    path = Path(course.root, "reports", "overview.csv")
    path.parent.mkdir(exist_ok=True)
    atomic.write_text(path, Table(columns, _students(reports)).csv())
    return path


def _students(reports: list[Report]) -> list[tuple[Row, ...]]:
    """Return each student's rows, one for each report."""
    return list(zip(*(report.rows for report in reports), strict=True))


def _total(*rows: Row) -> float:
    """Return a student's total points, leaving out assignments without a score."""
    return sum(row.score for row in rows if row.score is not None)


def _cell(row: Row) -> str:
    shown = f"{row.score:.4g}" if row.score is not None else _(SIGNS.get(row.status, row.status))
    # Translators: L marks late submissions, as in the legend; keep it as short
    late = " " + _("L")
    return shown + late * bool(row.late) + "*" * bool(row.by_hand)
