"""The pages beside the chapters: the start page links each, and a cell shows every message."""

import re
import warnings

import nbformat
import numpy as np
import pytest
import torch

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


@pytest.mark.parametrize("message", pages.entries(), ids=lambda message: message[:60])
def test_a_message_that_a_lesson_explains_is_one_that_its_cell_shows(message):
    for chapter, cell, says in pages.explained(pages.entries()[message]):
        assert SHOWN.sub(" ", message) in shown(chapter, cell), says


def test_every_message_of_the_index_has_an_entry():
    assert pages.entries().keys() == pages.cures().keys()


def raised(program: str) -> list[str]:
    """Run a program; return its warnings and its error, as a traceback's last line shows them."""
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(program, "<program>", "exec"), {"torch": torch, "np": np, "__name__": "program"})
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
    found += [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    return [SHOWN.sub(" ", line) for line in found]


@pytest.mark.parametrize("message", pages.entries(), ids=lambda message: message[:60])
def test_the_smallest_program_of_a_message_raises_it(message):
    program = re.search(r"```python\n(.*?)\n```", pages.entries()[message], re.DOTALL)[1]
    pattern = ".*".join(map(re.escape, message.split("…")))  # … stands for anything
    assert any(re.search(pattern, line) for line in raised(program))
