"""The executing step: run a submission's cells, and see to it that no check cell can pass by itself."""

import copy
import os
import signal
import time
from pathlib import Path

import nbformat
from jupyter_client.manager import KernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade
from traitlets import Int

from authoring.chapter import tags

from .assignment import course_of, load_assignment
from .sandbox import KERNEL_NAME, machine
from .sandbox.manager import SandboxManager
from .ungradable import SubmissionError, reason_of
from .verdict import PENDING, all_pass, error_output

MAX_DEPTH = 100  # of a message; an observation has less than half of it


class ObserveCells(Execute):
    """Run the cells. Lesson cells that nobody changed are not run, unless a check fails: then all are, and that counts.

    A cell that ends its kernel is left out, and the rest runs again in a fresh kernel. It ends it by its own doing, by
    exceeding a limit of the sandbox, by too much output, or by going on after it was interrupted. Every graded cell
    ends in an error, put there from outside, that only the verdict step replaces. Raises SubmissionError if the
    submission takes too long as a whole.
    """

    submission_timeout_s = Int(600, help="Time for one submission, its repeated runs included.").tag(config=True)
    max_output_bytes = Int(5_000_000, help="What the cells of one run may show together.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict, km=None) -> tuple[NotebookNode, dict]:
        """Run the notebook, and again for each cell that ended its kernel."""
        if reason_of(nb):
            return nb, resources
        if self.kernel_name == KERNEL_NAME:
            machine.require()
            _let_others_read(Path(resources.get("metadata", {}).get("path") or "."))
        self._deadline = time.monotonic() + self.submission_timeout_s
        self.timeout_func = self._time_left
        lessons = self._untouched_lessons(nb, resources)
        if lessons:
            trial, resources = self._run(copy.deepcopy(nb), resources, km, skip=lessons)
            if all_pass(trial, load_assignment(course_of(self), resources["nbgrader"]["assignment"])):
                return trial, resources
        return self._run(nb, resources, km, skip={})

    def _run(self, nb: NotebookNode, resources: dict, km, skip: dict[int, list]) -> tuple[NotebookNode, dict]:
        self._skip = skip
        self._fatal: dict[int, tuple[str, str]] = {}
        while True:
            self._output_bytes, self._why = 0, ""
            self._running = None
            try:
                nb, resources = super().preprocess(nb, resources, km)
                break
            except (DeadKernelError, CellTimeoutError) as error:
                if self._running is None:
                    raise
                self._fatal[self._running] = (type(error).__name__, self._explain(error))
        for cell in nb.cells:
            if is_grade(cell) and cell.cell_type == "code":
                cell.outputs.append(error_output(PENDING, "No verdict has been reached."))
        return nb, resources

    def _untouched_lessons(self, nb: NotebookNode, resources: dict) -> dict[int, list]:
        """The cells that are as they were released and define nothing that exercises may use, with their outputs."""
        course, names = course_of(self), resources["nbgrader"]
        folder = course.format_path(course.release_directory, ".", names["assignment"])
        path = Path(folder, f"{names['notebook']}.ipynb")
        if not path.exists():
            return {}
        released = {
            (cell.get("id"), cell.source): cell.outputs
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code" and "nbgrader" not in cell.metadata and "setup" not in tags(cell)
        }
        cells = [((c.get("id"), c.source), c) for c in nb.cells]
        return {n: released[key] for n, (key, c) in enumerate(cells) if c.cell_type == "code" and key in released}

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        """Run one cell, unless it is to be left out."""
        if cell.cell_type != "code":
            return cell, resources
        if index in self._skip:
            cell.outputs = copy.deepcopy(self._skip[index])
            return cell, resources
        if index in self._fatal:
            cell.outputs = [error_output(*self._fatal[index])]
            return cell, resources
        if time.monotonic() > self._deadline:
            raise SubmissionError(f"its cells take more than {self.submission_timeout_s} seconds together.")
        self._running = index
        cell, resources = super().preprocess_cell(cell, resources, index)
        if self._why:  # the kernel may have answered before it ended
            raise DeadKernelError(self._why)
        return cell, resources

    def on_cell_executed(self, **kwargs) -> None:
        """Called by nbclient with the reply to a cell; quit() and exit() are told in it."""
        super().on_cell_executed(**kwargs)
        payload = kwargs["execute_reply"]["content"].get("payload")
        if isinstance(payload, list) and any(isinstance(p, dict) and p.get("source") == "ask_exit" for p in payload):
            self._why = "It was told to quit."

    def _time_left(self, cell: NotebookNode) -> float:
        return max(1.0, min(self.timeout, self._deadline - time.monotonic()))

    def _explain(self, error: Exception) -> str:
        if isinstance(error, CellTimeoutError):
            return f"This cell did not end within {self.timeout} seconds, and could not be interrupted."
        why = self._why or getattr(self._manager.provisioner, "limit_exceeded", "")
        return f"The kernel died while this cell ran. {why}".rstrip()

    def create_kernel_manager(self) -> KernelManager:
        """Called by nbclient for each run; the sandboxed kernel has a manager of its own."""
        if self.kernel_name == KERNEL_NAME:
            self.km = SandboxManager(config=self.config)
        else:
            self.km = super().create_kernel_manager()
        self._manager = self.km
        return self.km

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """Called by nbclient for each message that belongs to the running cell; too many bytes end the kernel."""
        if _is_deeper(msg["content"], MAX_DEPTH):
            self.log.warning("A message that is nested more than %d deep was dropped", MAX_DEPTH)
            return None
        self._output_bytes += len(str(msg["content"]))
        if self._output_bytes > self.max_output_bytes:
            if not self._why:
                self._why = f"The output was more than {self.max_output_bytes / 1e6:g} MB."
                os.killpg(self.km.provisioner.pgid, signal.SIGKILL)  # nbclient notices within a second
            return None
        return super().process_message(msg, cell, cell_index)


def _is_deeper(data: dict | list, levels: int) -> bool:
    if levels == 0:
        return True
    items = data.values() if isinstance(data, dict) else data
    return any(_is_deeper(item, levels - 1) for item in items if isinstance(item, dict | list))


def _let_others_read(folder: Path) -> None:
    """A kernel that was started by root is another user; nbgrader makes these files readable too, but later."""
    for parent, _, files in os.walk(folder):
        Path(parent).chmod(Path(parent).stat().st_mode | 0o055)
        for name in files:
            Path(parent, name).chmod(0o644)
