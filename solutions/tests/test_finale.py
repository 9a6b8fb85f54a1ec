"""The end of part two: earlier lessons print the same on the solved engine as in torch, and it learns from names."""

import html
import math
import re
import sys

import nbformat
import numpy as np
import pytest
import torch

from authoring.chapter import chapter_names, importing_from, source_path
from authoring.places import SOURCES
from gradlab import notebook, track
from gradlab.engine import source_of

CHAPTERS = ["02_external_gradients", "03_accumulation", "06_tensor_hooks"]


def cells(chapter):
    """A solved chapter's cells by id."""
    return {cell.id: cell for cell in nbformat.read(source_path(chapter), as_version=4).cells}


@pytest.fixture(scope="module")
def solved():
    """What the engine's cells of chapter 14 define, solved; the modules of the engine are gone afterwards."""
    with importing_from(SOURCES / "14_train"):
        defined = {}
        exec(source_of(cells("14_train").values()), defined)
        yield defined
    for name in ("gradlab.like_torch", "gradlab.finale"):  # they hold classes of the engine
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def finale(solved):
    """The module of the finale, with the solved engine and beside the solved chapters."""
    from gradlab import finale

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebook, "FOLDER", SOURCES / "14_train")
        finale.prepare(matmul=solved["matmul"], SGD=solved["SGD"])
        yield finale


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
        r"(\d+) of (\d+) lesson cells of chapters 02, 03, 06 print the same on your engine as in torch; "
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
    monkeypatch.setattr(finale, "OURS", "from gradlab import like_torch as torch\nprint('mine')\n")
    shown = finale.side_by_side(CHAPTERS[0], CHAPTERS[:2])
    assert "not the same" in repr(shown)
    assert "✗ not the same, the set-up: " in shown._repr_html_()


@pytest.mark.parametrize(
    "array",
    [
        np.array([math.nan, 1.0, math.inf], np.float32),
        np.arange(40),
        np.arange(36, dtype=np.float32).reshape(3, 1, 12) * 1.5,
    ],
)
def test_tensors_are_printed_as_in_torch(finale, array):
    assert repr(finale.like_torch.tensor(array)) == repr(torch.tensor(array))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_lesson_raises_on_torch(finale, chapter):
    """An error on both would be the same on both."""
    last = {cell: text.splitlines()[-1:] for cell, text in finale.printed(chapter, finale.TORCH).items()}
    assert not [cell for cell, line in last.items() if line and line[0].startswith(("NameError", "AttributeError"))]


def test_a_learners_own_cells_and_changes_in_a_lesson_are_left_out(finale, monkeypatch, tmp_path):
    """In a workspace the released chapter lies beside the learner's."""
    chapter = CHAPTERS[0]
    monkeypatch.setattr(notebook, "FOLDER", tmp_path / "14_train")
    released, mine = tmp_path / ".released" / chapter, tmp_path / chapter
    for folder, own in ((released, []), (mine, [nbformat.v4.new_code_cell("torch.compile(print)")])):
        folder.mkdir(parents=True)
        cells = [nbformat.v4.new_code_cell("import torch", id="setup"), *own]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{chapter}.ipynb")
    assert finale.lesson_cells(chapter) == [("setup", "import torch")]


def test_a_chapter_that_is_not_beside_it_is_asked_for(finale, monkeypatch, tmp_path):
    monkeypatch.setattr(notebook, "FOLDER", tmp_path / "14_train")
    shown = finale.side_by_side(CHAPTERS[0], CHAPTERS)
    assert str(shown).endswith(f"put these folders beside this one: {', '.join(CHAPTERS)}.")
    assert str(shown) in shown._repr_html_()


def test_it_learns_from_names_and_invents_others(solved, monkeypatch):
    """Its loss falls from log 27 to far below 2.78, which the letters' frequencies alone would give."""
    monkeypatch.chdir(SOURCES / "14_train")
    chapter = cells("14_train")
    ran = solved | {"payoff": lambda *args, **options: lambda function: function, "track": track}
    exec(chapter["payoff-names"].source, ran)
    assert all(re.fullmatch("[a-z]{3,9}", name) for name in ran["NAMES"])
    assert f"contains {len({*ran['NAMES']})} first names" in chapter["names-ask"].source
    losses, networks = zip(*ran["learned_names"]().values(), strict=True)
    assert losses[0] == pytest.approx(math.log(27), abs=0.02)
    assert losses[-1] < 2.2
    names = ran["invented"](networks[-1], "k")
    assert len(names) > 10
    assert all(re.fullmatch("K[a-z]{2,8}", name) for name in names)
    assert not {name.lower() for name in names} & {*ran["NAMES"]}


def test_the_engine_reaches_five_milestones():
    sources = (cell.source for name in chapter_names() for cell in cells(name).values())
    found = [words for source in sources for words in re.findall(r'milestone="(.+?)"', source)]
    assert found == ["XOR", "one neuron", "spirals", "digits", "names"]
