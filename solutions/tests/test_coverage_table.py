"""solutions/COVERAGE.md refers only to existing cells."""

import functools
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


@functools.cache
def cells_of(chapter: str) -> set[str]:
    """The ids of a chapter's cells."""
    return {cell.id for cell in nbformat.read(source_path(chapter), as_version=4).cells}


@pytest.mark.parametrize("name", chapter_names())
def test_every_chapter_says_which_claims_it_meets(name):
    assert [row for row in rows() if row[0] == name]


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0][:2]} {row[1][:40]}")
def test_a_row_names_cells_of_its_chapter_and_a_verdict(row):
    chapter, _, cells, verdict = row
    named = re.findall(r"`([\w-]+)`", cells)
    assert named
    assert set(named) <= cells_of(chapter)
    assert re.match(r"(right|wrong|out of date|half right)", verdict)
