"""Grade all submissions of an assignment, each by itself: one never stops or touches another.

Sanitising and recording read and write the gradebook and happen here, one submission at a time; in between, the cells
of many run at once on a Dask cluster.
"""

import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from distributed import Client, Future, KilledWorker, wait
from tqdm import tqdm

from .. import gradebook
from ..errors import ClassError
from ..sandbox import machine
from ..settings import class_api
from ..steps import scores
from ..steps.due import CHANGED
from ..steps.execute import execute
from ..steps.outcome import Status
from .cluster import add_worker, capacity, connect
from .interrupts import interruptible
from .journal import Journal, only_run
from .submission import Grader, Outcome, Running

WITHOUT_WORKERS_S = 600  # a worker that ended comes back, on a busy machine after minutes
RESTART_S = 30  # one of the run's own that has not come back by then is given another beside it
LOOK_S = 5
TWICE = "its run ended the process that grades twice, the second time while nothing else was running there."


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
            chosen = grader.choose(students)
            scores.note(grader.course, name)
            journal.begin(force, chosen)
        todo = [student for student in journal.students if student not in journal.done]
        progress = tqdm(total=len(todo), desc=name, unit="submission", disable=not sys.stderr.isatty())
        with progress, interruptible(), gradebook.one_engine():
            due = {student: grader.why_due(student) for student in todo}
            fresh = [student for student in todo if journal.force or due[student]]
            if CHANGED in due.values():
                print(f"To be graded again, as they were {CHANGED}: {list(due.values()).count(CHANGED)}.")
            for student in todo:
                if student not in fresh:
                    yield _done(Outcome(student, Status.SKIPPED), journal, progress)
            for outcome in grade_all(grader, fresh, cluster):
                yield _done(outcome, journal, progress)


def _done(outcome: Outcome, journal: Journal, progress: tqdm) -> Outcome:
    journal.note(outcome.student, outcome.status)
    progress.update()
    return outcome


def grade_all(grader: Grader, students: list[str], cluster: dict) -> Iterator[Outcome]:
    """Grade these submissions in parallel; of a single one the cells run in this process, if no cluster is named."""
    if not students:
        return
    if len(students) == 1 and not cluster.get("scheduler"):
        yield grader.grade_here(students[0])
        return
    with connect(**cluster) as client:
        yield from grade_on(client, grader, students)


def grade_on(client: Client, grader: Grader, students: list[str]) -> Iterator[Outcome]:
    """Grade these submissions on the workers of a cluster.

    Whoever was on a worker that ended, or got too little of a processor, runs again, alone.
    """
    waiting, alone = deque(students), deque()
    running: dict[Future, Running] = {}

    def start(submission: Running) -> None:
        running[client.submit(execute, submission.job, submission.files, pure=False)] = submission

    def go_on(next_step: Running | Outcome) -> Iterator[Outcome]:
        if isinstance(next_step, Outcome):
            yield next_step
        elif next_step.job.alone:
            alone.append(next_step)
        else:
            start(next_step)

    while waiting or running or alone:
        while waiting and len(running) < capacity(client):
            yield from go_on(grader.begin(waiting.popleft()))
        if alone and not running:
            start(alone.popleft())
        for future in _first_done(client, running):
            submission = running.pop(future)
            error = future.exception()
            if error is None:
                yield from go_on(grader.go_on(submission, future.result()))
            elif not isinstance(error, KilledWorker):
                raise error if isinstance(error, ClassError) else _unusable(error)
            elif submission.suspect:
                yield grader.give_up(submission.student, TWICE)
            else:
                submission.suspect = True
                alone.append(submission)


def _first_done(client: Client, running: dict[Future, Running]) -> list[Future]:
    """The runs that have ended, as soon as one has; raises ClassError if there is nothing any more to run them."""
    without_since, added = None, False
    while running:
        try:
            return list(wait(list(running), timeout=LOOK_S, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            without_since = None if client.ncores() else without_since or time.monotonic()
            without_s = time.monotonic() - without_since if without_since else 0
            if without_s > RESTART_S and not added:
                added = add_worker(client)
            elif without_s > WITHOUT_WORKERS_S:
                raise ClassError(
                    f"The cluster has had no workers for {WITHOUT_WORKERS_S} seconds. "
                    "Start some, then go on with --resume."
                ) from None
    return []


def _unusable(error: BaseException) -> ClassError:
    return ClassError(
        f"The cluster could not run a submission ({type(error).__name__}: {error}). Its workers need this project's "
        "environment, in the same versions. Mend it, then go on with --resume."
    )
