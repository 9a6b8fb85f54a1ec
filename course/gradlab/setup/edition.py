"""Merge what a student wrote in an old edition of a notebook into the new one, cell by cell (see `returned`).

Only a cell's source, type and attachments count as the student's work; outputs, execution numbers and everything else
that JupyterLab saves automatically are ignored. Notebooks are plain dicts, as `ipynb.read` returns them.
"""

import json
import uuid

from ..ipynb import nbgrader
from ..returned import Release, is_answer
from ..words import _

NOTHING: dict[str, list] = {"cells": []}  # an unknown edition


def to_json(notebook: dict) -> bytes:
    """Return a notebook as the bytes of a file."""
    return (json.dumps(notebook, indent=1, sort_keys=True) + "\n").encode()


def _written(cell: dict) -> tuple:
    """Return the parts of a cell that a person writes."""
    return cell["cell_type"], cell["source"].rstrip(), cell.get("attachments") or {}


def _has_words(cell: dict) -> bool:
    return bool(cell["source"].strip() or cell.get("attachments"))


def _is_locked(cell: dict) -> bool:
    return nbgrader(cell).get("locked") is True


def same(first: dict, second: dict) -> bool:
    """Return whether two notebooks have the same cells, ignoring outputs."""

    def frames(notebook: dict) -> list[tuple]:
        return [(cell.get("id"), _written(cell), nbgrader(cell)) for cell in notebook["cells"]]

    return frames(first) == frames(second)


class Merge:
    """The new edition of a notebook, with what the student wrote in the old one.

    old: as it was released. mine: as the student has it. new: as it is released now. copy: the folder that keeps mine,
    for the text above cells that no longer fit.

    Released cells keep the new edition's order. A cell has the student's text if it is an answer, or if the new edition
    did not change it. A student's own cells stay below the cell they followed.

    notebook: the result. wrote: whether the student wrote anything in it. left: what did not fit.
    """

    def __init__(self, old: dict, mine: dict, new: dict, copy: str):
        self.former = {cell["id"]: cell for cell in old["cells"] if isinstance(cell.get("id"), str)}
        self.ids: set[str] = set()
        self.new = {**new, "cells": [{**cell, "id": self._fresh(cell.get("id"))} for cell in new["cells"]]}
        self.copy = copy
        self.release = Release([*self.former.values(), *self.new["cells"]])
        self.released: dict[str, dict] = {cell["id"]: cell for cell in self.new["cells"]}
        self.left: list[dict] = []  # cells for the section at the end, each after a line that describes it
        self.wrote = False
        self.own: dict[str | None, list[dict]] = {}  # by the id of the cell before them; None: at the top
        self.tail: list[dict] = []
        self.filled = self._sort(mine["cells"])
        self.notebook = {**self.new, "cells": self._cells()}

    def _cells(self) -> list[dict]:
        """Return the cells in their order; the last ones are those that did not fit."""
        cells = list(self.own.get(None, []))
        for cell in self.new["cells"]:
            cells.append(self._filled_in(cell))
            cells += self.own.get(cell["id"], [])
        cells += self.tail
        if self.left:
            heading = _("Kept from your earlier copy")
            says = _(
                "The new edition has no place for the cells below. Copy what you need, move them or delete them. The "
                "notebook as you left it is in `{copy}`, beside this chapter's folder.",
                copy=self.copy,
            )
            cells += [self._said(f"## {heading}\n\n{says}"), *self.left]
        return cells

    def _sort(self, cells: list[dict]) -> dict[str, dict]:
        """Return the student's version of each released cell, by id.

        Collects the student's own cells, and changed cells that the new edition no longer has.
        """
        matches = self.release.find(cells)
        keys = matches.keys
        known = [place for place, key in enumerate(keys) if key is not None]
        last, anchor, filled = max(known, default=-1), None, {}
        for place, (cell, key) in enumerate(zip(cells, keys, strict=True)):
            if key in self.released:
                anchor, filled[key] = key, cell
            elif key is not None:
                if _has_words(cell) and _written(cell) != _written(self.former[key]):
                    self._leave(key, cell)
            elif _has_words(cell) and place not in matches.copies:
                self.wrote = True
                (self.tail if place > last else self.own.setdefault(anchor, [])).append(self._as_own(cell))
        return filled

    def _filled_in(self, cell: dict) -> dict:
        """Return a cell of the new edition, with the student's text if it belongs there."""
        key = cell["id"]
        mine, old = self.filled.get(key), self.former.get(key)
        if mine is None or not _has_words(mine) or _written(mine) in (_written(cell), old and _written(old)):
            return cell
        if _is_locked(cell) and self.release.is_as_released(key, mine):
            return cell
        answer = is_answer(cell)
        if not answer and (old is None or _written(old) != _written(cell) or _is_locked(cell)):
            self._leave(key, mine)
            return cell
        self.wrote = True
        filled = self._body(mine, cell["cell_type"] if answer else mine["cell_type"])
        return {**filled, "id": key, "metadata": cell["metadata"]}

    def _leave(self, key: str, cell: dict) -> None:
        self.wrote = True
        self.left += [self._said(_("Your text in `{cell}`:", cell=key)), self._as_own(cell)]

    def _said(self, words: str) -> dict:
        return {"cell_type": "markdown", "id": self._fresh(None), "metadata": {}, "source": words}

    def _as_own(self, cell: dict) -> dict:
        """Return the cell as the student's own: unlocked, and without nbgrader's mark of a released cell."""
        kept = dict(cell["metadata"])
        if kept.pop("nbgrader", None) is not None:
            for name in ("editable", "deletable"):
                kept.pop(name, None)
        return {**self._body(cell, cell["cell_type"]), "id": self._fresh(cell.get("id")), "metadata": kept}

    @staticmethod
    def _body(cell: dict, cell_type: str) -> dict:
        """Return the fields, from `cell`, that a cell of type `cell_type` has besides its id and metadata."""
        body = {"cell_type": cell_type, "source": cell["source"]}
        if cell_type != "code":
            return {**body, "attachments": cell["attachments"]} if cell.get("attachments") else body
        return {**body, "outputs": cell.get("outputs", []), "execution_count": cell.get("execution_count")}

    def _fresh(self, wanted: str | None) -> str:
        """Return an id that no cell has yet: the wanted one if it is free."""
        chosen = wanted if wanted and wanted not in self.ids else uuid.uuid4().hex[:12]
        self.ids.add(chosen)
        return chosen
