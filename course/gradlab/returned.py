"""Find the released cells in a notebook that came back, whatever editor and student did to it.

A cell is recognized by nbgrader's metadata, then by its id, then by a text equal to the release. An answer that has
none of these left, or whose cell is as released, is looked for in the student's other cells: one that defines its
names, or else the only one in its place. Cells are dicts, as `ipynb.read` returns them. Like `ipynb`, this needs
nothing installed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .ipynb import grade_id, nbgrader, tags

_DEFINES = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_BINDS = re.compile(rf"{_DEFINES.pattern}|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)


def is_answer(cell: dict) -> bool:
    """Return whether students write in this released cell what a check tests, or what is graded manually."""
    return nbgrader(cell).get("solution") is True


def is_check(cell: dict) -> bool:
    """Return whether this released cell earns points by its code."""
    return nbgrader(cell).get("grade") is True and not is_answer(cell)


def is_setup(cell: dict) -> bool:
    """Return whether exercises depend on this released cell, which is not an answer."""
    return not nbgrader(cell) and ("setup" in tags(cell) or "engine" in tags(cell))


def is_fixed(cell: dict) -> bool:
    """Return whether this released cell keeps its released text in grading."""
    return is_setup(cell) or nbgrader(cell).get("locked") is True


def counts(cell: dict) -> bool:
    """Return whether grading depends on this released cell."""
    return bool(nbgrader(cell)) or is_setup(cell)


def same_text(source: str) -> str:
    """Return a source without space at the ends, and at the ends of lines, which editors change by themselves."""
    return "\n".join(line.rstrip() for line in source.strip().split("\n"))


@dataclass
class CellMatches:
    """Which released cells the cells of a notebook are; places are positions in it.

    keys: for each cell, the id of the released cell that it is, None for a student's own cell. places: the reverse.
    homes: for each answer with a student's text, the place of the cell that defines it, usually its own. copies: the
    places of further copies of cells that count, with the released text; they count for nothing.
    """

    keys: list[str | None]
    places: dict[str, int] = field(default_factory=dict)
    homes: dict[str, int] = field(default_factory=dict)
    copies: set[int] = field(default_factory=set)


class Release:
    """The cells of a release, in order, each with an id. A cell of several editions may be given once for each."""

    def __init__(self, cells: Iterable[dict]):
        self.cells: dict[str, dict] = {}
        self._texts: dict[str, set[str]] = {}
        self._by_text: dict[str, list[str]] = {}
        self._check_of: dict[str, str] = {}
        waiting: list[str] = []
        for cell in cells:
            key, text = cell["id"], same_text(cell["source"])
            self.cells.pop(key, None)  # the order is that of the last edition
            self.cells[key] = cell
            self._texts.setdefault(key, set()).add(text)
            if text and key not in self._by_text.setdefault(text, []):
                self._by_text[text].append(key)
            if is_answer(cell):
                waiting.append(key)
            elif is_check(cell):
                self._check_of |= dict.fromkeys(waiting, key)
                waiting = []
        self._by_grade = {grade_id(cell): key for key, cell in self.cells.items() if grade_id(cell)}

    @property
    def answers(self) -> set[str]:
        """The ids of the answers."""
        return {key for key, cell in self.cells.items() if is_answer(cell)}

    def is_of(self, cells: list[dict]) -> bool:
        """Return whether a notebook has a cell that nbgrader knows, by metadata, id or text; set-up is in many."""
        return any(nbgrader(self.cells[key]) for key in self.candidates(cells))

    def claimed(self, cell: dict) -> str | None:
        """Return the id of the released cell that this cell says it is, by nbgrader's metadata or by its id."""
        by_grade = self._by_grade.get(grade_id(cell))
        return by_grade or (cell.get("id") if cell.get("id") in self.cells else None)

    def is_as_released(self, key: str, cell: dict) -> bool:
        """Return whether a cell has the text of the released cell `key`, or none."""
        text = same_text(cell["source"])
        return not text or text in self._texts[key]

    def candidates(self, cells: Sequence[dict]) -> dict[str, list[int]]:
        """Return the places of the cells that could be each released cell, in the notebook's order."""
        by_claim: dict[str, list[int]] = {}
        for place, cell in enumerate(cells):
            if key := self.claimed(cell):
                by_claim.setdefault(key, []).append(place)
        by_text: dict[str, list[int]] = {}
        for place, cell in enumerate(cells):
            if not self.claimed(cell):
                keys = [key for key in self._by_text.get(same_text(cell["source"]), []) if key not in by_claim]
                if keys:
                    by_text.setdefault(next((key for key in keys if key not in by_text), keys[-1]), []).append(place)
        return by_claim | by_text

    def find(self, cells: Sequence[dict]) -> CellMatches:
        """Match a notebook's cells with the released ones.

        Of several copies of a check, the last counts; of an answer, the last above its check that has a student's
        text; of any other cell, the first.
        """
        candidates = self.candidates(cells)
        matches = CellMatches([None] * len(cells))
        for key, places in candidates.items():
            if not is_answer(self.cells[key]):
                self._take(matches, key, places[-1] if is_check(self.cells[key]) else places[0])
        for key in self.answers:
            written = [n for n in candidates.get(key, []) if not self.is_as_released(key, cells[n])]
            if written:
                matches.homes[key] = self._last(matches, key, written)
                self._take(matches, key, matches.homes[key])
        for key in (key for key in self.cells if key in self.answers - matches.homes.keys()):
            self._look_for(key, cells, candidates, matches)
        for place, cell in enumerate(cells):
            like = self.claimed(cell) or next(iter(self._by_text.get(same_text(cell["source"]), [])), None)
            if matches.keys[place] is None and like and counts(self.cells[like]) and self.is_as_released(like, cell):
                matches.copies.add(place)
        return matches

    def _take(self, matches: CellMatches, key: str, place: int) -> None:
        matches.keys[place], matches.places[key] = key, place

    def _last(self, matches: CellMatches, key: str, places: list[int]) -> int:
        """Return the last of these places above the check of an answer, or the last of all."""
        check = matches.places.get(self._check_of.get(key, ""), len(matches.keys))
        return max((place for place in places if place < check), default=places[-1])

    def _look_for(
        self, key: str, cells: Sequence[dict], candidates: dict[str, list[int]], matches: CellMatches
    ) -> None:
        """Find the cell of an answer that was not written in a cell of its own."""
        stub = self.cells[key]["source"]
        names = set(_DEFINES.findall(stub)) or bound(stub)
        theirs = [
            n for n, cell in enumerate(cells) if cell["cell_type"] == "code" and self._is_theirs(matches, n, cell)
        ]
        defines = [n for n in theirs if names & bound(cells[n]["source"])]
        own = [n for n in defines if matches.keys[n] is None]
        if defines:
            matches.homes[key] = self._last(matches, key, own or defines)
            if own and bound(stub) <= bound(cells[matches.homes[key]]["source"]):
                self._take(matches, key, matches.homes[key])
                return
        if key in candidates:
            self._take(matches, key, candidates[key][0])
            return
        order = list(self.cells)
        at = order.index(key)
        above = max((matches.places[other] for other in order[:at] if other in matches.places), default=-1)
        below = [matches.places[other] for other in order[at + 1 :] if matches.places.get(other, -1) > above]
        inside = [n for n in theirs if above < n < min(below, default=len(cells)) and matches.keys[n] is None]
        if len(inside) == 1 and key not in matches.homes:
            matches.homes[key] = inside[0]
            self._take(matches, key, inside[0])

    def _is_theirs(self, matches: CellMatches, place: int, cell: dict) -> bool:
        key, text = matches.keys[place] or self.claimed(cell), same_text(cell["source"])
        return bool(text) and not (self.is_as_released(key, cell) if key else text in self._by_text)


def bound(source: str) -> set[str]:
    """Return the names that a cell's lines define, without parsing them: they need not be valid Python."""
    return {name for groups in _BINDS.findall(source) for name in groups if name}
