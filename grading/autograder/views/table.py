"""Describe a table once, as columns, and render it as text for the terminal or as CSV; templates render it as HTML."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..steps.files import readable


@dataclass(frozen=True)
class Column:
    """One column. value: takes the parts of a row, and returns text, a number, or None for an empty cell.

    right: whether text is aligned to the right, as numbers are.
    """

    name: str
    value: Callable[..., object]
    right: bool = False


@dataclass(frozen=True)
class Table:
    """Columns and rows; each row is a tuple, whose parts are passed to every column's `value`."""

    columns: Sequence[Column]
    rows: Sequence[tuple]

    @property
    def cells(self) -> list[list[object]]:
        """The values, row by row."""
        return [[column.value(*row) for column in self.columns] for row in self.rows]

    def csv(self) -> str:
        """Return the table as CSV; text that a spreadsheet would read as a formula gets a leading '."""
        return as_csv([[column.name for column in self.columns], *self.cells])

    def text(self) -> str:
        """Return the table for the terminal: aligned, each cell on one line without control characters."""
        lines = [[column.name for column in self.columns], *(map(as_words, line) for line in self.cells)]
        columns = [
            [padded(cell, max(map(wide, cells)), column.right) for cell in cells]
            for column, cells in zip(self.columns, map(list, zip(*lines, strict=True)), strict=True)
        ]
        return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def as_text(value: object) -> object:
    """Return text on one line that a spreadsheet does not read as a formula; return other values unchanged.

    Puts a ' before = + - and @ at the start, or after a semicolon or tab, which could be the separator.
    """
    return readable(_FORMULA.sub(r"\1'\2", value)) if isinstance(value, str) else value


_FORMULA = re.compile(r"(^|[;\t])(\s*[=+\-@＝＋－＠])")


def as_csv(lines: Iterable[Iterable[object]], form: Callable = as_text) -> str:
    """Return lines of cells as CSV, each cell in a form that no spreadsheet reads as a formula."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([map(form, line) for line in lines])
    return text.getvalue()


def as_words(value: object) -> str:
    """Format a cell for people: numbers with at most four digits, nothing for None."""
    return "" if value is None else readable(value) if isinstance(value, str) else f"{value:.4g}"


def wide(text: str) -> int:
    """Return the width of text in terminal columns: East Asian characters take two, combining marks none."""
    kinds = [unicodedata.east_asian_width(letter) for letter in text if not unicodedata.combining(letter)]
    return sum(2 if kind in "WF" else 1 for kind in kinds)


def padded(text: str, width: int, right: bool = False) -> str:
    """Pad text with blanks to a width in terminal columns."""
    blanks = " " * (width - wide(text))
    return blanks + text if right else text + blanks
