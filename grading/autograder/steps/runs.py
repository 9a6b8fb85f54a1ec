"""The runs of a submission: which of its cells run, how often, and which run counts."""

import functools
import json
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade
from traitlets import Int

from authoring.cells import tags
from gradlab.checks.record import SUFFIX
from gradlab.checks.verdict import Verdict

from ..errors import SubmissionError
from . import outcome
from .assignment import Assignment, course_of, load_assignment
from .bounded import Bounded
from .execute import Job, Ran, error_output, execute
from .files import all_of, beside_notebook
from .verdict import PENDING, judge


@dataclass(frozen=True)
class Executed:
    """What the runs of a submission came to.

    notebook: of the run that counts. seconds: of all runs. verdicts: on its checks, by grade_id and check id.
    """

    notebook: NotebookNode
    seconds: float
    verdicts: dict[str, dict[str, Verdict]]


class RunCells(Execute):
    """Run the cells. Lesson cells that nobody changed are not run, unless a check fails: then all are, and that counts.

    Every graded cell ends in an error, put there from outside, that only the verdict step replaces. Raises
    SubmissionError if there is no notebook with outputs to show for it.
    """

    submission_timeout_s = Int(600, help="What the cells of one submission may take.").tag(config=True)
    max_output_bytes = Int(5_000_000, help="What the cells of one run may show together.").tag(config=True)

    executed: Executed | None = None  # what ran already, elsewhere; else the cells run in this process

    def preprocess(self, nb: NotebookNode, resources: dict, km=None) -> tuple[NotebookNode, dict]:
        """Replace the notebook by what was executed, with its seconds and its verdicts."""
        names, course = resources["nbgrader"], course_of(self)
        executed = self.executed or self._run_here(nb, names, course)
        graded_by = load_assignment(course, names["assignment"]).version
        sanitised, nb = outcome.read(nb), executed.notebook
        outcome.write(nb, replace(sanitised, seconds=round(executed.seconds, 3), graded_by=graded_by))
        for cell in nb.cells:
            outcome.forget(cell)
            if is_grade(cell) and cell.cell_type == "code":
                cell.outputs.append(error_output(PENDING, "No verdict has been reached."))
                if cell.metadata.nbgrader["grade_id"] in executed.verdicts:
                    outcome.write_verdicts(cell, executed.verdicts[cell.metadata.nbgrader["grade_id"]])
        return nb, resources

    def _run_here(self, nb: NotebookNode, names: dict, course: CourseDirectory) -> Executed:
        folder = Path(course.format_path(course.autograded_directory, names["student"], names["assignment"]))
        runs, files = self.runs(nb, names["assignment"], course), beside_notebook(all_of(folder))
        ran = None
        while True:
            try:
                job = runs.send(ran)
            except StopIteration as end:
                return end.value
            ran = execute(job, files)

    def runs(self, nb: NotebookNode, assignment: str, course: CourseDirectory) -> Generator[Job, Ran, Executed]:
        """The runs of one submission: yields a Job, is sent what it came to, and returns what counts.

        Raises SubmissionError if a run comes to nothing.
        """
        text, known = json.dumps(nb), load_assignment(course, assignment)
        lessons = untouched_lessons(nb, assignment, course)
        record, cases = assignment + SUFFIX, known.cases
        spent_s = 0.0
        if lessons:
            trial = yield from _fairly(self._job(text, frozenset(lessons), spent_s, record, cases))
            ran, spent_s = _notebook(trial), trial.seconds
            verdicts = judged(trial, known)
            if all(verdict.passed for checks in verdicts.values() for verdict in checks.values()):
                for index, outputs in lessons.items():
                    ran.cells[index].outputs = outputs
                return Executed(ran, spent_s, verdicts)
        whole = yield from _fairly(self._job(text, frozenset(), spent_s, record, cases))
        ran = _notebook(whole)
        return Executed(ran, spent_s + whole.seconds, judged(whole, known))

    def _job(self, notebook: str, skip: frozenset[int], spent_s: float, record: str, cases: dict[str, str]) -> Job:
        kernels = {name: dict(self.config[name]) for name in ("KernelManager", "SandboxProvisioner")}
        left = self.submission_timeout_s - spent_s
        limits = self.timeout, left, self.max_output_bytes
        return Job(notebook, skip, self.kernel_name, *limits, kernels, record, cases)


def _fairly(job: Job) -> Generator[Job, Ran, Ran]:
    """Run a job, and once more, alone, if others left it less than half a core."""
    ran = yield job
    return (yield replace(job, alone=True)) if ran.starved else ran


def judged(ran: Ran, known: Assignment) -> dict[str, dict[str, Verdict]]:
    """The verdicts on a run, reached in a process that may be killed; raises OutOfBoundsError."""
    return _judging(known)(ran)


@functools.lru_cache(maxsize=8)
def _judging(known: Assignment) -> Bounded:
    return Bounded(lambda ran: judge(_notebook(ran), known))


def _notebook(ran: Ran) -> NotebookNode:
    if ran.reason:
        raise SubmissionError(ran.reason)
    return nbformat.from_dict(json.loads(ran.notebook))


def untouched_lessons(nb: NotebookNode, assignment: str, course: CourseDirectory) -> dict[int, list]:
    """The cells that are as they were released and define nothing that exercises may use, with their outputs."""
    path = Path(course.format_path(course.release_directory, ".", assignment), f"{assignment}.ipynb")
    released = _lessons(path, path.stat().st_mtime_ns) if path.exists() else {}
    cells = [((c.get("id"), c.source), c) for c in nb.cells]
    return {n: released[key] for n, (key, c) in enumerate(cells) if c.cell_type == "code" and key in released}


@functools.lru_cache(maxsize=8)
def _lessons(path: Path, changed_at: int) -> dict[tuple, list]:
    return {
        (cell.get("id"), cell.source): cell.outputs
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata and "setup" not in tags(cell)
    }
