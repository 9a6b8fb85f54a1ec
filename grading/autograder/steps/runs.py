"""Run a submission, judge the run outside, and write the verdicts; a failure is judged by a second run of all cells."""

import copy
import functools
import itertools
import json
from dataclasses import replace

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade
from traitlets import Int

from gradlab import ipynb
from gradlab.checks.reached import cells_behind
from gradlab.checks.record import SUFFIX
from gradlab.checks.verdict import Verdict
from gradlab.ipynb import nbgrader
from gradlab.returned import is_setup
from gradlab.words import _

from ..errors import SubmissionError
from ..sandbox import KERNEL_NAME
from . import outcome
from .alone import Room, Seen, in_a_room
from .answer_key import AnswerKey, Released
from .bounded import Bounded
from .execute import Job, RunResult, execute
from .files import beside_notebook
from .judge import Verdicts, is_forbidden, judge, judge_alone, show_verdicts

Files = dict[str, bytes]  # by path relative to the notebook
Behind = dict[str, tuple[list[str], list[str]]]  # by check id: the cells that define its answer, and all above it


class OvertakenError(SubmissionError):
    """The submission got too little processor time while others ran, and should run again, alone."""


class RunCells(Execute):
    """Runs the cells, then judges the run, then writes the verdicts into the check cells.

    It skips unchanged lesson cells; if a check fails, it runs all cells, and that run counts. Raises SubmissionError if
    no run produced a notebook with outputs.
    """

    submission_timeout_s = Int(600, help="Time limit for all cells of one run, in seconds.").tag(config=True)
    max_output_bytes = Int(5_000_000, help="Limit for the output of one run, in bytes.").tag(config=True)

    def __init__(self, key: AnswerKey, submitted: Files, released: Files, shared: bool = False, **settings):
        """Take the submitted files and the class's, which replace them; shared: whether other submissions run, too."""
        super().__init__(**settings)
        self.key, self.files, self.released, self.shared = key, submitted | released, released, shared

    def run(self, nb: NotebookNode) -> NotebookNode:
        """Return the executed notebook, with the verdicts in the metadata."""
        sanitised = outcome.read(nb)
        nb, verdicts, behind = self._executed(nb, beside_notebook(self.files))
        verdicts = self._confirmed(verdicts, behind)
        outcome.write(nb, replace(sanitised, graded_by=self.key.version))
        show_verdicts(nb, verdicts)
        return nb

    def _executed(self, nb: NotebookNode, files: Files) -> tuple[NotebookNode, Verdicts, Behind]:
        """Return the notebook of the run that counts, and what `judging` returns of it."""
        text, lessons = json.dumps(nb), untouched_lessons(nb, self.key.released)
        judge_run = judging(self.key)
        if lessons:
            trial = self._run(self._job(text, frozenset(lessons)), files)
            executed = _notebook(trial)
            verdicts, behind = judge_run(trial)
            if all(verdict.passed for checks in verdicts.values() for verdict in checks.values()):
                for index, outputs in lessons.items():
                    executed.cells[index].outputs = outputs
                return executed, verdicts, behind
        whole = self._run(self._job(text, frozenset()), files)
        return _notebook(whole), *judge_run(whole)

    def _run(self, job: Job, files: Files) -> RunResult:
        """Run a job and return the result; if it was starved of processor time, run it once more.

        Raises OvertakenError instead if other submissions run in parallel.
        """
        result = execute(job, files)
        if result.starved and self.shared:
            raise OvertakenError(result.reason)
        return execute(job, files) if result.starved else result

    def _confirmed(self, verdicts: Verdicts, behind: Behind) -> Verdicts:
        """Return the verdicts, where a check that forbids autograd or torch passes only if it also passes alone.

        Beside the notebook lie the class's files and the student's own modules. Without a sandbox, nothing is repeated.
        """
        if not behind or self.kernel_name != KERNEL_NAME:
            return verdicts
        kept = {name for name in self.files if name in self.released or name.endswith(".py")}
        files = beside_notebook({name: self.files[name] for name in kept})
        limits = dict(self.config["SandboxProvisioner"]), self.submission_timeout_s
        again = in_a_room(files, *limits, lambda room: self._alone(room, behind))
        return {cell: checks | {i: again[i] for i in checks.keys() & again} for cell, checks in verdicts.items()}

    def _alone(self, room: Room, behind: Behind) -> dict[str, Verdict]:
        """Return the verdicts on answers alone: after the cells that define them or, if they do not do, all above.

        One process observes all that allow the same; what fails there, runs again in its own.
        """
        verdicts: dict[str, Verdict] = {}
        judges = judging(self.key)
        tasks = {i: self.key.alone[i].after(first) for i, (first, _all) in behind.items()}
        for kind in {task.allows for task in tasks.values()}:
            alike = {i: task for i, task in tasks.items() if task.allows == kind}
            verdicts |= judges(dict(zip(alike, room.observe([*alike.values()]), strict=True)))
        for i in [i for i, verdict in verdicts.items() if not verdict.passed and not is_forbidden(verdict)]:
            verdicts |= judges({i: room.observe([self.key.alone[i].after(behind[i][1])])[0]})
        return verdicts

    def _job(self, notebook: str, skip: frozenset[int]) -> Job:
        kernels = {name: dict(self.config[name]) for name in ("KernelManager", "SandboxProvisioner")}
        limits = self.timeout, self.submission_timeout_s, self.max_output_bytes
        return Job(notebook, skip, self.kernel_name, *limits, kernels, self.key.name + SUFFIX, self.key.cases)


@functools.lru_cache(maxsize=8)
def judging(key: AnswerKey) -> Bounded:
    """Return a function that judges, in a process with limits, a RunResult, or what was Seen of checks alone, by id.

    For a RunResult, it also returns which cells to run before each check that passed but must also pass alone.
    """
    judges, checks, alone = key.judges, key.record.checks, key.alone  # loaded here, outside the time limit

    def judged(observed: RunResult | dict[str, Seen]) -> tuple[Verdicts, Behind] | dict[str, Verdict]:
        if isinstance(observed, dict):
            return {i: judge_alone(checks[i], alone[i].allows[0], seen, judges.get(i)) for i, seen in observed.items()}
        nb = _read(observed)
        verdicts = judge(nb, key.record, judges, observed.cell_timeout_s)
        each = (item for cell_verdicts in verdicts.values() for item in cell_verdicts.items())
        passed = [i for i, verdict in each if verdict.passed and i in alone]
        return verdicts, {i: _behind(nb, checks[i].cell, alone[i].names) for i in passed}

    bounded = Bounded(judged)
    bounded.start()
    return bounded


def _behind(nb: NotebookNode, check_cell: str, names: set[str]) -> tuple[list[str], list[str]]:
    """Return the set-up cells and those that define these names, and all code cells, above a check cell."""
    above = itertools.takewhile(lambda cell: nbgrader(cell).get("grade_id") != check_cell, nb.cells)
    cells = [cell for cell in above if cell.cell_type == "code" and not is_grade(cell)]
    texts = [cell.source for cell in cells]
    reached = cells_behind(names, texts)
    return [text for n, text in enumerate(texts) if n in reached or is_setup(cells[n])], texts


def _notebook(result: RunResult) -> NotebookNode:
    if result.reason:
        raise SubmissionError(result.reason)
    nb = _read(result)
    try:
        nbformat.validate(nb, relax_add_props=True)
    except nbformat.ValidationError:  # its text quotes what the run wrote
        raise SubmissionError(_("its cells sent an output that no notebook can contain.")) from None
    return nb


def _read(result: RunResult) -> NotebookNode:
    return nbformat.from_dict(ipynb.load(result.notebook))


def untouched_lessons(nb: NotebookNode, released: Released) -> dict[int, list]:
    """Return the released outputs of a submission's unchanged lesson cells, by position in the notebook."""
    cells = [((c.get("id"), c.source), c) for c in nb.cells]
    lessons = [(n, key) for n, (key, c) in enumerate(cells) if c.cell_type == "code" and key in released.lessons]
    return {n: copy.deepcopy(released.lessons[key]) for n, key in lessons}
