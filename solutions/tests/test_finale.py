"""The end of part two: lessons of chapters 02, 03 and 06 print the same on the solved engine as in torch."""

import html
import importlib
import re
import sys

import nbformat
import pytest

from authoring.chapter import source_path
from authoring.places import SOURCES
from gradlab.engine import source_of

CHAPTERS = ["02_external_gradients", "03_accumulation", "06_tensor_hooks"]


@pytest.fixture(scope="module")
def finale():
    """The module of chapter 14 with its solved engine; the modules of the engine are gone afterwards."""
    before, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(SOURCES / "14_train"))
    try:
        module = importlib.import_module("finale")
        solved = {}
        exec(source_of(nbformat.read(source_path("14_train"), as_version=4).cells), solved)
        module.prepare(matmul=solved["matmul"], SGD=solved["SGD"])
        yield module
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            if name.startswith(("engine_", "like_torch", "finale")):
                del sys.modules[name]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_lesson_prints_the_same_with_only_its_import_changed(finale, chapter):
    went = {one.cell: one.how for one in finale.compare(chapter)}
    left_out = finale.LEFT_OUT[chapter]
    assert {cell: how for cell, how in went.items() if how != "the same" and cell not in left_out} == {}
    assert left_out.keys() <= went.keys(), "what is left out is there to be left out"
    assert len(went) > 3 * len(left_out)


def test_a_lesson_lies_beside_both_of_its_outputs_and_all_are_counted(finale):
    shown = finale.side_by_side(CHAPTERS[1], CHAPTERS)
    counted = re.fullmatch(
        r"(\d+) of (\d+) lesson cells of chapters 02, 03 and 06 print the same on your engine as in torch; "
        r"(\d+) are left out, each for a reason\.",
        shown.count,
    )
    same, of, left_out = map(int, counted.groups())
    assert same + left_out == of > 50
    page = shown._repr_html_()
    run = next(one for one in shown.lessons if one.cell == "s1-retain")
    for text in (run.source, run.torch):
        assert html.escape(text) in page
    assert page.count(f"<pre>{html.escape(run.torch)}</pre>") >= 2, "in torch, and on the learner's"
    assert "section 5: left out: it needs access to saved values" in page


def test_a_lesson_that_goes_differently_is_seen(finale, monkeypatch):
    monkeypatch.setattr(finale, "_compared", {})
    monkeypatch.setattr(finale, "OURS", "import like_torch as torch\nprint('mine')\n")
    shown = finale.side_by_side(CHAPTERS[0], CHAPTERS[:2])
    assert "not the same" in repr(shown)
    assert "✗ not the same, in the set-up: " in shown._repr_html_()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_lesson_raises_on_torch(finale, chapter):
    """An error on both would be the same on both."""
    last = {cell: text.splitlines()[-1:] for cell, text in finale.printed(chapter, finale.TORCH).items()}
    assert not [cell for cell, line in last.items() if line and line[0].startswith(("NameError", "AttributeError"))]


def test_a_learners_own_cells_and_changes_in_a_lesson_are_left_out(finale, monkeypatch, tmp_path):
    """In a workspace the released chapter lies beside the learner's."""
    chapter = CHAPTERS[0]
    monkeypatch.setattr(finale, "__file__", str(tmp_path / "14_train" / "finale.py"))
    released, mine = tmp_path / ".released" / chapter, tmp_path / chapter
    for folder, own in ((released, []), (mine, [nbformat.v4.new_code_cell("torch.compile(print)")])):
        folder.mkdir(parents=True)
        cells = [nbformat.v4.new_code_cell("import torch", id="setup"), *own]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{chapter}.ipynb")
    assert finale.lesson_cells(chapter) == [("setup", "import torch")]


def test_a_chapter_that_is_not_beside_it_is_asked_for(finale, monkeypatch, tmp_path):
    monkeypatch.setattr(finale, "__file__", str(tmp_path / "14_train" / "finale.py"))
    shown = finale.side_by_side(CHAPTERS[0], CHAPTERS)
    assert str(shown).endswith(f"put these folders beside this one: {', '.join(CHAPTERS)}.")
    assert str(shown) in shown._repr_html_()
