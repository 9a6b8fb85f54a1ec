"""Export grades as CSV; only the status "graded" comes with a score, so a missing grade is never a zero."""

import sys
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import ExportPlugin

from gradlab.words import _

from ..dropped import enrolled
from ..steps import scores
from ..steps.due import due
from ..steps.outcome import TO_DECIDE, Status, by_hand, undecided
from .table import Column, Table

FIELDS = ["assignment", "student_id", "last_name", "first_name", "email", "timestamp", "status", "score", "max_score"]
FIELDS += ["late_submission_penalty", "reason"]


class GradesWithReasons(ExportPlugin):
    """An nbgrader export plugin that writes one row per student and assignment; without a grade, `status` says why."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the grades to the --to file, by default grades.csv; "-" is standard output. Called by nbgrader."""
        rows = [(row,) for row in self.rows(gradebook)]
        text = Table([Column(field, itemgetter(field)) for field in FIELDS], rows).csv()
        target = self.to or "grades.csv"
        if target == "-":
            sys.stdout.write(text)
        else:
            Path(target).write_text(text, encoding="utf-8", newline="")
            self.log.info(_("Exported {count} rows to {file}", count=len(rows), file=target))

    def rows(self, gradebook: Gradebook):
        """Yield one dict per student and assignment, sorted by assignment and student."""
        course = CourseDirectory(parent=self)
        for assignment in sorted(gradebook.assignments, key=lambda a: a.name):
            if self.assignment and assignment.name not in self.assignment:
                continue
            for student, _submission, row in each_grade(gradebook, course, assignment):
                if not self.student or student.id in map(str, self.student):
                    yield row


def each_grade(
    gradebook: Gradebook, course: CourseDirectory, assignment: Assignment
) -> Iterator[tuple[Student, SubmittedAssignment | None, dict]]:
    """Yield each student with the submission of an assignment and the grade, as a dict of FIELDS (see `grade_row`)."""
    submitted, to_grade = scores.submissions(gradebook, assignment), due(course, assignment)
    for student in enrolled(gradebook, course):
        submission = submitted.get(student.id)
        yield student, submission, grade_row(assignment, student, submission, to_grade.get(student.id, ""))


def grade_row(
    assignment: Assignment, student: Student, submission: SubmittedAssignment | None, why_due: str = ""
) -> dict:
    """Return one student's grade in one assignment as a dict of FIELDS.

    why_due: why the submission must be graded, see `due`; the score is then empty.
    """
    row: dict = dict.fromkeys(FIELDS, "") | {"assignment": assignment.name, "student_id": student.id}
    row |= {name: getattr(student, name) or "" for name in ("last_name", "first_name", "email")}
    row |= {"status": Status.MISSING, "score": None, "max_score": assignment.max_score}
    if submission is None or scores.only_extended(submission):
        return row | ({"status": Status.UNGRADED, "reason": _(why_due)} if why_due else {})
    now = scores.of(submission)
    row["timestamp"] = now.handed_in
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    waiting = [grade for grade in grades if grade.auto_score is None and grade.manual_score is None]
    if why_due:
        graded = now.graded or any(map(by_hand, grades))
        return row | {"status": Status.STALE if graded else Status.UNGRADED, "reason": _(why_due)}
    if now.reason:
        return row | {"status": Status.UNGRADABLE, "reason": now.reason}
    if waiting:
        return row | {"status": Status.NEEDS_MANUAL, "reason": _("an answer needs a manual grade")}
    if any(map(undecided, submission.notebooks)):
        command = TO_DECIDE.format(assignment.name)
        reason = _("points were set manually for an earlier submission: {command}", command=command)
        return row | {"status": Status.NEEDS_MANUAL, "reason": reason}
    # the same sums as nbgrader's own columns, but each column would search all submissions
    score = max(0.0, sum(grade.score for grade in grades) - now.penalty)
    return row | {"status": Status.GRADED, "score": score, "late_submission_penalty": now.penalty}
