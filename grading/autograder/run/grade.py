"""Grade all submissions of an assignment in isolation: none can stop or change another.

This process reads submissions and writes files and the gradebook, one submission at a time. In between, a Dask cluster
grades many of them in parallel.
"""

import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from distributed import Client, Future, KilledWorker, wait
from tqdm import tqdm

from gradlab.words import N_, _

from ..errors import ClassError
from ..sandbox import machine
from ..sandbox.provisioner import SERVER
from ..settings import class_api
from ..steps import scores
from ..steps.autograde import Failed, GradingKit, Submission, autograde
from ..steps.due import CHANGED, compose_names
from ..steps.outcome import Status
from ..steps.runs import OvertakenError
from .cluster import connect
from .grader import Grader, Outcome
from .lock import only_run

WITHOUT_WORKERS_S = 600  # a lost worker restarts, which takes minutes on a busy machine
LOOK_S = 5
TWICE = N_("running it ended the grading process twice, the second time while nothing else was running there.")


def grade(
    folder: Path, name: str, force: bool = False, students: list[str] | None = None, sandbox: bool = True, **cluster
) -> Iterator[Outcome]:
    """Grade the submissions without a current grade, or all with `force`; yield one Outcome per submission.

    `force` first marks all of them as due, so the next run without it continues an interrupted one. students: grade
    only these. sandbox: if False, submissions run with this account's rights. cluster: arguments for `cluster.connect`.
    Raises ClassError, before grading anything, if the class is not ready or this machine cannot create a sandbox.
    """
    if sandbox and not cluster.get("scheduler"):
        machine.require()
        SERVER.begin()  # imports torch in the meantime
    api = class_api(folder, sandbox)
    grader = Grader(api, name)
    with only_run(folder):
        compose_names(grader.course)
        chosen = grader.choose(students)
        scores.note(grader.course, name)
        progress = tqdm(total=len(chosen), desc=name, unit=_("submission"), disable=not sys.stderr.isatty())
        with progress:
            due = {student: grader.why_due(student) for student in chosen}
            if again := list(due.values()).count(CHANGED):
                print(_("Submissions to grade again, because checks or points changed: {count}.", count=again))
            current = [student for student, why in due.items() if not why]
            if force:
                grader.outdate(current)
                current = []
            skipped = [Outcome(student, Status.SKIPPED) for student in current]
            fresh = [student for student in chosen if student not in set(current)]
            for outcome in chain(skipped, grade_all(grader, fresh, cluster)):
                progress.update()
                yield outcome


def grade_all(grader: Grader, students: list[str], cluster: dict) -> Iterator[Outcome]:
    """Grade these students' submissions in parallel and yield their Outcomes.

    Without a scheduler in `cluster`, a single submission is graded in this process.
    """
    if not students:
        return
    if len(students) == 1 and not cluster.get("scheduler"):
        yield grader.grade_here(students[0])
        return
    with connect(**cluster) as client:
        yield from grade_on(client, grader, students)


def grade_on(client: Client, grader: Grader, students: list[str]) -> Iterator[Outcome]:
    """Grade these students' submissions on a cluster's workers and yield their Outcomes.

    Submissions that were on a lost worker, or got too little processor time, run again, alone.
    """
    waiting, alone = deque(students), deque[Submission]()
    running: dict[Future, Submission] = {}
    suspect: set[str] = set()  # students whose submission was on a lost worker
    kit: Future | None = None  # stored by the cluster, and sent to each worker once

    def start(submission: Submission, shared: bool) -> None:
        nonlocal kit
        if kit is None or kit.status == "error":  # its worker was lost
            kit = client.submit(_sent, grader.kit, pure=False)
        running[client.submit(autograde, kit, submission, shared, pure=False)] = submission

    while waiting or running or alone:
        room = 2 * max(1, sum(client.ncores().values()))  # one running and one queued per thread
        while waiting and len(running) < room:
            begun = grader.begin(waiting.popleft())
            if isinstance(begun, Outcome):
                yield begun
            else:
                start(begun, shared=True)
        if alone and not running:
            start(alone.popleft(), shared=False)
        for future in _first_done(client, running):
            submission = running.pop(future)
            if future.status != "error":
                graded = future.result()
                if isinstance(graded, Failed) and isinstance(graded.error, OvertakenError):
                    alone.append(submission)
                else:
                    yield grader.end(submission, graded)
            elif not isinstance(error := future.exception(), KilledWorker):
                why = _("A worker could not run a submission: {error!r}. Fix this, then grade again.", error=error)
                raise ClassError(why)
            elif submission.student in suspect:
                yield grader.give_up(submission.student, _(TWICE))
            else:
                suspect.add(submission.student)
                alone.append(submission)


def _sent(kit: GradingKit) -> GradingKit:
    """Return `kit`, so that the cluster stores it. A lambda would reach workers as this Python's bytecode."""
    return kit


def _first_done(client: Client, running: dict[Future, Submission]) -> list[Future]:
    """Wait for at least one run to end, and return all that ended; raise ClassError if the workers are gone."""
    without_since = None
    while running:
        try:
            return list(wait(list(running), timeout=LOOK_S, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            without_since = None if client.ncores() else without_since or time.monotonic()
            if without_since and time.monotonic() - without_since > WITHOUT_WORKERS_S:
                raise ClassError(_("The cluster has lost its workers. Start some, then grade again.")) from None
    return []
