"""Read CSV files from learning platforms and spreadsheets, with any common separator."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from gradlab.words import _

from ..errors import ClassError
from ..steps.files import MAX_BYTES, composed

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


def key_of(text: str) -> str:
    """Normalize a column name for comparison: `E-Mail_Address` becomes `e mail address`."""
    return " ".join(text.casefold().replace("_", " ").replace("-", " ").split())


def read_table(path: Path) -> Table:
    """Read a CSV file in UTF-8, separated by commas, semicolons or tabs, whose first non-empty line names the columns.

    Text is converted to Unicode's composed form. Raises ClassError if the file is not such a table.
    """
    if path.stat().st_size > MAX_BYTES:
        most = MAX_BYTES / 1e6
        raise ClassError(_("{file} exceeds {most:g} MB, which is too large for a class's table.", file=path, most=most))
    try:
        text = composed(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        problem = _("{file} is not text in UTF-8. In a spreadsheet, save the table as CSV UTF-8.", file=path)
        raise ClassError(problem) from None
    first = next(filter(str.strip, text.splitlines()), "")
    return _parse(path, text, max(SEPARATORS, key=first.count))


def _parse(path: Path, text: str, separator: str) -> Table:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    columns: list[str] = []
    rows, begins = [], 1
    try:
        for cells in reader:
            line, begins = begins, reader.line_num + 1
            cells = [" ".join(cell.split()) for cell in cells]
            if not any(cells):
                continue
            if not columns:
                columns = cells
            elif any(cells[len(columns) :]):
                raise ClassError(
                    _(
                        "{file}, line {line}: {cells} cells, but {columns} columns.",
                        file=path,
                        line=line,
                        cells=len(cells),
                        columns=len(columns),
                    )
                )
            else:
                pairs = list(zip(columns, cells, strict=False))
                rows.append(Row(line, {name: cell for name, cell in reversed(pairs) if name}))
    except csv.Error as error:
        problem = _("{file}, line {line}, cannot be read as CSV ({error}).", file=path, line=begins, error=error)
        raise ClassError(problem) from None
    named = [name for name in columns if name]
    if not named:
        raise ClassError(_("{file} is empty; expected a header line and one line per student.", file=path))
    return Table(path, named, rows)
