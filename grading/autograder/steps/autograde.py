"""Take one submission from its bytes to its scores as a function of plain data, on a worker or locally."""

import threading
import warnings
from dataclasses import dataclass, replace

import nbformat
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
from nbgrader.preprocessors import ClearOutput, LimitOutput
from traitlets.config import Config

from gradlab import ipynb, words
from gradlab.checks.record import SUFFIX

from ..errors import SubmissionError
from . import outcome
from .answer_key import AnswerKey
from .bounded import portable
from .faults import no_notebook
from .outcome import NotebookOutcome
from .runs import RunCells, judging
from .sanitise import restore
from .save import Scored

OF_KERNELS = {"KernelManager", "SandboxProvisioner"}
for kind in (MissingIDFieldWarning, DuplicateCellId):  # nbformat repairs cell ids, and grading does not need them
    warnings.filterwarnings("ignore", category=kind)


@dataclass(frozen=True, eq=False)
class GradingKit:
    """Everything a worker needs to grade an assignment; plain data, sent once per run.

    files: the class's files and record, which replace submitted ones, by relative path. config: settings by class name.
    """

    key: AnswerKey
    files: dict[str, bytes]
    config: dict[str, dict]

    @classmethod
    def of(cls, settings: Config, key: AnswerKey, files: dict[str, bytes]) -> "GradingKit":
        """Collect what a class's settings say about its steps; an error in them would affect every submission."""
        kinds = [kind.__name__ for step in (RunCells, LimitOutput) for kind in step.__mro__]
        config = {name: dict(settings[name]) for name in {*OF_KERNELS, *kinds} if name in settings}
        RunCells(key, {}, {}, config=Config(config))
        record = {key.name + SUFFIX: key.without_cases}  # checks get cases when run
        return cls(key, files | record, config)


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
    """A graded submission: the autograded notebook as JSON, and its scores."""

    notebook: str
    scored: Scored


@dataclass(frozen=True)
class Failed:
    """A submission that could not be graded, with the error that it raised."""

    error: BaseException


def autograde(kit: GradingKit, submission: Submission, shared: bool = False) -> Graded | Failed:
    """Sanitize a submission, run its cells in a sandbox, and judge the observations; return the result.

    shared: whether other submissions run in parallel. A shared submission that gets too little processor time fails
    with OvertakenError.
    """
    words.use(kit.key.words)
    try:
        return _graded(kit, submission, shared)
    except (Exception, SystemExit) as error:
        return Failed(portable(error))


def _graded(kit: GradingKit, submission: Submission, shared: bool) -> Graded:
    """Take all steps, letting their errors through; raise SubmissionError if the file is not a notebook."""
    key, name = kit.key, kit.key.name
    with _FIRST:
        judging(key)  # its process starts before the first run starts threads in this one
    catalogue = {words.FILE: key.words} if key.words else {}  # what lessons show is in its language
    released = kit.files | catalogue
    resources = {"nbgrader": {"student": submission.student, "assignment": name, "notebook": name}}
    try:
        nb = nbformat.from_dict(ipynb.read(submission.notebook))
        outcome.write(nb, NotebookOutcome(handed_in=submission.fingerprint, again=submission.again))
        nb, resources = ClearOutput().preprocess(nb, resources)  # no other step sees submitted outputs
        restore(nb, key.released)
        nbformat.validate(nb, relax_add_props=True)
    except (AttributeError, KeyError, TypeError) as error:
        raise SubmissionError(no_notebook(error)) from error
    config = Config(kit.config)
    nb = RunCells(key, submission.files, released, shared, config=config).run(nb)
    nb, _ = LimitOutput(config=config).preprocess(nb, resources)  # it may cut verdicts, but no observations
    nbformat.validate(nb, relax_add_props=True)
    scored = Scored.of(nb)
    outcome.write(nb, replace(outcome.read(nb), saved=True))
    return Graded(nbformat.v4.writes(nb) + "\n", scored)


_FIRST = threading.Lock()
