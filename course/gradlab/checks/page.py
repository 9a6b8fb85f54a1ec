"""What the notebook beside a record says of itself: the points of its checks, and what its setup cells define."""

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .reached import defined
from .record import SUFFIX
from .session import called_checks


def cells_beside(folder: Path) -> list[dict[str, Any]]:
    """The code cells of the chapter's notebook in `folder`, as it was saved last; none where it cannot be read."""
    names = [path.name.removesuffix(SUFFIX) for path in folder.glob("*" + SUFFIX)] or [folder.name]
    found = []
    for name in names:
        try:
            notebook = json.loads((folder / f"{name}.ipynb").read_text(encoding="utf-8"))
            found += [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def tagged(cells: Iterable[dict[str, Any]], tag: str) -> list[str]:
    """The texts of the cells with a tag, in their order."""
    return [text_of(cell) for cell in cells if tag in cell.get("metadata", {}).get("tags", [])]


def points(folder: Path) -> dict[str, float]:
    """The points of each check by its id; checks that share a cell share its points equally."""
    found = {}
    for cell in cells_beside(folder):
        marks = cell.get("metadata", {}).get("nbgrader", {})
        names = called_checks(text_of(cell)) if marks.get("grade") else {}
        found |= {name.split()[0]: marks.get("points", 0) / len(names) for name in names}
    return found


def answer_cells(folder: Path, name: str) -> set[str]:
    """The ids of the cells for answers that define a name."""
    answers = [cell for cell in cells_beside(folder) if cell.get("metadata", {}).get("nbgrader", {}).get("solution")]
    return {cell.get("id", "") for cell in answers if name in defined(text_of(cell))}


def setup_names(folder: Path, above: str) -> tuple[set[str], int]:
    """The names that the setup cells above a cell with this text define, and how many such cells there are."""
    cells = cells_beside(folder)
    before = itertools.takewhile(lambda cell: text_of(cell).strip() != above.strip(), cells)
    setup = tagged(before, "setup")
    return {name for text in setup for name in defined(text)}, len(setup)


def text_of(cell: dict[str, Any]) -> str:
    """The text of a cell, which a file may hold line by line."""
    text = cell.get("source", "")
    return text if isinstance(text, str) else "".join(text)
