"""Run nbgrader's preprocessors on one submission as a function of plain data, on a worker or locally."""

import inspect
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor, SaveAutoGrades
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from gradlab import ipynb

from ..errors import SubmissionError
from . import outcome
from .assignment import Assignment, AssignmentStep
from .bounded import portable
from .faults import no_notebook
from .outcome import NotebookOutcome
from .runs import RunCells, judging
from .save import Scored

OF_THE_GRADEBOOK = (SaveAutoGrades, AssignLatePenalties)  # `save.Rows` does their work, in one transaction
OF_THE_PROJECT = ("autograder.", "nbgrader.", "nbconvert.")
OF_KERNELS = {"KernelManager", "SandboxProvisioner"}
for kind in (MissingIDFieldWarning, DuplicateCellId):  # nbformat repairs cell ids, and grading does not need them
    warnings.filterwarnings("ignore", category=kind)


@dataclass(frozen=True, eq=False)
class Procedure:
    """Everything a worker needs to grade an assignment; plain data, sent once per run.

    sanitise, grade: the names of the preprocessors. config: their settings. folders: import paths of the class's own
    preprocessors. files: the class's files, which replace submitted ones, by relative path.
    """

    sanitise: list[str]
    grade: list[str]
    config: dict[str, dict]
    folders: list[str]
    known: Assignment
    files: dict[str, bytes]

    @classmethod
    def of(cls, converter: Autograde, known: Assignment, files: dict[str, bytes]) -> "Procedure":
        """Collect the preprocessors that a class configures, except those that write to the gradebook.

        Instantiates each once and lets its errors through: they would affect every submission.
        """
        sanitise, grade = map(_classes, (converter.sanitize_preprocessors, converter.autograde_preprocessors))
        steps = [*sanitise, *(step for step in grade if not issubclass(step, OF_THE_GRADEBOOK))]
        for step in steps:
            step(parent=converter)
        names = OF_KERNELS | {kind.__name__ for step in steps for kind in step.__mro__}
        config = {name: dict(converter.config[name]) for name in sorted(names) if name in converter.config}
        own = [step for step in steps if not step.__module__.startswith(OF_THE_PROJECT)]
        folders = sorted({str(Path(inspect.getfile(step)).parent) for step in own})
        return cls(list(map(_name, sanitise)), list(map(_name, steps[len(sanitise) :])), config, folders, known, files)


@dataclass(frozen=True)
class Submission:
    """A submission: its notebook, and its other files by relative path.

    student: its folder's name. fingerprint: see `receipt.fingerprint`. again: whether it was graded before.
    """

    student: str
    notebook: bytes
    files: dict[str, bytes]
    fingerprint: str
    again: bool


@dataclass(frozen=True)
class Graded:
    """A graded submission: the autograded notebook as JSON, its scores, and the files its preprocessors created."""

    notebook: str
    scored: Scored
    files: dict[str, bytes]


@dataclass(frozen=True)
class Failed:
    """A submission that could not be graded, with the error that it raised."""

    error: BaseException


def autograde(procedure: Procedure, submission: Submission, shared: bool = False) -> Graded | Failed:
    """Sanitize a submission, run its cells in a sandbox, and judge the observations; return the result.

    shared: whether other submissions run in parallel. A shared submission that gets too little processor time fails
    with OvertakenError.
    """
    try:
        return _steps(procedure).run(submission, shared)
    except (Exception, SystemExit) as error:
        return Failed(portable(error))


def _steps(procedure: Procedure) -> "Steps":
    """Return this thread's own Steps for `procedure`, because preprocessors hold state of the current submission."""
    if getattr(_OF_THREAD, "procedure", None) is not procedure:
        with _FIRST:
            _OF_THREAD.steps = Steps(procedure)
        _OF_THREAD.procedure = procedure
    return _OF_THREAD.steps


_OF_THREAD, _FIRST = threading.local(), threading.Lock()


class Steps:
    """A procedure's preprocessors, instantiated once for all submissions that a thread grades."""

    def __init__(self, procedure: Procedure):
        self.procedure, self.known = procedure, procedure.known
        sys.path += [folder for folder in procedure.folders if folder not in sys.path]
        config = Config(procedure.config)
        self._sanitise = [import_item(step)(config=config) for step in procedure.sanitise]
        self._grade = [import_item(step)(config=config) for step in procedure.grade]
        for step in self._of(AssignmentStep):
            step.known = self.known
        judging(self.known).start()  # before other threads start in this process

    def _of(self, kind: type) -> Iterator:
        return (step for step in [*self._sanitise, *self._grade] if isinstance(step, kind))

    def run(self, submission: Submission, shared: bool) -> Graded:
        """Run all preprocessors, letting their errors through; raise SubmissionError if the file is not a notebook."""
        try:
            nb = nbformat.from_dict(ipynb.read(submission.notebook))
            outcome.write(nb, NotebookOutcome(handed_in=submission.fingerprint, again=submission.again))
            nb, outputs = self._run(self._sanitise, nb, submission.student)
        except (AttributeError, KeyError, TypeError) as error:
            raise SubmissionError(no_notebook(error)) from error
        for step in self._of(RunCells):
            step.released = self.procedure.files | outputs
            step.files, step.shared = submission.files | step.released, shared
        nb, _ = self._run(self._grade, nb, submission.student)
        scored = Scored.of(nb)
        outcome.write(nb, replace(outcome.read(nb), saved=True))
        return Graded(nbformat.v4.writes(nb) + "\n", scored, outputs)

    def _run(self, steps: list, nb: NotebookNode, student: str) -> tuple[NotebookNode, dict[str, bytes]]:
        name = self.known.name
        resources: dict[str, Any] = {
            "nbgrader": {"student": student, "assignment": name, "notebook": name},
            "outputs": {},
        }
        resources |= {"unique_key": name, "metadata": {"name": name}}
        for step in steps:
            nb, resources = step(nb, resources)
        # runs twice: for the submitted notebook, and for the kernel's output
        nbformat.validate(nb, relax_add_props=True)
        return nb, resources["outputs"]


def late_step(converter: Autograde) -> AssignLatePenalties | None:
    """Return the class's enabled late-penalty preprocessor, if any; errors from creating it pass through."""
    kinds = _classes(converter.autograde_preprocessors)
    made = [kind(parent=converter) for kind in kinds if issubclass(kind, AssignLatePenalties)]
    return next((step for step in made if step.enabled), None)


def _classes(steps: list) -> list[type[NbGraderPreprocessor]]:
    return [import_item(step) if isinstance(step, str) else step for step in steps]


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
