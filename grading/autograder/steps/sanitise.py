"""Sanitize a submission: restore the released cells and keep the answers, without running student code."""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from gradlab.checks.record import SUFFIX

from ..errors import SubmissionError
from . import outcome
from .assignment import AssignmentStep

MOST_CELLS = 2_000
MOST_CHARACTERS = 2_000_000  # of all cells in total


class RestoreCells(AssignmentStep):
    """A preprocessor that restores released cells that were deleted or duplicated, or whose type or metadata changed.

    The last copy of a duplicated cell counts; the others become ordinary cells. A missing cell goes after its
    predecessor in the release, or, if it comes first, before the next cell that is present. Submitted verdicts are
    removed from all cells, and nbgrader's metadata from unknown cells. The kernel is restored too.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Restore cells and kernel in place; raise SubmissionError if there are too many cells or no released ones."""
        _require_readable(nb)
        known = self.known.released
        released = known.cells
        if known.kernelspec:
            nb.metadata["kernelspec"] = dict(known.kernelspec)
        found = self._find(nb, released)
        if not found:
            raise SubmissionError("the file contains none of the released notebook's cells; is it the right notebook?")
        order = list(released)
        for number, (grade_id, original) in enumerate(released.items()):
            if grade_id not in found:
                self.log.warning("Cell %s was missing and has been restored", grade_id)
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
    """Raise SubmissionError for a notebook that is larger than any honest one."""
    if len(nb.cells) > MOST_CELLS or sum(len(cell.source) for cell in nb.cells) > MOST_CHARACTERS:
        raise SubmissionError(
            f"the notebook has more than {MOST_CELLS} cells, or more than {MOST_CHARACTERS / 1e6:g} million characters."
        )


class ReplaceRecord(AssignmentStep):
    """A preprocessor that replaces the student's record with the class's, without cases: checks get them when run."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Put the record without cases among the output files."""
        resources["outputs"][self.known.name + SUFFIX] = self.known.without_cases
        return nb, resources
