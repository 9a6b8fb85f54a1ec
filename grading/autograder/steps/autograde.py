"""nbgrader's Autograde in two halves, with time between them for a submission's cells to run elsewhere."""

from pathlib import Path

from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter

from ..errors import SubmissionError
from .runs import Executed, RunCells


class _Half(Autograde):
    """One submission, the course's; its error is kept, where nbgrader's own logs it and raises another."""

    error: BaseException | None = None

    def start(self) -> None:
        """Called by nbgrader's `capture_log`, which tells of an error but does not pass it on."""
        try:
            super().start()
        except BaseException as error:
            self.error = error
            raise

    def convert_notebooks(self) -> None:
        """Called by nbgrader's `start` once it has looked for notebooks."""
        student, assignment = self.coursedir.student_id, self.coursedir.assignment_id
        self.notebooks = sorted(self.assignments.get(self._format_source(assignment, student), []))
        if not self.notebooks:
            raise SubmissionError(f"nbgrader cannot find the notebook of a student named {student}.")
        if self.init_destination(assignment, student):
            self.run_pre_convert_hook()
            self.init_assignment(assignment, student)
            for notebook in self.notebooks:
                self.convert_single_notebook(notebook)
            self.set_permissions(assignment, student)
            self.run_post_convert_hook()

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Take the steps of this half only."""
        self._init_preprocessors()
        BaseConverter.convert_single_notebook(self, notebook_filename)

    def write_single_notebook(self, output: str, resources: dict) -> None:
        """Write the autograded notebook whole or not at all, and what belongs beside it before."""
        name = resources["unique_key"]
        super().write_single_notebook(output, {**resources, "unique_key": f".new-{name}"})
        folder = Path(self.writer.build_directory)
        (folder / f".new-{name}.ipynb").replace(folder / f"{name}.ipynb")


class SanitiseOnly(_Half):
    """The first half: register the submission in the gradebook, and write it sanitised to the autograded directory."""

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        """Leave them: the second half writes there again, and nbgrader's are read-only."""

    def run_post_convert_hook(self) -> None:
        """Leave it to the second half."""


class GradeOnly(_Half):
    """The second half: verdicts, scores and comments for what was executed."""

    _sanitizing = False
    executed: Executed | None = None

    def _init_preprocessors(self) -> None:
        super()._init_preprocessors()
        for step in self.exporter._preprocessors:
            if isinstance(step, RunCells):
                step.executed = self.executed

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Keep what the first half wrote."""
        return True

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Leave it to the first half."""

    def run_pre_convert_hook(self) -> None:
        """Leave it to the first half."""
