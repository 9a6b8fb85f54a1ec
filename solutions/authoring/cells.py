"""Classify the cells of a solved notebook; imports nothing heavy."""

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from gradlab.ipynb import tags


def counts(cell: NotebookNode) -> bool:
    """Return whether a cell matters to its notebook's checks: setup, solution, reference and check cells do."""
    marked = "setup" in tags(cell) or "reference" in tags(cell) or is_grade(cell) or is_solution(cell)
    return cell.cell_type == "code" and marked
