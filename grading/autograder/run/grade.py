"""Grade all submissions of an assignment, each by itself: one never stops or touches another.

Sanitising and recording read and write the gradebook and happen here, one submission at a time; in between, the cells
of many run at once on a Dask cluster.
"""

import contextlib
import json
import signal
import sys
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from distributed import Client, Future, KilledWorker, wait
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.utils import capture_log, temp_attrs
from tqdm import tqdm
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from .. import gradebook
from ..errors import ClassError
from ..sandbox import machine
from ..settings import configure
from ..steps.assignment import load_assignment
from ..steps.execute import Job, Ran, execute
from ..steps.observe import ObserveCells, files_in
from ..steps.phases import Record, Sanitise
from ..steps.ungradable import reason_of, save_reason, unfit, ungradable_notebook
from .cluster import capacity, connect
from .journal import Journal, only_run

WAIT_S = 60
TWICE = "its run ended the process that grades twice, the second time while nothing else was running there."


@dataclass(frozen=True)
class Outcome:
    """How one submission ended in this run: "graded", "skipped" (graded before) or "could not be graded"."""

    student: str
    status: str
    reason: str = ""


@dataclass
class Running:
    """A submission between sanitising and recording.

    runs: says what to run next. job: the run that is due. suspect: it was on a worker that ended, and now runs alone.
    """

    student: str
    runs: Generator[Job, Ran, Ran]
    job: Job
    files: dict[str, bytes]
    suspect: bool = False


def class_api(folder: Path, sandbox: bool = True) -> NbGraderAPI:
    """nbgrader's API for the class in `folder`, quiet but for errors; with the settings of its nbgrader_config.py."""
    config = configure(Config(), folder, sandbox)
    settings = Path(folder).resolve().parent / "nbgrader_config.py"
    if settings.exists():
        own = PyFileConfigLoader(settings.name, str(settings.parent)).load_config()
        if own.CourseDirectory.root == config.CourseDirectory.root:  # and not another class's
            own.Execute.kernel_name = config.Execute.kernel_name
            config = own
    api = NbGraderAPI(config=config)
    api.log.setLevel("ERROR")
    return api


def grade(
    folder: Path,
    name: str,
    force: bool = False,
    students: list[str] | None = None,
    sandbox: bool = True,
    resume: bool = False,
    **cluster,
) -> Iterator[Outcome]:
    """Grade the submissions that have no grade yet, or all with `force`; yields one Outcome per submission.

    resume: go on with the last run of this assignment where it was interrupted, instead of `force` and `students`.
    cluster: the arguments of `cluster.connect`. Raises ClassError, before anything is graded, if the class is not ready
    or this machine cannot make a sandbox; with sandbox=False submissions run with the rights of whoever grades.
    """
    if sandbox and not cluster.get("scheduler"):
        machine.require()
    grader = Grader(class_api(folder, sandbox), name)
    with only_run(folder):
        journal = Journal(folder, name)
        if resume:
            journal.resume()
        else:
            journal.begin(force, grader.choose(students))
        todo = [student for student in journal.students if student not in journal.done]
        progress = tqdm(total=len(todo), desc=name, unit="submission", disable=not sys.stderr.isatty())
        with progress, interruptible(), gradebook.one_engine():
            fresh = [s for s in todo if journal.force or not grader.is_graded(s)]
            for student in todo:
                if student not in fresh:
                    yield _done(Outcome(student, "skipped"), journal, progress)
            for outcome in grade_all(grader, fresh, cluster):
                yield _done(outcome, journal, progress)


def _done(outcome: Outcome, journal: Journal, progress: tqdm) -> Outcome:
    journal.note(outcome.student, outcome.status)
    progress.update()
    return outcome


def grade_all(grader: "Grader", students: list[str], cluster: dict) -> Iterator[Outcome]:
    """Grade these submissions in parallel; of a single one the cells run in this process, if no cluster is named."""
    if not students:
        return
    if len(students) == 1 and not cluster.get("scheduler"):
        yield grader.grade_here(students[0])
        return
    with connect(**cluster) as client:
        yield from grade_on(client, grader, students)


def grade_on(client: Client, grader: "Grader", students: list[str]) -> Iterator[Outcome]:
    """Grade these submissions on the workers of a cluster; whoever was on a worker that ended runs again, alone."""
    waiting, lost = deque(students), deque()
    running: dict[Future, Running] = {}

    def submit(next_step: Running | Outcome) -> Iterator[Outcome]:
        if isinstance(next_step, Outcome):
            yield next_step
        else:
            running[client.submit(execute, next_step.job, next_step.files, pure=False)] = next_step

    while waiting or running or lost:
        while waiting and len(running) < capacity(client):
            yield from submit(grader.begin(waiting.popleft()))
        if lost and not running:
            yield from submit(lost.popleft())
        for future in _first_done(client, running):
            submission = running.pop(future)
            error = future.exception()
            if error is None:
                yield from submit(grader.go_on(submission, future.result()))
            elif not isinstance(error, KilledWorker):
                raise error if isinstance(error, ClassError) else _unusable(error)
            elif submission.suspect:
                yield grader.record(submission.student, Ran("", 0.0, TWICE))
            else:
                submission.suspect = True
                lost.append(submission)


def _first_done(client: Client, running: dict[Future, Running]) -> list[Future]:
    while running:
        try:
            return list(wait(list(running), timeout=WAIT_S, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            if not client.ncores():
                raise ClassError(
                    f"The cluster has had no workers for {WAIT_S} seconds. Start some, then go on with --resume."
                ) from None
    return []


def _unusable(error: BaseException) -> ClassError:
    return ClassError(
        f"The cluster could not run a submission ({type(error).__name__}: {error}). Its workers need this project's "
        "environment, in the same versions. Mend it, then go on with --resume."
    )


class Grader:
    """What happens to each submission of an assignment in this process, step by step.

    Raises ClassError if the class is not ready, or if the gradebook cannot be reached any more; the submission at hand
    is then graded again by the next run.
    """

    def __init__(self, api: NbGraderAPI, name: str):
        self.api, self.name, self.course = api, name, api.coursedir
        gradebook.require(self.course)
        load_assignment(self.course, name)
        self._steps = ObserveCells(config=api.config)

    def choose(self, students: list[str] | None) -> list[str]:
        """The students whose submissions are to be graded, in order; raises ClassError if one has none."""
        course, name = self.course, self.name
        submitted = sorted(path.parent.name for path in Path(course.root, course.submitted_directory).glob(f"*/{name}"))
        unknown = sorted(set(students or []) - set(submitted))
        if unknown:
            raise ClassError(
                f"No submission of {name} by: {', '.join(unknown)}. Submissions: {', '.join(submitted) or 'none'}."
            )
        if not submitted:
            raise ClassError(f"There are no submissions of {name} in {course.root}/{course.submitted_directory}.")
        return [s for s in submitted if not students or s in students]

    def is_graded(self, student: str) -> bool:
        """Whether a submission came to an end before: not if it was interrupted, or has been handed in again since."""
        path = self._autograded(student)
        if not path.exists() or not _mark(path).get("saved"):
            return False
        submitted = self.course.format_path(self.course.submitted_directory, student, self.name)
        now, then = self._timestamp(submitted), self._timestamp(str(path.parent))
        return not (now and then and now > then)

    def _timestamp(self, folder: str) -> datetime | None:
        try:
            return self.course.get_existing_timestamp(folder)
        except SystemExit:  # nbgrader's answer to what is no time
            return None

    def grade_here(self, student: str) -> Outcome:
        """Grade one submission, its cells running in this process."""
        step = self.begin(student)
        while isinstance(step, Running):
            step = self.go_on(step, execute(step.job, step.files))
        return step

    def begin(self, student: str) -> Running | Outcome:
        """Sanitise a submission; what cannot be run is recorded at once."""
        with uninterrupted():
            reason = self._unfit(student) or self._convert(Sanitise, student)
            if reason:
                return self._outcome(student, reason)
            path = self._autograded(student)
            nb = nbformat.read(path, as_version=4)
            if reason_of(nb):
                return self.record(student, None)
            names = {"student": student, "assignment": self.name, "notebook": self.name}
            runs = self._steps.runs(nb, names, self.course)
            return Running(student, runs, next(runs), files_in(path.parent))

    def go_on(self, submission: Running, ran: Ran) -> Running | Outcome:
        """Take what ran: the submission has to run once more, or is recorded."""
        try:
            submission.job = submission.runs.send(ran)
        except StopIteration as end:
            return self.record(submission.student, end.value)
        return submission

    def record(self, student: str, ran: Ran | None) -> Outcome:
        """Write the verdicts, scores and comments of a submission."""
        with uninterrupted():
            return self._outcome(student, self._convert(Record, student, ran=ran))

    def _unfit(self, student: str) -> str:
        return unfit(Path(self.course.format_path(self.course.submitted_directory, student, self.name)), self.name)

    def _autograded(self, student: str) -> Path:
        folder = self.course.format_path(self.course.autograded_directory, student, self.name)
        return Path(folder, f"{self.name}.ipynb")

    def _convert(self, phase: type[Sanitise | Record], student: str, **attributes) -> str:
        with temp_attrs(self.course, assignment_id=self.name, student_id=student):
            converter = phase(coursedir=self.course, parent=self.api)
            converter.force = True
            for name, value in attributes.items():
                setattr(converter, name, value)
            result = capture_log(converter)
        if result["success"]:
            return ""
        gradebook.require(self.course)  # else the fault is not the submission's
        return _last_line(result)

    def _outcome(self, student: str, reason: str) -> Outcome:
        if reason:
            self._record_reason(student, reason)
        else:
            reason = _mark(self._autograded(student)).get("could_not_grade", "")
        return Outcome(student, "could not be graded" if reason else "graded", reason)

    def _record_reason(self, student: str, reason: str) -> None:
        """Write down, in the gradebook and as autograded notebook, that a submission could not be graded."""
        target = self._autograded(student)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        with Gradebook(self.course.db_url, self.course.course_id) as grades:
            grades.update_or_create_student(student)
            grades.update_or_create_submission(self.name, student)
            save_reason(grades, self.name, self.name, student, reason)
        nb = ungradable_notebook(self.course, self.name, self.name, reason)
        nb.metadata["autograder"]["saved"] = True
        nbformat.write(nb, target)


def _mark(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))["metadata"].get("autograder", {})


def _last_line(result: dict) -> str:
    lines = [line for line in result.get("log", "").splitlines() if line.strip()]
    return f"nbgrader could not process it: {lines[-1] if lines else 'no reason given'}"


_deferred: list[int] | None = None  # signals that came while nothing may be interrupted


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGTERM end a run as Ctrl-C does, and both wait while a submission is being written."""

    def interrupt(number: int, frame: object) -> None:
        if _deferred is None:
            raise KeyboardInterrupt
        _deferred.append(number)

    try:
        before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread, where there are no signals
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a signal wait until the end of the block; blocks may lie in each other."""
    global _deferred
    if _deferred is not None:
        yield
        return
    _deferred = []
    try:
        yield
    finally:
        came, _deferred = _deferred, None
        if came:
            raise KeyboardInterrupt
