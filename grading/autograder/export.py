"""Grades as CSV in which "could not be graded" and "not submitted" are not zeros."""

import csv
import sys

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from .ungradable import saved_reason

FIELDS = ["assignment", "student_id", "last_name", "first_name", "email", "timestamp", "status", "score", "max_score"]
FIELDS += ["late_submission_penalty", "reason"]

GRADED, NEEDS_MANUAL, UNGRADABLE, MISSING = "graded", "needs manual grade", "could not be graded", "not submitted"


class GradesWithReasons(ExportPlugin):
    """Export one row per student and assignment; `score` is empty where there is no grade, and `status` says why."""

    def export(self, gradebook: Gradebook) -> None:
        """Called by `nbgrader export`; writes to --to, or grades.csv, or to standard output for -."""
        rows = list(self.rows(gradebook))
        target = self.to or "grades.csv"
        if target == "-":
            _write(sys.stdout, rows)
            return
        with open(target, "w", newline="", encoding="utf-8") as file:
            _write(file, rows)
        self.log.info("Exported %d rows to %s", len(rows), target)

    def rows(self, gradebook: Gradebook):
        """One dict per student and assignment, in order of assignment and student."""
        for assignment in sorted(gradebook.assignments, key=lambda a: a.name):
            for student in sorted(gradebook.students, key=lambda s: s.id):
                chosen = not self.assignment or assignment.name in self.assignment
                if chosen and (not self.student or student.id in map(str, self.student)):
                    yield grade_row(gradebook, assignment, student)


def grade_row(gradebook: Gradebook, assignment, student) -> dict:
    """The grade of one student in one assignment, with its status."""
    row = {
        "assignment": assignment.name,
        "student_id": student.id,
        "last_name": student.last_name or "",
        "first_name": student.first_name or "",
        "email": student.email or "",
        "timestamp": "",
        "status": MISSING,
        "score": "",
        "max_score": assignment.max_score,
        "late_submission_penalty": "",
        "reason": "",
    }
    try:
        submission = gradebook.find_submission(assignment.name, student.id)
    except MissingEntry:
        return row
    row["timestamp"] = str(submission.timestamp or "")
    reasons = list(filter(None, map(saved_reason, submission.notebooks)))
    pending = any(g.auto_score is None and g.manual_score is None for n in submission.notebooks for g in n.grades)
    if reasons:
        return row | {"status": UNGRADABLE, "reason": " ".join(reasons)}
    if pending:
        return row | {"status": NEEDS_MANUAL, "reason": "an answer waits for a grade by hand"}
    penalty = submission.late_submission_penalty or 0.0
    return row | {"status": GRADED, "score": max(0.0, submission.score - penalty), "late_submission_penalty": penalty}


def _write(file, rows: list[dict]) -> None:
    writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
