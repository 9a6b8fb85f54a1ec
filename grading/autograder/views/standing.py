"""Read a submission's circumstances from the gradebook: name, lateness, penalty and manual points."""

from dataclasses import dataclass, field
from datetime import timedelta

from nbgrader.api import Student, SubmittedAssignment

from gradlab.words import ngettext

from ..steps import scores
from ..steps.files import readable


@dataclass(frozen=True)
class Standing:
    """A student's name and a submission's circumstances.

    on_roster: whether the gradebook has a name, e-mail address or platform id; grading adds students without. late: the
    delay as text, such as "1 day, 2:00:00"; "" if the submission is on time. penalty: points deducted. by_hand: points
    that were set manually, by cell.
    """

    name: str = ""
    on_roster: bool = False
    late: str = ""
    penalty: float = 0.0
    by_hand: dict[str, float] = field(default_factory=dict)


def standing(student: Student, submission: SubmittedAssignment | None) -> Standing:
    """Return a submission's Standing; without a timestamp or a due date, a submission counts as on time."""
    name = full_name(student)
    on_roster = any((student.first_name, student.last_name, student.email, student.lms_user_id))
    if submission is None:
        return Standing(name, on_roster)
    # nbgrader cannot add an extension to a due date that was removed
    late_s = submission.total_seconds_late if submission.assignment.duedate else 0
    now = scores.of(submission)
    return Standing(name, on_roster, duration(late_s) if late_s else "", now.penalty, now.hand)


def duration(seconds: float) -> str:
    """Return a duration as text, such as "1 day, 2:00:00"."""
    whole = timedelta(seconds=int(seconds))
    time = str(timedelta(seconds=whole.seconds))
    return ngettext("{count} day, {time}", "{count} days, {time}", whole.days, time=time) if whole.days else time


def full_name(student: Student) -> str:
    """Return a student's full name; "" if the gradebook does not have it."""
    return readable(" ".join(filter(None, [student.first_name, student.last_name])))
