"""Sanitize a submission: restore the released cells and keep the answers, without running student code."""

import itertools
from collections.abc import Iterator

from nbformat import NotebookNode, from_dict

from gradlab.checks.record import SUFFIX
from gradlab.ipynb import nbgrader
from gradlab.returned import Release, counts, is_answer, is_check, is_fixed, is_setup, same_text

from ..errors import SubmissionError
from . import outcome
from .assignment import AssignmentStep

MOST_CELLS = 2_000
MOST_CHARACTERS = 2_000_000  # of all cells in total


class RestoreCells(AssignmentStep):
    """A preprocessor that restores the cells on which grading depends: checks, answers' cells and set-up cells.

    See `gradlab.returned` for how they are recognized. Checks and set-up cells get their released text back; what a
    student wrote in one becomes a cell of the student's just above it. A check comes after the answers released before
    it, a set-up cell before whatever was released after it; otherwise, the student's order is kept. Submitted verdicts
    are removed from all cells, and nbgrader's metadata from the student's own. The kernel is restored too.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Restore cells and kernel in place; raise SubmissionError if there are too many cells or no released ones."""
        known = self.known.released
        if known.kernelspec:
            nb.metadata["kernelspec"] = dict(known.kernelspec)
        release = Release(known.cells)
        require_ours(nb, release)
        nb.cells = list(_apart(nb.cells, release))
        there = _order(nb, release)
        for cell in nb.cells:
            outcome.forget(cell)
            cell.metadata.pop("nbgrader", None)
        for key, cell in there.items():
            _restore(cell, release.cells[key])
        _give_ids(nb.cells, there)
        return nb, resources


def _apart(cells: list[NotebookNode], release: Release) -> Iterator[NotebookNode]:
    """Yield the cells; where a student wrote in a check or a set-up cell, a cell with that text, and the released one.

    An answer may have been written there, by mistake or because two cells were merged.
    """
    for cell in cells:
        key = release.claimed(cell)
        original = release.cells.get(key)
        if original and is_fixed(original) and not release.is_as_released(key, cell):
            yield _made({**cell})
            cell.source = original["source"]
        yield cell


def _order(nb: NotebookNode, release: Release) -> dict[str, NotebookNode]:
    """Put the released cells that count in their places, in place, and remove copies; return all released cells, by id.

    Only checks and set-up cells move, and untouched or missing answers, which must not redefine a student's.
    """
    found = release.find(nb.cells)
    there = {key: nb.cells[place] for key, place in found.places.items()}
    homes = {key: nb.cells[place] for key, place in found.homes.items()}
    nb.cells = [cell for place, cell in enumerate(nb.cells) if place not in found.copies]
    ranks = {key: rank for rank, key in enumerate(release.cells)}
    todo = [key for key, cell in release.cells.items() if counts(cell)]
    for number, key in enumerate(todo):
        at = {id(cell): place for place, cell in enumerate(nb.cells)}
        places = {name: at[id(cell)] for name, cell in there.items()}
        defined = {name: at[id(cell)] for name, cell in homes.items()}
        done = [name for name in todo[:number] if name in places]
        if is_check(release.cells[key]):
            needed = [defined.get(name, places[name]) for name in done if not is_check(release.cells[name])]
            if places.get(key, -1) > max(needed, default=-1):
                continue
            last = max([*needed, *(places[name] for name in done)], default=-1)
            below = [place for name, place in places.items() if place > last and ranks[name] > ranks[key]]
            to = min(below, default=len(nb.cells))
        else:
            before = min((defined[name] for name in todo[number:] if name in defined), default=len(nb.cells))
            last = max((places[name] for name in done if places[name] < before), default=-1)
            home = defined.get(key, len(nb.cells))
            first, end = (-1, home + 1) if is_answer(release.cells[key]) else (last, before)
            if first < places.get(key, -1) < end:
                continue
            to = next((n for n in range(last + 1, before) if nb.cells[n].cell_type == "code"), before)
        there[key] = _put(nb.cells, there.get(key) or _made(release.cells[key]), to)
    return there


def _put(cells: list[NotebookNode], cell: NotebookNode, place: int) -> NotebookNode:
    """Move a cell, or insert a new one, before the cell at this place; return it."""
    at = next((n for n, other in enumerate(cells) if other is cell), None)
    cells.insert(place, cell)
    if at is not None:
        del cells[at + (at >= place)]
    return cell


def _made(original: dict) -> NotebookNode:
    code = {"outputs": [], "execution_count": None} if original["cell_type"] == "code" else {}
    return from_dict({"cell_type": original["cell_type"], "metadata": {}, "source": original["source"], **code})


def _restore(cell: NotebookNode, original: dict) -> None:
    """Give a cell its released type, text and metadata if it counts; an answer keeps its text."""
    if same_text(cell.source) == same_text(original["source"]):
        cell.source = original["source"]  # so that a lesson is known to be unchanged, and a stub to be no response
    if not counts(original):
        return
    if cell.cell_type != original["cell_type"]:
        cell.cell_type = original["cell_type"]
        cell.pop("attachments", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        else:
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
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
    """Raise SubmissionError for a notebook larger than any honest one, or one without released cells."""
    if len(nb.cells) > MOST_CELLS or sum(len(cell.source) for cell in nb.cells) > MOST_CHARACTERS:
        raise SubmissionError(
            f"the notebook has more than {MOST_CELLS} cells, or more than {MOST_CHARACTERS / 1e6:g} million characters."
        )
    if not any(counts(release.cells[key]) and nbgrader(release.cells[key]) for key in release.candidates(nb.cells)):
        raise SubmissionError("the file contains none of the released notebook's cells; is it the right notebook?")


class ReplaceRecord(AssignmentStep):
    """A preprocessor that replaces the student's record with the class's, without cases: checks get them when run."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Put the record without cases among the output files."""
        resources["outputs"][self.known.name + SUFFIX] = self.known.without_cases
        return nb, resources
