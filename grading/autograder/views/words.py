"""Put into words what all pages and tables name: chapters, exercises, students, times and durations."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gradlab.words import N_, _, ngettext

from ..steps.files import cells_of, readable

if TYPE_CHECKING:  # importing them takes time, which every command would pay
    from nbgrader.api import Student
    from nbgrader.coursedir import CourseDirectory

DAYS = N_("Mon"), N_("Tue"), N_("Wed"), N_("Thu"), N_("Fri"), N_("Sat"), N_("Sun")
MONTHS = [N_("Jan"), N_("Feb"), N_("Mar"), N_("Apr"), N_("May"), N_("Jun"), N_("Jul"), N_("Aug"), N_("Sep"), N_("Oct")]
MONTHS += [N_("Nov"), N_("Dec")]


def chapter(course: "CourseDirectory", name: str) -> str:
    """Return an assignment's title: the first heading of its released notebook, or `name` if it has none."""
    cells = cells_of(Path(course.format_path(course.release_directory, ".", name), f"{name}.ipynb"))
    lines = [line for cell in cells if cell["cell_type"] == "markdown" for line in cell["source"].splitlines()]
    return next((line[2:].replace("`", "").strip() for line in lines if line.startswith("# ")), name)


def exercise_of(cell: str) -> str:
    """Return the exercise of a check or answer cell: 02.1 for check-02-1."""
    return cell.removeprefix("check-").removeprefix("answer-").replace("-", ".")


def local(at: datetime) -> str:
    """Format a time in this machine's time zone, such as "Mon 2 Nov 2026, 18:00 CET"; without a zone, `at` is UTC.

    Seconds are shown if there are any.
    """
    at = at.replace(tzinfo=at.tzinfo or UTC).astimezone()
    zone = f"{at:%Z}"  # some zones have no name, only an offset
    weekday, month = _(DAYS[at.weekday()]), _(MONTHS[at.month - 1])
    # Translators: a date such as "Mon 2 Nov 2026"
    date = _("{weekday} {day} {month} {year}", weekday=weekday, day=at.day, month=month, year=at.year)
    return f"{date}, {at:%H:%M}{f'{at::%S}' * bool(at.second)} {'UTC' * (zone[0] in '+-')}{zone}"


def duration(seconds: float) -> str:
    """Return a duration as text, such as "1 day, 2:00:00"."""
    whole = timedelta(seconds=int(seconds))
    time = str(timedelta(seconds=whole.seconds))
    return ngettext("{count} day, {time}", "{count} days, {time}", whole.days, time=time) if whole.days else time


def full_name(student: "Student") -> str:
    """Return a student's full name; "" if the gradebook does not have it."""
    return readable(" ".join(filter(None, [student.first_name, student.last_name])))


def with_name(student: str, name: str) -> str:
    """Return a student's id, with the name if there is one."""
    return f"{student} ({name})" if name else student
