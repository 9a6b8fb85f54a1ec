"""Grading functions that a submission or a test can kill."""

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, event

from autograder.run import grade as run
from autograder.run import grader
from autograder.steps.autograde import Failed, Graded, GradingKit, Submission, autograde

WORD = "# kills its worker"
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod"}
FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def autograde_or_die(kit: GradingKit, handed_in: Submission, shared: bool) -> Graded | Failed:
    """Grade a submission, or kill this process if it contains WORD."""
    if WORD in handed_in.notebook.decode():
        os.kill(os.getpid(), signal.SIGKILL)
    return autograde(kit, handed_in, shared)


@dataclass
class Writes:
    """Counts a process's writes into a folder or gradebook, and kills the process at one of them."""

    folder: str
    end_at: int
    count: int = 0

    def begin(self) -> None:
        sys.addaudithook(self._at_file)
        event.listen(Engine, "before_cursor_execute", self._here)
        event.listen(Engine, "commit", self._here)

    def _at_file(self, name: str, arguments: tuple) -> None:
        writes = name in CHANGES or (name == "open" and arguments[2] & FOR_WRITING)
        if writes and str(arguments[0]).startswith(self.folder):
            self._here()

    def _here(self, *_) -> None:
        self.count += 1
        if self.count == self.end_at:
            os.kill(os.getpid(), signal.SIGKILL)


def grade_with(folder: Path, name: str, ready: dict[str, Graded | Failed], end_at: int, force: bool, counted) -> None:
    """Grade a class, one submission at a time, with prepared results instead of workers'."""
    grader.autograde = lambda kit, submission: ready[submission.student]
    run.grade_all = lambda grader, students, cluster: map(grader.grade_here, students)
    run.machine.require = lambda: None
    run.SERVER.begin = lambda: None  # nothing needs a kernel
    writes = Writes(str(folder), end_at)
    writes.begin()
    for _ in run.grade(folder, name, force=force):
        pass
    counted.value = writes.count
