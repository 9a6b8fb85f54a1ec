"""One submission on its way to its grade: sanitised, run as often as needed, recorded.

Whatever a submission makes raise on that way is its own reason why it could not be graded. What is the fault of the
class or of this machine stops the run.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError, SubmissionError, did_you_mean
from ..steps import due, outcome, receipt
from ..steps.assignment import load_assignment
from ..steps.autograde import Sanitised, Steps
from ..steps.execute import Job, Ran, execute
from ..steps.faults import reason_for
from ..steps.files import beside_notebook, known_as, readable, unfit
from ..steps.outcome import Status
from ..steps.runs import Executed, RunCells
from ..steps.sanitise import Released
from ..steps.save import Rows, Scored
from .interrupts import uninterrupted


@dataclass(frozen=True)
class Outcome:
    """How one submission ended in this run: GRADED, SKIPPED, or UNGRADABLE with the reason."""

    student: str
    status: Status
    reason: str = ""


@dataclass
class Running:
    """A submission between sanitising and recording.

    runs: says what to run next. job: the run that is due. files: what its cells find beside them. suspect: it was on a
    worker that ended, and now runs alone.
    """

    student: str
    runs: Generator[Job, Ran, Executed]
    job: Job
    files: dict[str, bytes]
    sanitised: Sanitised | None = None
    suspect: bool = False


class Grader:
    """What happens to each submission of an assignment in this process, step by step.

    Raises ClassError if the class is not ready, or if the gradebook cannot be reached any more; the submission at hand
    is then graded again by the next run.
    """

    def __init__(self, api: NbGraderAPI, name: str):
        self.api, self.name, self.course = api, name, api.coursedir
        gradebook.require(self.course)
        self.version = load_assignment(self.course, name).version
        self._steps = Steps(api, name, Released.read(self.course, name, name))
        self._rows = Rows(self.course, name)
        self._cells = RunCells(config=api.config)

    def choose(self, students: list[str] | None) -> list[str]:
        """The students whose submissions are to be graded, in order; raises ClassError if one has none."""
        course, name, submitted = self.course, self.name, due.submitted(self.course, self.name)
        unknown = sorted(set(students or []) - set(submitted))
        if unknown:
            out = sorted(dropped(course).intersection(unknown))
            if out:
                raise ClassError(f"{', '.join(out)} left the class: autograder drop {out[0]} --undo takes them back.")
            names = list(map(readable, submitted))
            raise ClassError(
                f"No submission of {name} by: {', '.join(map(readable, unknown))}."
                f"{''.join(did_you_mean(student, names) for student in map(readable, unknown))} "
                f"Submissions: {', '.join(map(readable, submitted)) or 'none'}."
            )
        self._require_own_names(submitted)
        if not submitted:
            raise ClassError(f"There are no submissions of {name} in {course.root}/{course.submitted_directory}.")
        return [s for s in submitted if not students or s in students]

    def _require_own_names(self, submitted: list[str]) -> None:
        """Raise ClassError if a folder's name differs from a student's id in its case alone: both would be graded."""
        with Gradebook(self.course.db_url, self.course.course_id) as book:
            known = {student.id for student in book.students}
        ids = {student.casefold(): student for student in known}
        other = {one: ids[one.casefold()] for one in submitted if one not in known and one.casefold() in ids}
        if other:
            found = ", ".join(f"{readable(one)} is {student} in the gradebook" for one, student in other.items())
            raise ClassError(
                f"Folders in {self.course.submitted_directory} differ from a student's id in nothing but upper and "
                f"lower case: {found}. Rename the folders."
            )

    def submitted(self) -> list[str]:
        """The names of the folders of all students who have submitted, without those who were dropped."""
        return due.submitted(self.course, self.name)

    def is_graded(self, student: str) -> bool:
        """Whether a submission came to an end before, and neither it nor what it was graded by has changed since."""
        return not self.why_due(student)

    def why_due(self, student: str) -> str:
        """Why a submission must be graded; "" if it need not be."""
        return due.why_due(self.course, self.name, student, self.version)

    def grade_here(self, student: str) -> Outcome:
        """Grade one submission, its cells running in this process."""
        step = self.begin(student)
        while isinstance(step, Running):
            step = self.go_on(step, execute(step.job, step.files))
        return step

    def begin(self, student: str) -> Running | Outcome:
        """Sanitise a submission; what cannot be run is recorded at once."""
        return self._guarded(student, lambda: self._sanitise(student))

    def go_on(self, submission: Running, ran: Ran) -> Running | Outcome:
        """Take what ran: the submission has to run once more, or is recorded."""
        return self._guarded(submission.student, lambda: self._next(submission, ran))

    def record(self, submission: Running, executed: Executed) -> Outcome:
        """Write the verdicts, scores and comments of a submission: first the gradebook's rows, then its files."""
        student, sanitised = submission.student, submission.sanitised
        nb = self._steps.grade(student, sanitised.notebook, executed)
        said = outcome.read(nb)
        self._rows.save(student, Scored.of(nb), sanitised.handed_in, said.again, self._penalty)
        outcome.write(nb, replace(said, saved=True))
        self._steps.write(student, nb, sanitised.files, self.folder_of(student))
        return Outcome(student, Status.GRADED)

    def _penalty(self, student: str, score: float, late_s: float) -> float | None:
        late = self._steps.late
        return late.penalty(student, score, late_s) if late else None

    def give_up(self, student: str, reason: str) -> Outcome:
        """Write down, in the gradebook and as autograded notebook, that a submission could not be graded."""
        with uninterrupted(), gradebook.needed(self.course):
            outcome.set_aside(self.course, student, self.name, reason, self.folder_of(student))
            self._steps.set_permissions(student)
        return Outcome(student, Status.UNGRADABLE, reason)

    def _guarded(self, student: str, step: Callable[[], Running | Outcome]) -> Running | Outcome:
        with uninterrupted(), gradebook.needed(self.course):
            try:
                return step()
            except (Exception, SystemExit) as error:
                return self.give_up(student, reason_for(error, self.folder_of(student)))

    def _sanitise(self, student: str) -> Running | Outcome:
        reason = unfit(self.folder_of(student), self.name)
        if reason:
            raise SubmissionError(reason)
        folder = self.folder_of(student)
        again = outcome.of(self._autograded(student)).is_of(receipt.fingerprint(folder, self.course.ignore))
        sanitised = self._steps.sanitise(student, folder, again)
        runs = self._cells.runs(sanitised.notebook, self.name, self.course)
        return Running(student, runs, next(runs), beside_notebook(sanitised.files), sanitised=sanitised)

    def _next(self, submission: Running, ran: Ran) -> Running | Outcome:
        try:
            submission.job = submission.runs.send(ran)
        except StopIteration as end:
            return self.record(submission, end.value)
        return submission

    def folder_of(self, student: str) -> Path:
        """The folder of a submission."""
        return due.folder_of(self.course, self.name, student)

    def _autograded(self, student: str) -> Path:
        folder = self.course.format_path(self.course.autograded_directory, known_as(student), self.name)
        return Path(folder, f"{self.name}.ipynb")
