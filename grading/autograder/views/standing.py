"""Read a submission's circumstances from the gradebook: name, lateness, penalty and manual points."""

from dataclasses import dataclass, field
from datetime import datetime

from nbgrader.api import Assignment, Student, SubmittedAssignment

from ..steps import scores
from ..steps.files import readable

_UNITS = [("day", 86_400), ("h", 3600), ("min", 60)]


@dataclass(frozen=True)
class Standing:
    """A student's name and a submission's circumstances; times are naive UTC, as in nbgrader.

    on_roster: whether the gradebook has a name, e-mail address or platform id; grading adds students without. due:
    includes the student's extension. late_s: seconds after `due`. penalty: points deducted. by_hand: points that
    were set manually, by cell.
    """

    name: str = ""
    on_roster: bool = False
    submitted_at: datetime | None = None
    due: datetime | None = None
    extension_s: float = 0.0
    late_s: float = 0.0
    penalty: float = 0.0
    by_hand: dict[str, float] = field(default_factory=dict)

    @property
    def late(self) -> str:
        """The delay in words; "" if the submission is on time."""
        return in_words(self.late_s) if self.late_s else ""


def standing(assignment: Assignment, student: Student, submission: SubmittedAssignment | None) -> Standing:
    """Return a submission's Standing; as in nbgrader, submissions without a timestamp count as on time."""
    name = full_name(student)
    on_roster = any((student.first_name, student.last_name, student.email, student.lms_user_id))
    due = assignment.duedate
    if submission is None:
        return Standing(name, on_roster, due=due)
    extension = submission.extension if due else None
    due = due + extension if extension else due
    submitted_at = submission.timestamp
    late_s = max(0.0, (submitted_at - due).total_seconds()) if submitted_at and due else 0.0
    extension_s = extension.total_seconds() if extension else 0.0
    now = scores.of(submission)
    return Standing(name, on_roster, submitted_at, due, extension_s, late_s, now.penalty, now.hand)


def full_name(student: Student) -> str:
    """Return a student's full name; "" if the gradebook does not have it."""
    return readable(" ".join(filter(None, [student.first_name, student.last_name])))


def in_words(seconds: float) -> str:
    """Format seconds in their two largest units, such as "1 day 4 h"; at least one minute."""
    left, words = max(60, int(seconds)), []
    for unit, length in _UNITS:
        count, left = divmod(left, length)
        if count:
            words.append(f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}")
    return " ".join(words[:2])
