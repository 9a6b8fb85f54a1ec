"""Read CSV files from learning platforms and spreadsheets, in any common encoding and with any common separator."""

import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import ClassError
from ..steps.files import MAX_BYTES, composed, readable

BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
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
    """A table's named columns, in order, and its rows; of columns with the same name, rows have the first.

    problems: descriptions of invalid lines, which are left out.
    """

    path: Path
    columns: list[str]
    rows: list[Row]
    problems: list[str]
    encoding: str

    def require_once(self, needed: Iterable[str]) -> None:
        """Raise ClassError if one of these columns, by normalized names, is there twice; others may be."""
        count = Counter(map(key_of, self.columns))
        twice = sorted({readable(name) for name in self.columns if count[key_of(name)] > 1 and key_of(name) in needed})
        if twice:
            raise ClassError(f"{self.path} has duplicate columns: {', '.join(twice)}.")


def key_of(text: str) -> str:
    """Normalize a column name for comparison: `E-Mail_Address` becomes `e mail address`."""
    return " ".join(text.casefold().replace("_", " ").replace("-", " ").split())


def read_table(path: Path) -> Table:
    """Read a CSV file in UTF-8, UTF-16 or Windows-1252, with or without a BOM, separated by commas, semicolons or tabs.

    The first non-empty line names the columns; Excel's `sep=;` may precede it. Text is converted to Unicode's composed
    form. Raises ClassError if the file is not such a table.
    """
    if path.stat().st_size > MAX_BYTES:
        raise ClassError(f"{path} exceeds {MAX_BYTES / 1e6:g} MB, which is too large for a class's table.")
    data = path.read_bytes()
    encoding = next((codec for bom, codec in BOMS.items() if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = "cp1252"
        text = data.decode(encoding, errors="replace")
    text = composed(text)
    if "\0" in text:
        raise ClassError(f"{path} is not text. Save the table as CSV (UTF-8) and use that file.")
    lines = text.splitlines() or [""]
    stated, first = key_of(lines[0]).startswith("sep="), next(filter(str.strip, lines), "")
    separator = lines[0].strip()[4:5] or "\t" if stated else max(SEPARATORS, key=first.count)
    return _parse(path, text, separator, stated, encoding)


def _parse(path: Path, text: str, separator: str, stated: bool, encoding: str) -> Table:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    columns: list[str] = []
    rows, problems, begins = [], [], 1
    try:
        for number, cells in enumerate(reader):
            line, begins = begins, reader.line_num + 1
            cells = [" ".join(cell.split()) for cell in cells]
            if not any(cells) or (stated and number == 0):
                continue
            if not columns:
                columns = cells
            elif any(cells[len(columns) :]):
                problems.append(f"line {line}: {len(cells)} cells, but {len(columns)} columns")
            else:
                pairs = list(zip(columns, cells, strict=False))
                rows.append(Row(line, {name: cell for name, cell in reversed(pairs) if name}))
    except csv.Error as error:
        raise ClassError(f"{path}, line {begins}, cannot be read as CSV ({error}).") from None
    named = [name for name in columns if name]
    if not named:
        raise ClassError(f"{path} is empty; expected a header line and one line per student.")
    return Table(path, named, rows, problems, encoding)
