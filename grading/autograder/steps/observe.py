"""The executing step: have a submission's cells run, and see to it that no check cell can pass by itself."""

import functools
import json
from collections.abc import Generator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade
from traitlets import Int

from authoring.chapter import tags

from ..errors import SubmissionError
from .assignment import course_of, load_assignment
from .execute import Job, Ran, error_output, execute
from .ungradable import reason_of
from .verdict import PENDING, all_pass


class ObserveCells(Execute):
    """Run the cells. Lesson cells that nobody changed are not run, unless a check fails: then all are, and that counts.

    Every graded cell ends in an error, put there from outside, that only the verdict step replaces. What ran already,
    elsewhere, is in resources["nbgrader"]["ran"]; else the cells run in this process. Raises SubmissionError if there
    is no notebook with outputs to show for it.
    """

    submission_timeout_s = Int(600, help="Time for one submission, its repeated runs included.").tag(config=True)
    max_output_bytes = Int(5_000_000, help="What the cells of one run may show together.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict, km=None) -> tuple[NotebookNode, dict]:
        """Replace the notebook by what ran; its metadata tells how long that took."""
        if reason_of(nb):
            return nb, resources
        names, course = resources["nbgrader"], course_of(self)
        ran = names.pop("ran", None) or self._run_here(nb, names, course)
        if ran.reason:
            raise SubmissionError(ran.reason)
        nb = nbformat.from_dict(json.loads(ran.notebook))
        nb.metadata["autograder"] = {"seconds": round(ran.seconds, 3)}
        for cell in nb.cells:
            if is_grade(cell) and cell.cell_type == "code":
                cell.outputs.append(error_output(PENDING, "No verdict has been reached."))
        return nb, resources

    def _run_here(self, nb: NotebookNode, names: dict, course: CourseDirectory) -> Ran:
        folder = Path(course.format_path(course.autograded_directory, names["student"], names["assignment"]))
        runs, files = self.runs(nb, names, course), files_in(folder)
        ran = None
        while True:
            try:
                job = runs.send(ran)
            except StopIteration as end:
                return end.value
            ran = execute(job, files)

    def runs(self, nb: NotebookNode, names: dict, course: CourseDirectory) -> Generator[Job, Ran, Ran]:
        """The runs of one submission: yields a Job, is sent what it came to, and returns the one that counts."""
        text = json.dumps(nb)
        lessons = untouched_lessons(nb, names, course)
        spent_s = 0.0
        if lessons:
            trial = yield self._job(text, frozenset(lessons), spent_s)
            if trial.reason:
                return trial
            ran = nbformat.from_dict(json.loads(trial.notebook))
            if all_pass(ran, load_assignment(course, names["assignment"])):
                for index, outputs in lessons.items():
                    ran.cells[index].outputs = outputs
                return Ran(json.dumps(ran), trial.seconds)
            spent_s = trial.seconds
        whole = yield self._job(text, frozenset(), spent_s)
        return Ran(whole.notebook, spent_s + whole.seconds, whole.reason)

    def _job(self, notebook: str, skip: frozenset[int], spent_s: float) -> Job:
        kernels = {name: dict(self.config[name]) for name in ("KernelManager", "SandboxProvisioner")}
        left = self.submission_timeout_s - spent_s
        return Job(notebook, skip, self.kernel_name, self.timeout, left, self.max_output_bytes, kernels)


def untouched_lessons(nb: NotebookNode, names: dict, course: CourseDirectory) -> dict[int, list]:
    """The cells that are as they were released and define nothing that exercises may use, with their outputs."""
    folder = course.format_path(course.release_directory, ".", names["assignment"])
    path = Path(folder, f"{names['notebook']}.ipynb")
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


def files_in(folder: Path) -> dict[str, bytes]:
    """The files that a submission's cells find beside them, by relative path: all but notebooks."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".ipynb"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}
