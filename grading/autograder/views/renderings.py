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
from .report import Check, Report, gather
from .report_pages import render
from .submission_page import write_pages
from .table import Column, Table, padded, wide
from .words import exercise_of

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
    cells = list(dict.fromkeys(check.cell for check in report.checks))
    heads = list(map(exercise_of, cells))
    names = {row.student: with_name(row.student, row.standing.name) for row in report.rows}
    student, score, flags = _("student"), _("score"), _("flags")
    width = max(map(wide, [student, *names.values()]))
    lines = ["  ".join([padded(student, width), *(f"{head:>6}" for head in heads), padded(score, 6, True), flags])]
    for row in report.rows:
        if row.score is None:
            count = len(row.flags)
            flags = "  " + ngettext("({count} flag)", "({count} flags)", count) if count else ""
            lines.append(f"{padded(names[row.student], width)}  {_(row.status)}: {row.reason}".rstrip(": ") + flags)
        else:
            points = [f"{row.points.get(cell, 0):6g}" for cell in cells]
            flags = f"{len(row.flags):7}" if row.flags else ""
            lines.append("  ".join([padded(names[row.student], width), *points, f"{row.score:6g}"]) + flags)
        if len(report.rows) <= LISTED:
            why = [f"{check_id}  {reason}" for check_id, reason in row.reasons.items() if check_id]
            why += [row.reason] if row.reason and row.score is not None else []
            late, by_hand = row.standing.late, row.standing.by_hand.items()
            why += [_("late   {time}, {points:g} deducted", time=late, points=row.standing.penalty)] if late else []
            why += [_("hand   {cell}  {points:g} set manually", cell=exercise_of(c), points=p) for c, p in by_hand]
            why += [_("flag   {flag}", flag=in_words(flag)) for flag in row.flags]
            lines += [f"{'':{width}}    {line}" for line in why]
    return lines


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
    roster = any(row.standing.on_roster for row in report.rows)
    off = [row for row in report.rows if row.status != Status.MISSING and not row.standing.on_roster]
    others = [row.student for row in off if roster]
    lost = [row.student for row in report.rows if row.status == Status.GRADED and not row.ran]
    tasks = [
        (_("No score until graded (autograder grade {name})", name=name), due),
        (_("Not on the roster, which has names for others (autograder roster, or dropped.txt)"), others),
        (_("No check could run, so there are no points: look at the submission"), lost),
        (_("The feedback page is outdated (autograder feedback {name})", name=name), old),
    ]
    return [f"{title}: {', '.join(students)}" for title, students in tasks if students]


def with_name(student: str, name: str) -> str:
    """Return a student's id, with the name if there is one."""
    return f"{student} ({name})" if name else student


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
        Column("name", lambda row, check, result: row.standing.name),
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
