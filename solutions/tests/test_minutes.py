"""A chapter's minutes exclude its appendices, which can be skipped without losing points."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import is_grade, is_solution

from authoring.build import normalise
from authoring.chapter import chapter_names, source_path
from authoring.minutes import APPENDIX, core, mark_extra, minutes, without_appendices

OPENING = "**Time**: about 0 minutes, 0 of them for the one exercise."
STATEMENT = "1 point · difficulty ●○○ · importance ●○○ · 8 minutes"


def chapter(*cells):
    return new_notebook(cells=[new_markdown_cell(OPENING), new_markdown_cell(STATEMENT), *cells])


def test_words_take_minutes_and_so_does_code():
    taken = minutes(chapter(new_markdown_cell("word " * 1300), new_code_cell("line\n" * 12)))
    assert taken.prose > 10
    assert taken.code == 1


@pytest.mark.parametrize(
    "cells",
    [
        [new_markdown_cell(f"{APPENDIX}Why?\n\n" + "word " * 1300), new_code_cell("line\n" * 120)],
        [new_code_cell("line\n" * 120, metadata={"jupyter": {"source_hidden": True}})],
    ],
    ids=["an appendix", "folded code"],
)
def test_what_can_be_skipped_takes_no_minutes(cells):
    assert minutes(chapter(*cells)) == minutes(chapter())


def test_the_target_of_a_link_takes_no_minutes():
    linked = new_markdown_cell("a [leaf](../README.md#glossary) of a graph")
    assert minutes(chapter(linked)) == minutes(chapter(new_markdown_cell("a leaf of a graph")))


def test_the_opening_is_given_the_minutes_that_the_chapter_takes():
    notebook = chapter(new_markdown_cell("word " * 1300))
    assert normalise(notebook).cells[0].source == "**Time**: about 25 minutes, 8 of them for the one exercise."


def test_an_exercise_may_take_one_minute():
    line = "1 point · importance ●●●●○ · {} · extra"
    one, two = (new_markdown_cell(line.format(time)) for time in ("1 minute", "2 minutes"))
    assert [minutes(new_notebook(cells=[cell])).exercises for cell in (one, two)] == [1, 2]


def section(heading, *dots):
    """A section's heading, and its exercises of so many dots of importance, each with its check."""
    cells = [new_markdown_cell(f"## {heading}\n\nSo it is.")]
    for n in dots:
        cells.append(new_markdown_cell(f"### Exercise 01.1 · It\n\n1 point · importance {'●' * n:○<5} · 8 minutes"))
        cells.append(new_code_cell("check()", metadata={"nbgrader": {"grade": True}}))
    return cells


def test_what_is_outside_the_core_path_says_so_and_takes_none_of_its_minutes():
    close = section("What you can now say")
    notebook = new_notebook(cells=[*section("1 · Why?"), *section("2 · How?", 5, 4), *section("3 · When?", 4), *close])
    for _ in range(2):
        mark_extra(notebook)
    marked = [cell.source.partition("\n\n")[2] for cell in notebook.cells if cell.cell_type == "markdown"]
    full, less = "1 point · importance ●●●●● · 8 minutes", "1 point · importance ●●●●○ · 8 minutes · extra"
    assert marked == ["So it is.", "So it is.", full, less, "*Extra*\n\nSo it is.", less, "So it is."]
    assert [cell.metadata.get("tags") for cell in notebook.cells if is_grade(cell)] == [None, ["extra"], ["extra"]]
    assert minutes(core(notebook)).exercises == 8
    assert minutes(notebook).exercises == 24
    for cell in notebook.cells:
        cell.source = cell.source.replace("●●●●○", "●●●●●")
    mark_extra(notebook)
    assert not any(cell.metadata.get("tags") or "xtra" in cell.source for cell in notebook.cells)


@pytest.mark.parametrize("name", chapter_names())
def test_no_chapter_takes_longer_than_an_evening(name):
    assert minutes(nbformat.read(source_path(name), as_version=4)).total <= 110


@pytest.mark.parametrize("name", chapter_names())
def test_an_appendix_follows_the_close_and_holds_nothing_that_counts(name):
    notebook = nbformat.read(source_path(name), as_version=4)
    main = list(without_appendices(notebook))
    assert main[-1].id == "summary"
    for cell in notebook.cells[len(main) :]:
        assert not is_grade(cell), cell.id
        assert not is_solution(cell), cell.id
        assert "with predict." not in cell.source, cell.id
        assert not cell.source.startswith("## ") or cell.source.startswith(APPENDIX), cell.id
