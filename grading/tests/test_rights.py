"""Submissions that the grading account may not read, graded as an ordinary user, because root may read everything."""

import os
import tempfile
from pathlib import Path

import pytest
from tiny_class import NAME, RIGHT, TinyClass

from autograder.run.grader import Grader, Outcome
from autograder.settings import class_api
from autograder.steps.bounded import Bounded
from autograder.steps.outcome import Status

NOBODY = 65534
RIGHTS = {  # by student: path, its mode, and the expected reason
    "listed": (".", 0o600, "it cannot be read: Permission denied."),
    "hidden": ("..", 0o000, "it cannot be read: Permission denied."),
    "inner": ("folder", 0o000, "folder cannot be read: Permission denied."),
    "unreadable": ("data.txt", 0o000, "data.txt cannot be read: Permission denied."),
    "notebook": (f"{NAME}.ipynb", 0o200, f"{NAME}.ipynb cannot be read: Permission denied."),
}


def as_an_ordinary_user(folder: Path) -> dict[str, Outcome]:
    """Grade the submissions, and return the results; runs in a new process, which has already loaded its modules."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    os.chdir(folder)  # the working folder may be closed to it
    grader = Grader(class_api(folder), NAME)
    return {student: grader.grade_here(student) for student in grader.choose(None)}


@pytest.fixture(scope="module")
def outcomes():
    with tempfile.TemporaryDirectory() as name:  # other users may not enter pytest's folders
        Path(name).chmod(0o755)
        tiny = TinyClass(Path(name) / "class")
        for student, (path, mode, _) in RIGHTS.items():
            tiny.hand_in(student, RIGHT)
            folder = tiny.submission(student)
            (folder / "folder").mkdir()
            (folder / "data.txt").touch()
            (folder / path).resolve().chmod(mode)
        if os.geteuid() == 0:
            for parent, folders, files in os.walk(name):
                for entry in (".", *folders, *files):
                    os.chown(Path(parent, entry), NOBODY, NOBODY)
        grade = Bounded(as_an_ordinary_user)
        yield grade(tiny.folder)
        grade.close()
        for student in RIGHTS:
            tiny.submission(student).parent.chmod(0o700)
            tiny.submission(student).chmod(0o700)


@pytest.mark.parametrize("student", RIGHTS)
def test_an_unreadable_submission_could_not_be_graded_and_stops_nobody(outcomes, student):
    assert (outcomes[student].status, outcomes[student].reason) == (Status.UNGRADABLE, RIGHTS[student][2])
