"""solutions/COVERAGE.md refers only to existing cells."""

import re

import nbformat
import pytest

from authoring.chapter import chapter_names, source_path
from authoring.places import SOLUTIONS

TABLE = SOLUTIONS / "COVERAGE.md"


def rows() -> list[tuple[str, str, str, str]]:
    """(chapter, claim, cells, verdict) of each row of the table."""
    found, chapter = [], ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"## (\d\d_\w+)", line):
            chapter = heading[1]
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if chapter and line.startswith("| ") and len(cells) == 3 and cells[0] != "the note says":
            found.append((chapter, *cells))
    return found


@pytest.mark.parametrize("name", chapter_names())
def test_a_chapter_says_which_claims_it_meets_in_which_of_its_cells_and_with_a_verdict(name):
    cells = {cell.id for cell in nbformat.read(source_path(name), as_version=4).cells}
    met = [row[1:] for row in rows() if row[0] == name]
    assert met
    for claim, places, verdict in met:
        named = set(re.findall(r"`([\w-]+)`", places))
        assert named, claim
        assert named <= cells, claim
        assert re.match(r"(right|wrong|out of date|half right)", verdict), claim
