"""How a submission stands beside its points: whose it is, when it came and how late, what was set by hand."""

from dataclasses import dataclass, field
from datetime import datetime

from nbgrader.api import Assignment, Student, SubmittedAssignment

from ..steps.files import readable

_UNITS = [("day", 86_400), ("h", 3600), ("min", 60)]


@dataclass(frozen=True)
class Standing:
    """What the gradebook says of a student and a submission; times are in UTC, as nbgrader keeps them.

    due: with the student's extension. late_s: seconds after that. penalty: points taken off. by_hand: the points that
    were set by hand, by cell.
    """

    name: str = ""
    handed_in: datetime | None = None
    due: datetime | None = None
    extension_s: float = 0.0
    late_s: float = 0.0
    penalty: float = 0.0
    by_hand: dict[str, float] = field(default_factory=dict)

    @property
    def late(self) -> str:
        """How late it came, in words; "" if it did not."""
        return in_words(self.late_s) if self.late_s else ""


def standing(assignment: Assignment, student: Student, submission: SubmittedAssignment | None) -> Standing:
    """Read how a submission stands; what has no timestamp counts as handed in on time, as with nbgrader."""
    name = full_name(student)
    due = assignment.duedate
    if submission is None:
        return Standing(name, due=due)
    extension = submission.extension if due else None
    due = due + extension if extension else due
    handed_in = submission.timestamp
    late_s = max(0.0, (handed_in - due).total_seconds()) if handed_in and due else 0.0
    penalty = sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks)
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    by_hand = {grade.name: grade.manual_score for grade in grades if grade.manual_score is not None}
    extension_s = extension.total_seconds() if extension else 0.0
    return Standing(name, handed_in, due, extension_s, late_s, penalty, dict(sorted(by_hand.items())))


def full_name(student: Student) -> str:
    """A student's name, "" if the gradebook does not have it."""
    return readable(" ".join(filter(None, [student.first_name, student.last_name])))


def in_words(seconds: float) -> str:
    """A time in its two largest units, such as "1 day 4 h"; under a minute, one minute."""
    left, words = max(60, int(seconds)), []
    for unit, length in _UNITS:
        count, left = divmod(left, length)
        if count:
            words.append(f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}")
    return " ".join(words[:2])
