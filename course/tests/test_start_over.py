"""Starting a chapter over: files as released, checks not tried, predictions without guesses, the copy kept."""

import shutil
from pathlib import Path

import pytest

from gradlab import notebook
from gradlab.checks import results
from gradlab.predict import guesses
from gradlab.predict.guesses import Guess
from gradlab.setup.workspace import bring_up_to_date, kept_copies
from gradlab.start_over import start_over

CHAPTERS = Path(__file__).parents[1] / "chapters"
CHAPTER = "02_external_gradients"
OTHER = next(path.name for path in CHAPTERS.glob("03_*"))
GUESS = Guess("What is x.grad?", ["1"], True, [False])


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Two chapters in which something was written, passed and guessed."""
    folder = tmp_path / "workspace"
    sources = {path.name: path for path in CHAPTERS.iterdir() if path.name[:2] in ("02", "03")}
    bring_up_to_date(sources, folder)
    for name in sources:
        (folder / name / f"{name}.ipynb").write_text("mine")
        (folder / name / "notes.md").write_text("my notes")
        monkeypatch.setattr(notebook, "FOLDER", folder / name)
        results.remember(f"{name[:2]}.1", "passed")
        results.remember_answer(f"{name[:2]}.1", "def f(): ...")
        guesses.remember("s1-run", GUESS)
        guesses.remember("s2-run", GUESS)
    return folder


def test_a_chapter_is_as_released_and_forgotten_and_the_other_as_it_was(workspace, monkeypatch):
    monkeypatch.setattr(notebook, "FOLDER", workspace / CHAPTER)
    said = start_over()
    (kept,) = kept_copies(workspace)
    assert said.strip() == f"{CHAPTER} is now as released. Your earlier copy is in {kept.name}."
    released = (CHAPTERS / CHAPTER / f"{CHAPTER}.ipynb").read_text()
    assert (workspace / CHAPTER / f"{CHAPTER}.ipynb").read_text() == released
    assert (kept / f"{CHAPTER}.ipynb").read_text() == "mine"
    assert (kept / "notes.md").read_text() == (workspace / CHAPTER / "notes.md").read_text() == "my notes"
    assert (workspace / OTHER / f"{OTHER}.ipynb").read_text() == "mine"
    assert results.read(workspace) == {"03.1": "passed"}
    assert list(results.answers(workspace)) == ["03.1"]
    assert guesses.recall(CHAPTER) == {}
    assert guesses.recall(OTHER).keys() == {"s1-run", "s2-run"}


def test_a_chapter_whose_folder_was_deleted_comes_back(workspace):
    shutil.rmtree(workspace / CHAPTER)
    assert start_over(workspace / CHAPTER) == f"{CHAPTER} is now as released."
    assert not kept_copies(workspace)
    assert "02.1" not in results.read(workspace)
