"""The executing step: run a submission's cells, and see to it that no check cell can pass by itself."""

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade

from .ungradable import reason_of

PENDING = "VerdictPending"


def error_output(name: str, text: str) -> NotebookNode:
    """An error output as a notebook holds it."""
    return new_output("error", ename=name, evalue=text.split("\n")[0], traceback=text.split("\n"))


class ObserveCells(Execute):
    """Run all cells. A cell that kills its kernel is left out, and the rest runs again in a fresh kernel.

    Every graded cell ends in an error, put there from outside, that only the verdict step replaces.
    """

    def preprocess(self, nb: NotebookNode, resources: dict, km=None) -> tuple[NotebookNode, dict]:
        """Run the notebook once, and once more for each cell that killed its kernel."""
        if reason_of(nb):
            return nb, resources
        self._fatal: dict[int, str] = {}
        while True:
            try:
                nb, resources = super().preprocess(nb, resources, km)
                break
            except DeadKernelError:
                self._fatal[self._running] = "The kernel died while this cell ran."
        for cell in nb.cells:
            if is_grade(cell) and cell.cell_type == "code":
                cell.outputs.append(error_output(PENDING, "No verdict has been reached."))
        return nb, resources

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        """Run one cell, unless it killed its kernel before."""
        if cell.cell_type != "code":
            return cell, resources
        if index in self._fatal:
            cell.outputs = [error_output("DeadKernelError", self._fatal[index])]
            return cell, resources
        self._running = index
        try:
            return super().preprocess_cell(cell, resources, index)
        except CellTimeoutError as error:
            cell.outputs.append(error_output("CellTimeoutError", str(error)))
            return cell, resources
