"""The sanitising steps: a submission's cells become what was released, its answers stay; no student code runs here."""

import json
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook, Notebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from gradlab.checks.record import SUFFIX

from ..errors import SubmissionError
from . import outcome
from .assignment import course_of, load_assignment

MOST_CELLS = 2_000
MOST_CHARACTERS = 2_000_000  # of all cells together


@dataclass(frozen=True)
class Released:
    """A notebook as it was generated, from the gradebook: its kernel, and by grade_id each cell's source and marks."""

    kernelspec: dict | None
    cells: dict[str, dict]

    @classmethod
    def read(cls, course: CourseDirectory, assignment: str, notebook: str) -> "Released":
        """Read it from the gradebook."""
        with Gradebook(course.db_url, course.course_id) as gradebook:
            return cls._of(gradebook.find_notebook(notebook, assignment))

    @classmethod
    def _of(cls, notebook: Notebook) -> "Released":
        points = {cell.name: cell.max_score for cell in notebook.grade_cells}
        solutions = {cell.name for cell in notebook.solution_cells}
        cells = {
            cell.name: {
                "source": cell.source,
                "metadata": {
                    "cell_type": cell.cell_type,
                    "checksum": cell.checksum,
                    "grade": cell.name in points,
                    "grade_id": cell.name,
                    "locked": cell.locked,
                    "schema_version": 3,
                    "solution": cell.name in solutions,
                    "task": False,
                }
                | ({"points": points[cell.name]} if cell.name in points else {}),
            }
            for cell in notebook.source_cells
        }
        return cls(json.loads(notebook.kernelspec) if notebook.kernelspec else None, cells)


class RestoreCells(NbGraderPreprocessor):
    """Bring the released cells back where they were deleted, duplicated, retyped, or their metadata changed.

    Of a duplicated cell the last counts; the others become ordinary cells. A missing cell is put behind the one that
    came before it in the release, the first one before the next that is there. No cell keeps verdicts that it brought,
    and unknown ones no metadata of nbgrader's; otherwise they are left alone. The kernel is the release's too.
    """

    released: Released | None = None  # what was read before; else it is read for each submission

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Restore all cells that the gradebook knows, and the kernel."""
        _require_readable(nb)
        names = resources["nbgrader"]
        known = self.released or Released.read(course_of(self), names["assignment"], names["notebook"])
        released = known.cells
        if known.kernelspec:
            nb.metadata["kernelspec"] = dict(known.kernelspec)
        found = self._find(nb, released)
        if not found:
            raise SubmissionError("none of the cells of the released notebook is in this file; is it another notebook?")
        order = list(released)
        for number, (grade_id, original) in enumerate(released.items()):
            if grade_id not in found:
                self.log.warning("Cell %s was missing and is added again", grade_id)
                before = found.get(order[number - 1]) if number else None
                after = next((found[later] for later in order[number:] if later in found), None)
                found[grade_id] = self._insert(nb, original, before, after)
            self._restore(found[grade_id], original)
        return nb, resources

    def _find(self, nb: NotebookNode, released: dict) -> dict[str, NotebookNode]:
        found = {}
        for cell in reversed(nb.cells):
            marks = cell.metadata.pop("nbgrader", None)
            outcome.forget(cell)
            grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
            if isinstance(grade_id, str) and grade_id in released and grade_id not in found:
                found[grade_id] = cell
        return found

    def _insert(
        self, nb: NotebookNode, original: dict, before: NotebookNode | None, after: NotebookNode | None
    ) -> NotebookNode:
        make = new_code_cell if original["metadata"]["cell_type"] == "code" else new_markdown_cell
        cell = make(original["source"])
        positions = {id(c): i for i, c in enumerate(nb.cells)}
        nb.cells.insert(positions[id(before)] + 1 if before is not None else positions[id(after)], cell)
        return cell

    def _restore(self, cell: NotebookNode, original: dict) -> None:
        metadata = original["metadata"]
        if cell.cell_type != metadata["cell_type"]:
            cell.cell_type = metadata["cell_type"]
            cell.pop("attachments", None)
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            else:
                cell.pop("outputs", None)
                cell.pop("execution_count", None)
        if metadata["locked"]:
            cell.source = original["source"]
        cell.metadata["nbgrader"] = dict(metadata)


def _require_readable(nb: NotebookNode) -> None:
    """Raise SubmissionError for a notebook with more code than any answer has."""
    if len(nb.cells) > MOST_CELLS or sum(len(cell.source) for cell in nb.cells) > MOST_CHARACTERS:
        raise SubmissionError(
            f"the notebook has more than {MOST_CELLS} cells, or more than {MOST_CHARACTERS / 1e6:g} million characters."
        )


class PutCases(NbGraderPreprocessor):
    """Put this class's record in place of the student's, without its cases: they are there while their check runs."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Write the record without cases; raises ClassError if the class is not ready."""
        names = resources["nbgrader"]
        known = load_assignment(course_of(self), names["assignment"])
        resources.setdefault("outputs", {})[names["notebook"] + SUFFIX] = known.without_cases
        return nb, resources
