"""Read a chapter's notebook and record: the cells, the checks and their points, the folds, what setup cells define."""

import contextlib
import itertools
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import ipynb
from .reached import defined
from .record import SUFFIX, CheckRecord, load_beside
from .stale_cells import called_checks

_SUMMARY = re.compile(r"<summary>(.*?)</summary>")


class Chapter:
    """The chapter in a folder, as saved: its notebook and its records, each read once, when they are first needed."""

    def __init__(self, folder: Path):
        self.folder = folder

    @cached_property
    def checks(self) -> dict[str, CheckRecord]:
        """The checks of all records, by id; raises RecordError if there is no readable record."""
        return load_beside(self.folder)

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """The notebook's cells; an empty list if it cannot be read."""
        names = [path.name.removesuffix(SUFFIX) for path in self.folder.glob("*" + SUFFIX)] or [self.folder.name]
        cells = []
        for name in names:
            with contextlib.suppress(OSError, ipynb.Unreadable):
                read = ipynb.read((self.folder / f"{name}.ipynb").read_bytes())["cells"]
                cells += [cell for cell in read if cell["cell_type"] in ("code", "markdown")]
        return cells

    @property
    def code(self) -> list[dict[str, Any]]:
        """The notebook's code cells."""
        return [cell for cell in self.cells if cell["cell_type"] == "code"]

    def _exercise(self, check: str) -> list[dict[str, Any]]:
        """Return the cells from the last heading before a check's cell to that cell; none if it is not there."""
        above: list[dict[str, Any]] = []
        for cell in self.cells:
            if ipynb.grade_id(cell) == check:
                return above
            above = [*([] if _is_heading(cell) else above), cell]
        return []

    def help_above(self, check: str) -> list[tuple[str, int, str]]:
        """Return (cell id, index of the fold in the cell, title) of each fold between a check's cell and its heading.

        check: the grade_id of the check's cell.
        """
        texts = [(cell.get("id", ""), cell["source"]) for cell in self._exercise(check) if _is_markdown(cell)]
        return [(cell, n, title) for cell, text in texts for n, title in enumerate(_SUMMARY.findall(text))]

    def stated_at(self, check: str) -> str:
        """Return the id of the cell that states an exercise: the last one with a heading before its check's cell.

        check: the grade_id of the check's cell, which is returned if the notebook is damaged or has no cell ids.
        """
        return next((cell.get("id", check) for cell in self._exercise(check)[:1] if _is_heading(cell)), check)

    def points(self) -> dict[str, float]:
        """Return each check's points by id; checks in the same cell share its points equally."""
        points: dict[str, float] = {}
        for cell in self.code:
            marks = ipynb.nbgrader(cell)
            names = called_checks(cell["source"]) if marks.get("grade") else {}
            points |= {name.split()[0]: marks.get("points", 0) / len(names) for name in names}
        return points

    def extra(self) -> set[str]:
        """Return the ids of the checks outside the core path, which the build tags."""
        return {name.split()[0] for text in tagged(self.code, "extra") for name in called_checks(text)}

    def setup_names(self, above: str) -> set[str]:
        """Return the names that setup cells before the cell with text `above` define."""
        before = itertools.takewhile(lambda cell: cell["source"].strip() != above.strip(), self.code)
        return {name for text in tagged(before, "setup") for name in defined(text)}


def tagged(cells: Iterable[dict[str, Any]], tag: str) -> list[str]:
    """Return the texts of the cells that have this tag, in order."""
    return [cell["source"] for cell in cells if tag in ipynb.tags(cell)]


def _is_markdown(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "markdown"


def _is_heading(cell: dict[str, Any]) -> bool:
    return _is_markdown(cell) and cell["source"].startswith("#")
