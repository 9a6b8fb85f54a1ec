"""The end of part two: lessons of chapters 02, 03 and 06 print the same on the solved engine as on torch."""

import importlib
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
    went = dict(finale.compare(chapter))
    left_out = finale.LEFT_OUT[chapter]
    assert {cell: how for cell, how in went.items() if how != "the same" and cell not in left_out} == {}
    assert left_out.keys() <= went.keys(), "what is left out is there to be left out"
    assert len(went) > 3 * len(left_out)


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
