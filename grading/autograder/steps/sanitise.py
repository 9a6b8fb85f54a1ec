"""Sanitize a submission: restore the released cells and keep the answers, without running student code."""

import itertools
from collections.abc import Iterator
from typing import Any

from nbformat import NotebookNode, from_dict

from gradlab.ipynb import nbgrader
from gradlab.returned import Release, counts, is_check, is_fixed, is_setup, same_text
from gradlab.words import _

from ..errors import SubmissionError
from . import outcome
from .answer_key import Released

MOST_CELLS = 2_000
MOST_CHARACTERS = 2_000_000  # of all cells in total


def restore(nb: NotebookNode, released: Released) -> None:
    """Restore, in place, the kernel and the cells on which grading depends: checks, answers' cells and set-up cells.

    See `gradlab.returned` for how they are recognized. Checks and set-up cells get their released text back; what a
    student wrote in one becomes a cell of the student's just above it. A check comes after the answers released before
    it, a set-up cell before whatever was released after it; otherwise, the student's order is kept. Submitted verdicts
    are removed from all cells, and nbgrader's metadata from the student's own. Raises SubmissionError if there are too
    many cells or no released ones.
    """
    if released.kernelspec:
        nb.metadata["kernelspec"] = dict(released.kernelspec)
    release = Release(released.cells)
    require_ours(nb, release)
    order = _Order(list(_apart(nb.cells, release)), release)
    nb.cells = order.cells
    for cell in nb.cells:
        outcome.forget(cell)
        cell.metadata.pop("nbgrader", None)
    for key, cell in order.there.items():
        _restore(cell, release.cells[key])
    _give_ids(nb.cells, order.there)


def _apart(cells: list[NotebookNode], release: Release) -> Iterator[NotebookNode]:
    """Yield the cells; where a student wrote in a check or a set-up cell, a cell with that text, and the released one.

    An answer may have been written there, by mistake or because two cells were merged.
    """
    for cell in cells:
        key = release.claimed(cell)
        original = release.cells.get(key) if key else None
        if key and original and is_fixed(original) and not release.is_as_released(key, cell):
            yield _made({**cell})
            cell.source = original["source"]
        yield cell


class _Order:
    """Puts the released cells that count in their places: checks after answers, set-up where it was released.

    Students' cells keep their order. cells: the notebook's, without copies that count for nothing. there: the released
    cells among them, by id. homes: the cells that define answers, by the answer's id.
    """

    def __init__(self, cells: list[NotebookNode], release: Release):
        matches = release.find(cells)
        self.there = {key: cells[place] for key, place in matches.places.items()}
        self.homes = {key: cells[place] for key, place in matches.homes.items()}
        self.cells = [cell for place, cell in enumerate(cells) if place not in matches.copies]
        self.released, self.done = release.cells, []
        for key, cell in release.cells.items():
            if counts(cell):
                put = self._check if is_check(cell) else self._setup if is_setup(cell) else self._answer
                put(key)
                self.done.append(key)

    def _check(self, key: str) -> None:
        """Put a check after all earlier answers and set-up, and after the cells that follow them."""
        needed = self._needed()
        if self._at(key) > needed:
            return
        last = max([needed, *map(self._at, self.done)])
        order = list(self.released)
        below = [self._at(other) for other in order[order.index(key) :] if other in self.there]
        self._put(key, min((place for place in below if place > last), default=len(self.cells)))

    def _answer(self, key: str) -> None:
        """Put a cell with the released text of an answer where it cannot redefine a student's."""
        home = self._home(key)
        if not 0 <= self._at(key) <= home:
            self._put(key, self._code_below(self._last(home), home))

    def _setup(self, key: str) -> None:
        """Put a set-up cell between earlier and later answers; if one place does not do, it runs in both."""
        before = min((self._home(other) for other in self.homes if other not in self.done), default=len(self.cells))
        last = self._last(before)
        if self._needed() >= before:
            self.cells.insert(before, _made(self.released[key]))
            last, before = self._needed(), len(self.cells)
        if not last < self._at(key) < before:
            self._put(key, self._code_below(last, before))

    def _at(self, key: str) -> int:
        """Return the place of a released cell; -1 if it is missing."""
        cell = self.there.get(key)
        return next((place for place, other in enumerate(self.cells) if other is cell), -1)

    def _home(self, key: str) -> int:
        """Return the place of the cell that defines an answer, behind the last cell if there is none."""
        home = self.homes.get(key)
        return next((place for place, other in enumerate(self.cells) if other is home), len(self.cells))

    def _needed(self) -> int:
        """Return the last place of the answers and set-up cells that are in their places."""
        names = [key for key in self.done if not is_check(self.released[key])]
        return max((self._home(key) if key in self.homes else self._at(key) for key in names), default=-1)

    def _last(self, before: int) -> int:
        """Return the last place above `before` of the cells that are in their places."""
        return max((place for place in map(self._at, self.done) if place < before), default=-1)

    def _code_below(self, last: int, before: int) -> int:
        """Return the place of the first code cell below `last`, but at most `before`."""
        return next((n for n in range(last + 1, before) if self.cells[n].cell_type == "code"), before)

    def _put(self, key: str, place: int) -> None:
        """Move a released cell, or insert it if it is missing, before the cell at this place."""
        at = self._at(key)
        cell = self.there.setdefault(key, _made(self.released[key]))
        self.cells.insert(place, cell)
        if at >= 0:
            del self.cells[at + (at >= place)]


def _made(original: dict) -> NotebookNode:
    code: dict[str, Any] = {"outputs": [], "execution_count": None} if original["cell_type"] == "code" else {}
    return from_dict({"cell_type": original["cell_type"], "metadata": {}, "source": original["source"], **code})


def _restore(cell: NotebookNode, original: dict) -> None:
    """Give a cell its released type, text and metadata if it counts; an answer keeps its text."""
    if same_text(cell.source) == same_text(original["source"]):
        cell.source = original["source"]  # so that a lesson is known to be unchanged, and a stub to be no response
    if not counts(original):
        return
    if cell.cell_type != original["cell_type"]:
        cell.cell_type = original["cell_type"]
        for name in ("attachments", "outputs", "execution_count"):
            cell.pop(name, None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    if is_fixed(original):
        cell.source = original["source"]
    if is_setup(original):
        cell.metadata = from_dict(original["metadata"])
    else:
        cell.metadata["nbgrader"] = dict(nbgrader(original))


def _give_ids(cells: list[NotebookNode], there: dict[str, NotebookNode]) -> None:
    """Give each released cell its released id, and every other cell an id that no cell has yet."""
    for key, cell in there.items():
        cell.id = key
    released, taken = {id(cell) for cell in there.values()}, set(there)
    fresh = (name for number in itertools.count(1) if (name := f"own-{number}") not in taken)
    for cell in (cell for cell in cells if id(cell) not in released):
        if cell.get("id", "") in {"", *taken}:
            cell.id = next(fresh)
        taken.add(cell.id)


def require_ours(nb: NotebookNode, release: Release) -> None:
    """Raise SubmissionError for a notebook larger than any honest one, or one without released cells or all answers."""
    if len(nb.cells) > MOST_CELLS or sum(len(cell.source) for cell in nb.cells) > MOST_CHARACTERS:
        most = {"cells": MOST_CELLS, "millions": MOST_CHARACTERS / 1e6}
        raise SubmissionError(_("the notebook exceeds {cells} cells or {millions:g} million characters.", **most))
    if not (release.is_of(nb.cells) or release.find(nb.cells).homes.keys() == release.answers):
        why = _("the file contains none of the released notebook's cells; is it the right notebook?")
        raise SubmissionError(why)
