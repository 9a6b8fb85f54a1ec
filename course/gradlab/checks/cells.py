"""Read the notebook beside a record: its checks' points, and the names its setup cells define."""

import contextlib
import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import ipynb
from .reached import defined
from .record import SUFFIX
from .stale_cells import called_checks

_SUMMARY = re.compile(r"<summary>(.*?)</summary>")


def all_cells(folder: Path) -> list[dict[str, Any]]:
    """Return the cells of the saved notebook of the chapter in `folder`; an empty list if it cannot be read."""
    names = [path.name.removesuffix(SUFFIX) for path in folder.glob("*" + SUFFIX)] or [folder.name]
    found = []
    for name in names:
        with contextlib.suppress(OSError, ipynb.Unreadable):
            cells = ipynb.read((folder / f"{name}.ipynb").read_bytes())["cells"]
            found += [cell for cell in cells if cell["cell_type"] in ("code", "markdown")]
    return found


def cells_beside(folder: Path) -> list[dict[str, Any]]:
    """Return the code cells of the saved notebook of the chapter in `folder`."""
    return [cell for cell in all_cells(folder) if cell["cell_type"] == "code"]


def help_above(folder: Path, check: str) -> list[tuple[str, int, str]]:
    """Return (cell id, index of the fold in the cell, title) of each fold between a check's cell and its heading.

    check: the grade_id of the check's cell.
    """
    above: list[tuple[str, int, str]] = []
    for cell in all_cells(folder):
        if ipynb.grade_id(cell) == check:
            return above
        text = cell["source"] if cell["cell_type"] == "markdown" else ""
        if text.startswith("#"):
            above = []
        above += [(cell.get("id", ""), n, title) for n, title in enumerate(_SUMMARY.findall(text))]
    return []


def stated_at(folder: Path, check: str) -> str:
    """Return the id of the cell that states an exercise: the last one with a heading before its check's cell.

    check: the grade_id of the check's cell, which is returned if the notebook is damaged or has no cell ids.
    """
    place = check
    for cell in all_cells(folder):
        if ipynb.grade_id(cell) == check:
            return place
        if cell["cell_type"] == "markdown" and cell["source"].startswith("#"):
            place = cell.get("id", check)
    return check


def tagged(cells: Iterable[dict[str, Any]], tag: str) -> list[str]:
    """Return the texts of the cells that have this tag, in order."""
    return [cell["source"] for cell in cells if tag in ipynb.tags(cell)]


def points(folder: Path) -> dict[str, float]:
    """Return each check's points by id; checks in the same cell share its points equally."""
    found = {}
    for cell in cells_beside(folder):
        marks = ipynb.nbgrader(cell)
        names = called_checks(cell["source"]) if marks.get("grade") else {}
        found |= {name.split()[0]: marks.get("points", 0) / len(names) for name in names}
    return found


def setup_names(folder: Path, above: str) -> tuple[set[str], int]:
    """Return the names defined in setup cells before the cell with text `above`, and the number of those cells."""
    cells = cells_beside(folder)
    before = itertools.takewhile(lambda cell: cell["source"].strip() != above.strip(), cells)
    setup = tagged(before, "setup")
    return {name for text in setup for name in defined(text)}, len(setup)
