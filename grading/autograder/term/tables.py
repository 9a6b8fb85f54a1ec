"""Read CSV files from learning platforms and spreadsheets, with any common separator."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from gradlab.words import _

from ..errors import ClassError
from ..steps.files import MAX_BYTES, composed, readable

SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Row:
    """One row: the line on which it begins, and its cells by column, each reduced to one line of text."""

    line: int
    cells: dict[str, str]

    def get(self, column: str) -> str:
        """Return the text in a column; "" if the column is missing."""
        return self.cells.get(column, "")


@dataclass(frozen=True)
class Table:
    """A table's named columns, in order, and its rows; of columns with the same name, rows have the first."""

    path: Path
    columns: list[str]
    rows: list[Row]

    @property
    def by_key(self) -> dict[str, str]:
        """The columns by normalized name; of several with the same, the first."""
        return {key_of(column): column for column in reversed(self.columns)}

    @property
    def shown(self) -> str:
        """A sentence that lists the columns."""
        return _("Its columns: {columns}.", columns=", ".join(map(readable, self.columns)))


def key_of(text: str) -> str:
    """Normalize a column name for comparison: `E-Mail_Address` becomes `e mail address`."""
    return " ".join(text.casefold().replace("_", " ").replace("-", " ").split())


def read_table(path: Path) -> Table:
    """Read a CSV file in UTF-8, separated by commas, semicolons or tabs, whose first non-empty line names the columns.

    Text is converted to Unicode's composed form. Raises ClassError if the file is not such a table.
    """
    if path.stat().st_size > MAX_BYTES:
        raise ClassError(_("{file} exceeds {most:g} MB.", file=path, most=MAX_BYTES / 1e6))
    try:
        text = composed(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ClassError(_("{file} is not text in UTF-8. Save the table as CSV UTF-8.", file=path)) from None
    first = next(filter(str.strip, text.splitlines()), "")
    return _parse(path, text, max(SEPARATORS, key=first.count))


def _parse(path: Path, text: str, separator: str) -> Table:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    columns, rows, line = list[str](), list[Row](), 1
    try:
        for texts in reader:
            cells = [" ".join(text.split()) for text in texts]
            if columns and any(cells[len(columns) :]):
                raise csv.Error(_("{cells} cells, but {columns} columns", cells=len(cells), columns=len(columns)))
            if columns and any(cells):
                pairs = list(zip(columns, cells, strict=False))
                rows.append(Row(line, {name: cell for name, cell in reversed(pairs) if name}))
            columns = columns or cells * any(cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise ClassError(_("{file}, line {line}: {error}.", file=path, line=line, error=error)) from None
    named = [name for name in columns if name]
    if not named:
        raise ClassError(_("{file} is empty; expected a header line and one line per student.", file=path))
    return Table(path, named, rows)
