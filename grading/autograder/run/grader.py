"""Take one submission to its grade: read it, grade it on a worker or here, and record the result.

An error caused by the submission becomes the reason why it could not be graded. An error caused by the class or this
machine stops the run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI

from gradlab.words import _

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError, SubmissionError, did_you_mean
from ..steps import due, outcome, receipt
from ..steps.answer_key import load_answer_key
from ..steps.autograde import Failed, Graded, GradingKit, Submission, autograde
from ..steps.faults import reason_for
from ..steps.files import known_as, readable, unfit
from ..steps.outcome import Status
from ..steps.save import LatePenalties, Rows, Scored
from .folders import Folders

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """The result of one submission in this run: GRADED, SKIPPED, or UNGRADABLE with the reason."""

    student: str
    status: Status
    reason: str = ""


class Grader:
    """Reads the submissions of an assignment and records their results, in the process that owns the gradebook.

    Raises ClassError if the class is not ready or the gradebook becomes unreachable; the next run then grades the
    current submission again.
    """

    def __init__(self, api: NbGraderAPI, name: str):
        self.name, self.course = name, api.coursedir
        gradebook.require(self.course)
        key = load_answer_key(self.course, name)
        self.version = key.version
        try:
            self.folders = Folders(api, name)
            self.kit = GradingKit.of(self.folders.converter.config, key, self.folders.of_the_class())
            self._late = LatePenalties(parent=self.folders.converter)
        except Exception as error:
            why = _("A setting in the class's nbgrader_config.py cannot be used: {error!r}", error=error)
            raise ClassError(why) from error
        self._rows = Rows(self.course, name)

    def choose(self, students: list[str] | None) -> list[str]:
        """Return `students`, by default all who submitted, sorted; raise ClassError if any has no submission."""
        course, name, submitted = self.course, self.name, due.submitted(self.course, self.name)
        if unknown := sorted(set(students or []) - set(submitted)):
            if out := sorted(dropped(course).intersection(unknown)):
                names = ", ".join(out)
                raise ClassError(_("Dropped: {students}. To take them back, edit dropped.txt.", students=names))
            asked = list(map(readable, unknown))
            why = _("No submission of {name} by: {students}.", name=name, students=", ".join(asked))
            raise ClassError(why + "".join(did_you_mean(student, map(readable, submitted)) for student in asked))
        self._require_own_names(submitted)
        if not submitted:
            folder = f"{course.root}/{course.submitted_directory}"
            raise ClassError(_("There are no submissions of {name} in {folder}.", name=name, folder=folder))
        chosen = set(students or submitted)
        return [student for student in submitted if student in chosen]

    def _require_own_names(self, submitted: list[str]) -> None:
        """Raise ClassError if a name in `submitted` differs from an id only in case: it would become a new student."""
        with Gradebook(self.course.db_url, self.course.course_id) as book:
            known = {student.id for student in book.students}
        ids = {student.casefold(): student for student in known}
        for name in submitted:
            if name not in known and name.casefold() in ids:
                names = {"name": readable(name), "student": ids[name.casefold()]}
                raise ClassError(_("The folder {name} must be called {student}, as in the gradebook.", **names))

    def why_due(self, student: str) -> str:
        """Return why a submission must be graded; "" if its grade, or reason for having none, is current."""
        return due.why_due(self.course, self.name, student, self.version)

    def outdate(self, students: list[str]) -> None:
        """Mark these students' current grades as outdated, so that they are due until they are graded again."""
        for student in students:
            path = self.folders.autograded(student)
            outcome.reopen(path, outcome.of(path).handed_in)

    def grade_here(self, student: str) -> Outcome:
        """Grade one submission in this process, without a cluster, and return its Outcome."""
        begun = self.begin(student)
        return begun if isinstance(begun, Outcome) else self.end(begun, autograde(self.kit, begun))

    def begin(self, student: str) -> Submission | Outcome:
        """Read and return a submission; if its files are not acceptable, record and return its Outcome instead."""
        return self._guarded(student, lambda: self._read(student))

    def end(self, submission: Submission, graded: Graded | Failed) -> Outcome:
        """Record a result, first in the gradebook and then in files, and return the submission's Outcome."""
        return self._guarded(submission.student, lambda: self._record(submission, graded))

    def give_up(self, student: str, reason: str) -> Outcome:
        """Record in the gradebook and the files that a submission could not be graded; return its Outcome."""
        storable = reason.encode(errors="backslashreplace").decode().replace("\0", r"\x00")  # for any database
        folder = self.folders.submitted(student)
        fingerprint = receipt.fingerprint(folder, self.course.ignore)
        with gradebook.needed(self.course):
            again = outcome.reopen(self.folders.autograded(student), fingerprint)  # manual scores belong to it
            scored = Scored({}, {}, storable)
            self._rows.save(known_as(student), scored, receipt.timestamp(folder), again, self._late.penalty)
            self.folders.write_reason(student, storable, fingerprint)
        return Outcome(student, Status.UNGRADABLE, reason)

    def _guarded(self, student: str, step: Callable[[], T]) -> T | Outcome:
        with gradebook.needed(self.course):
            try:
                return step()
            except (Exception, SystemExit) as error:
                return self.give_up(student, reason_for(error, self.folders.submitted(student)))

    def _read(self, student: str) -> Submission:
        folder = self.folders.submitted(student)
        receipt.settle(folder)
        if reason := unfit(folder, self.name):
            raise SubmissionError(reason)
        return self.folders.read(student)

    def _record(self, submission: Submission, graded: Graded | Failed) -> Outcome:
        if isinstance(graded, Failed):
            raise graded.error
        student = submission.student
        at = receipt.timestamp(self.folders.submitted(student))
        outcome.reopen(self.folders.autograded(student), submission.fingerprint)  # ungraded until it is written
        self._rows.save(student, graded.scored, at, submission.again, self._late.penalty)
        self.folders.write(submission, graded, self.kit.files)
        return Outcome(student, Status.GRADED)
