"""The pages beside the chapters: every link leads to a cell, and a cell shows every message."""

import re

import nbformat
import pytest

from authoring import pages
from authoring.build import START_PAGE, STUDENT_EDITION
from authoring.chapter import source_path

TEXTS = {path.name: path.read_text(encoding="utf-8") for path in pages.PAGES.glob("*.md")}
LINK = re.compile(r"\]\(\.\./(\w+)/\1\.ipynb#cell-id=([\w-]+)\)")
SHOWN = re.compile(r"\s+")


def shown(chapter: str, name: str) -> str:
    """What a solved cell shows, as one line of text."""
    notebook = nbformat.read(source_path(chapter), as_version=4)
    outputs = next(cell for cell in notebook.cells if cell.id == name).outputs
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    return SHOWN.sub(" ", " ".join(texts))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as JupyterLab makes them."""
    return {heading.replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def test_the_start_page_links_each_page():
    start = START_PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(pages/(\w+\.md)\)", start)) == TEXTS.keys()


@pytest.mark.parametrize("name", TEXTS)
def test_each_link_of_a_page_leads_to_a_cell_of_the_students_edition(name):
    for chapter, cell in LINK.findall(TEXTS[name]):
        edition = nbformat.read(STUDENT_EDITION / chapter / f"{chapter}.ipynb", as_version=4)
        assert cell in {one.id for one in edition.cells}


@pytest.mark.parametrize(("chapter", "cell", "message", "says"), pages.EXPLAINED)
def test_a_message_that_a_lesson_explains_is_one_that_its_cell_shows(chapter, cell, message, says):
    assert SHOWN.sub(" ", message) in shown(chapter, cell), says
