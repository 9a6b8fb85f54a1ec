"""The pages beside the chapters: the start page links each, and a cell shows every message."""

import re

import nbformat
import pytest

from authoring import pages
from authoring.build import START_PAGE
from authoring.chapter import source_path

TEXTS = {path.name: path.read_text(encoding="utf-8") for path in pages.PAGES.glob("*.md")}
SHOWN = re.compile(r"\s+")


def shown(chapter: str, name: str) -> str:
    """What a solved cell shows, as one line of text."""
    notebook = nbformat.read(source_path(chapter), as_version=4)
    outputs = next(cell for cell in notebook.cells if cell.id == name).outputs
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    return SHOWN.sub(" ", " ".join(texts))


def test_the_start_page_links_each_page():
    start = START_PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(chapters/pages/(\w+\.md)\)", start)) == TEXTS.keys()


@pytest.mark.parametrize("entry", pages.entries().values(), ids=lambda entry: entry.message[:60])
def test_a_message_that_a_lesson_explains_is_one_that_its_cell_shows(entry):
    for chapter, cell, says in entry.explained:
        assert SHOWN.sub(" ", entry.message) in shown(chapter, cell), says
