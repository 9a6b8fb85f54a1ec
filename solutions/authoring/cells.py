"""Which cells of a solved notebook are what; imports nothing heavy."""

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution


def tags(cell: NotebookNode) -> list[str]:
    """The tags of a cell."""
    return cell.metadata.get("tags", [])


def counts(cell: NotebookNode) -> bool:
    """Whether a cell of a solved notebook has a part in its checks: setup, solution, reference and check cells do."""
    marked = "setup" in tags(cell) or "reference" in tags(cell) or is_grade(cell) or is_solution(cell)
    return cell.cell_type == "code" and marked
