"""A chapter's weights are those its notebooks were run with, and they accompany it everywhere."""

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from authoring import archive, build, chapter, weights
from authoring.places import ChapterError

FILES = sorted(chapter.SOURCES.glob("*/weights-*.pt"))
SETUP = "import torch\nfrom torch import nn"
TRAIN = """
def train_ours():
    net = nn.BatchNorm1d(2)
    net(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    return [net]
"""
LOAD = 'shipped = torch.load("weights-00000000.pt", weights_only=True)'


@pytest.fixture
def source(tmp_path, monkeypatch):
    """The path of a solved chapter that trains a network and loads its weights."""
    monkeypatch.setattr(chapter, "SOURCES", tmp_path)
    cells = [(SETUP, ["setup"]), (TRAIN, ["weights"]), (LOAD, [])]
    path = tmp_path / "01_demo" / "01_demo.ipynb"
    path.parent.mkdir()
    made = [new_code_cell(text, metadata={"tags": tags}) for text, tags in cells]
    nbformat.write(new_notebook(cells=made), path)
    return path


def code(path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def test_some_chapter_comes_with_weights():
    assert [path.parent.name for path in FILES] == ["08_saliency"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_weights_are_named_by_their_hash_in_both_notebooks(path):
    assert path.name == weights.file_name(path.read_bytes())
    assert [other.name for other in path.parent.glob("weights-*")] == [path.name]
    name = path.parent.name
    for folder in (path.parent, build.STUDENT_EDITION / name):
        assert weights.FILE.findall("\n".join(code(folder / f"{name}.ipynb"))) == [path.name]
    assert archive.contents()[f"course/chapters/{name}/{path.name}"] == path.read_bytes()
    assert path.stat().st_size < 100_000


def test_a_command_trains_as_the_chapter_shows_and_notes_the_hash(source):
    (source.parent / "weights-01234567.pt").write_bytes(b"of an earlier training")
    place = weights.make("01_demo")
    assert [path.name for path in source.parent.glob("*.pt")] == [place.name] == [weights.file_name(place.read_bytes())]
    assert code(source) == [SETUP, TRAIN, LOAD.replace("weights-00000000.pt", place.name)]
    net = torch.nn.BatchNorm1d(2)
    net.load_state_dict(torch.load(place, weights_only=True)["ours"][0])
    assert net.running_mean.tolist() == pytest.approx([0.2, 0.3], rel=1e-3)
    assert net.num_batches_tracked == 1


def test_the_same_weights_make_the_same_file(source):
    assert weights.make("01_demo").name == weights.make("01_demo").name


def test_a_chapter_that_trains_nothing_is_told_what_is_missing(source):
    notebook = nbformat.read(source, as_version=4)
    del notebook.cells[1]
    nbformat.write(notebook, source)
    with pytest.raises(ChapterError, match=r"01_demo trains nothing: no cell tagged `weights` defines .* train_…"):
        weights.make("01_demo")
