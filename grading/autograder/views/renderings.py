"""Render a report as a table for the terminal, a CSV file and an HTML page."""

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

from nbgrader.coursedir import CourseDirectory

from gradlab import atomic
from gradlab.words import N_, _, ngettext, of_chapter

from ..errors import ClassError, did_you_mean
from ..steps.files import readable
from ..steps.outcome import Status
from .flags import Flag
from .report import Check, Report, Row, gather
from .submission_page import write_pages
from .table import Column, Table
from .theme import render
from .words import exercise_of, with_name

LISTED = 60  # students; for a larger class, the table omits the reasons, which are in the files
COLUMNS = 12  # approximate maximum number of columns in a chart

SECTIONS = [("scores", N_("Scores")), ("exercises", N_("Exercises")), ("slips", N_("Slips"))]
SECTIONS += [("not-graded", N_("Not graded")), ("look", N_("For review")), ("students", N_("Students"))]

_PASSED = {True: "yes", False: "no", None: ""}


def table(report: Report) -> str:
    """Format the report as text: the rows, then what they add up to and what is to do."""
    return "\n".join([*rows_as_text(report), _points(report), *summary(report)])


def _points(report: Report) -> str:
    return _("points out of {points:g}", points=report.max_score)


def rows_as_text(report: Report) -> list[str]:
    """Format the report's rows: points by check cell, and the reasons for lost points and flags."""
    columns = [Column(_("student"), lambda row: with_name(row.student, row.name))]
    for cell in dict.fromkeys(check.cell for check in report.checks):
        columns.append(Column(exercise_of(cell), lambda row, of=cell: _shown(row, row.points.get(of, 0)), right=True))
    columns += [Column(_("score"), lambda row: _shown(row, row.score), right=True), Column(_("remarks"), _remarks)]
    head, *rows = Table(columns, [(row,) for row in report.rows]).text().split("\n")
    lines = [head]
    for row, line in zip(report.rows, rows, strict=True):
        lines += [line, *(f"    {why}" for why in _reasons(row) if len(rows) <= LISTED)]
    return lines


def _shown(row: Row, points: float | None) -> str:
    return "" if row.score is None else f"{points:g}"


def _remarks(row: Row) -> str:
    """Return why there is no score, and the number of flags."""
    why = f"{_(row.status)}: {row.reason}".rstrip(": ") if row.score is None else ""
    flags = ngettext("{count} flag", "{count} flags", len(row.flags)) if row.flags else ""
    return "; ".join(filter(None, [why, flags]))


def _reasons(row: Row) -> list[str]:
    """Return the reasons for lost points, a late penalty, manual points and flags, one per line."""
    why = [f"{check_id}  {reason}" for check_id, reason in row.reasons.items() if check_id]
    why += [row.reason] if row.reason and row.score is not None else []
    why += [_("late   {time}, {points:g} deducted", time=row.late, points=row.penalty)] if row.late else []
    why += [_("hand   {cell}  {points:g} set manually", cell=exercise_of(c), points=p) for c, p in row.by_hand.items()]
    return why + [_("flag   {flag}", flag=in_words(flag)) for flag in row.flags]


def of_one(course: CourseDirectory, name: str, student: str) -> list[str]:
    """Return one student's row of the report, and the paths of the feedback page and of the submission's page.

    Writes the submission's page if it is missing or outdated. Raises ClassError if the gradebook has no such student.
    """
    report = gather(course, name, only=student)
    if not report.rows:
        meant = did_you_mean(student, [row.student for row in gather(course, name, search=False).rows])
        raise ClassError(_("The gradebook has no student {student}.", student=readable(student)) + meant)
    (row,) = report.rows
    pages = dict(write_pages(course, report, Path(course.root, "reports", name)))
    return [*rows_as_text(report), _points(report), *map(str, [*row.pages.values(), *pages.values()])]


def summary(report: Report) -> list[str]:
    """Format the counts, mean, median and things to do, one per line."""
    counts = ", ".join(f"{count} {_(status)}" for status, count in report.counts.items())
    first = ngettext("{count} student: {counts}", "{count} students: {counts}", len(report.rows), counts=counts)
    if report.scores:
        values = {"mean": mean(report.scores), "median": median(report.scores)}
        first = _("{counts}; mean {mean:.3g}, median {median:.3g}", counts=first, **values)
    flagged = sum(bool(row.flags) for row in report.rows)
    flags = [_("Submissions flagged for review, at no cost in points: {count}", count=flagged)] if flagged else []
    return [first, *to_do(report), *flags]


def to_do(report: Report) -> list[str]:
    """List what must be done before grades and pages are current, with the students concerned."""
    name = report.assignment
    due = [row.student for row in report.rows if row.status in (Status.STALE, Status.UNGRADED)]
    old = [row.student for row in report.rows if row.outdated]
    roster = any(row.on_roster for row in report.rows)
    off = [row for row in report.rows if row.status != Status.MISSING and not row.on_roster]
    others = [row.student for row in off if roster]
    lost = [row.student for row in report.rows if row.status == Status.GRADED and not row.ran]
    tasks = [
        (_("No score until graded (autograder grade {name})", name=name), due),
        (_("Not on the roster, which has names for others (autograder roster, or dropped.txt)"), others),
        (_("No check could run, so there are no points: look at the submission"), lost),
        (_("The feedback page is outdated (autograder feedback {name})", name=name), old),
    ]
    return [f"{title}: {', '.join(students)}" for title, students in tasks if students]


def in_words(flag: Flag) -> str:
    """Return a flag's location and reason as one line of text."""
    where = _("{where}, line {line}", where=flag.where, line=flag.line) if flag.line else flag.where
    return f"{where}: {flag.why}"


def write(course: CourseDirectory, report: Report) -> list[Path]:
    """Write the report's CSV file and page into the class's folder `reports`; return their paths.

    Also write a page for each submission into a subfolder named after the assignment.
    """
    folder = Path(course.root, "reports")
    folder.mkdir(exist_ok=True)
    pages = dict(write_pages(course, report, folder / report.assignment))
    own = {student: {"submission": page} for student, page in pages.items()}
    rows = [replace(row, pages=row.pages | own.get(row.student, {})) for row in report.rows]
    report = replace(report, rows=rows)
    csv_path, page_path = folder / f"{report.assignment}.csv", folder / f"{report.assignment}.html"
    atomic.write_text(csv_path, by_check(report).csv())
    atomic.write_text(page_path, page(report, folder))
    return [csv_path, page_path]


def by_check(report: Report) -> Table:
    """Return the CSV file's table: a row per student and check, each repeating the values of the submission."""
    columns = [
        Column("student", lambda row, check, result: row.student),
        Column("name", lambda row, check, result: row.name),
        Column("status", lambda row, check, result: row.status),
        Column("check", lambda row, check, result: check.check_id),
        Column("points", lambda row, check, result: result.points if result else row.points.get(check.cell)),
        Column("max_points", lambda row, check, result: check.max_points),
        Column("passed", lambda row, check, result: result and _PASSED[result.passed]),
        Column("slip", lambda row, check, result: result and result.slip),
        Column("reason", lambda row, check, result: (result and result.reason) or row.reason),
        Column("flags", lambda row, check, result: "; ".join(map(in_words, row.flags))),
    ]
    cells = [(row, check, row.current.get(check.check_id)) for row in report.rows for check in report.checks]
    return Table(columns, cells)


def page(report: Report, folder: Path) -> str:
    """Return the report's page as HTML, with links relative to `folder`."""
    exercises = [exercise(report, check) for check in report.checks]
    return render(
        "page.html.j2",
        folder,
        title=_("Report on {chapter}", chapter=report.title),
        made=report.made,
        origin=_("Made on {time} from the gradebook and the autograded notebooks."),
        sections=SECTIONS,
        report=report,
        to_do=to_do(report),
        ungraded=[row for row in report.rows if row.status == Status.UNGRADABLE],
        missing=[row for row in report.rows if row.status == Status.MISSING],
        flagged=[row for row in report.rows if row.flags],
        scores=histogram(report.scores, report.max_score),
        exercises=exercises,
        slips=[(summary["check"].check_id, *slip) for summary in exercises for slip in summary["slips"]],
        mean=mean,
        median=median,
    )


def exercise(report: Report, check: Check) -> dict:
    """Summarize one check: counts of solved, known slips and other failures, and of each slip."""
    results = [row.current[check.check_id] for row in report.rows if check.check_id in row.current]
    judged = [result for result in results if result.passed is not None]
    solved = sum(result.passed is True for result in judged)
    slips = Counter(result.slip for result in judged if result.slip)
    named = sum(slips.values())
    shown = [(of_chapter(check.check_id, name), count) for name, count in slips.items()]
    return {
        "check": check,
        "judged": len(judged),
        "kinds": {"solved": solved, "slip": named, "other": len(judged) - solved - named},
        "slips": sorted(shown, key=lambda slip: (-slip[1], slip[0])),
    }


def histogram(values: list[float], top: float) -> list[tuple[float, float, int]]:
    """Return (start, end, count) for bins of round width from 0; the last bin contains `top` and all higher values."""
    width = next(w for e in range(-6, 12) for w in (10.0**e, 2 * 10.0**e, 5 * 10.0**e) if w * COLUMNS >= top)
    last = math.floor(top / width)
    counts = Counter(min(last, math.floor(value / width)) for value in values)
    return [(number * width, (number + 1) * width, counts[number]) for number in range(last + 1)]
