"""A student's copy follows the released chapters, and nothing a student wrote is ever lost."""

from pathlib import Path

import pytest

from gradlab.setup.command_line import main
from gradlab.setup.lab import released
from gradlab.setup.workspace import bring_up_to_date


@pytest.fixture
def chapter(tmp_path) -> Path:
    """A released chapter of two files."""
    folder = tmp_path / "released" / "02_demo"
    folder.mkdir(parents=True)
    (folder / "02_demo.ipynb").write_text("edition 1")
    (folder / "records.json").write_text("records 1")
    return folder


@pytest.fixture
def update(chapter, tmp_path):
    """Bring the workspace up to date and return what changed, as (what, place) pairs."""

    def run():
        changes = bring_up_to_date({"02_demo": chapter}, tmp_path / "workspace")
        return [(change.what, change.place.name) for change in changes]

    return run


def contents(tmp_path) -> dict[str, str]:
    """Return the text of each visible file of the workspace."""
    root = tmp_path / "workspace"
    files = [path for path in root.rglob("*") if path.is_file() and path.name[0] != "."]
    return {path.relative_to(root).as_posix(): path.read_text() for path in files}


def test_a_chapter_is_copied_once(update, tmp_path):
    """The first call copies, the second changes nothing."""
    assert update() == [("added", "02_demo")]
    assert contents(tmp_path) == {"02_demo/02_demo.ipynb": "edition 1", "02_demo/records.json": "records 1"}
    assert update() == []


def test_work_stays_when_nothing_was_released(update, tmp_path):
    """A student's answer survives every further call."""
    update()
    (tmp_path / "workspace/02_demo/02_demo.ipynb").write_text("my answer")
    assert update() == []
    assert contents(tmp_path)["02_demo/02_demo.ipynb"] == "my answer"


def test_an_untouched_chapter_follows_the_release(update, chapter, tmp_path):
    """New, changed and withdrawn files arrive in a chapter nobody has worked in."""
    update()
    (chapter / "02_demo.ipynb").write_text("edition 2")
    (chapter / "picture.svg").write_text("new")
    (chapter / "records.json").unlink()
    assert update() == [("updated", "02_demo")]
    assert contents(tmp_path) == {"02_demo/02_demo.ipynb": "edition 2", "02_demo/picture.svg": "new"}


def test_a_new_edition_lies_beside_work(update, chapter, tmp_path):
    """A chapter that was worked in stays whole, with its own records; the new edition is complete beside it."""
    update()
    (tmp_path / "workspace/02_demo/02_demo.ipynb").write_text("my answer")
    (chapter / "02_demo.ipynb").write_text("edition 2")
    (chapter / "records.json").write_text("records 2")
    assert update() == [("beside", "02_demo.new-1")]
    assert contents(tmp_path) == {
        "02_demo/02_demo.ipynb": "my answer",
        "02_demo/records.json": "records 1",
        "02_demo.new-1/02_demo.ipynb": "edition 2",
        "02_demo.new-1/records.json": "records 2",
    }
    assert update() == [], "an edition is offered once"


def test_a_third_edition_takes_a_name_of_its_own(update, chapter, tmp_path):
    """Work begun in an edition laid beside is as safe as any."""
    update()
    (tmp_path / "workspace/02_demo/02_demo.ipynb").write_text("my answer")
    (chapter / "02_demo.ipynb").write_text("edition 2")
    update()
    (tmp_path / "workspace/02_demo.new-1/02_demo.ipynb").write_text("my second answer")
    (chapter / "02_demo.ipynb").write_text("edition 3")
    assert update() == [("beside", "02_demo.new-2")]
    kept = contents(tmp_path)
    assert kept["02_demo/02_demo.ipynb"] == "my answer"
    assert kept["02_demo.new-1/02_demo.ipynb"] == "my second answer"
    assert kept["02_demo.new-2/02_demo.ipynb"] == "edition 3"


def test_records_follow_where_the_notebook_did_not_change(update, chapter, tmp_path):
    """A file the student has not touched is brought up to date beside one that was worked in."""
    update()
    (tmp_path / "workspace/02_demo/02_demo.ipynb").write_text("my answer")
    (chapter / "records.json").write_text("records 2")
    assert update() == [("updated", "02_demo")]
    assert contents(tmp_path) == {"02_demo/02_demo.ipynb": "my answer", "02_demo/records.json": "records 2"}


def test_a_students_own_file_is_not_taken_for_a_released_one(update, chapter, tmp_path):
    """A released file never replaces a student's file that has the same name by chance."""
    update()
    (tmp_path / "workspace/02_demo/notes.md").write_text("my notes")
    (chapter / "notes.md").write_text("released notes")
    assert update() == [("beside", "02_demo.new-1")]
    assert contents(tmp_path)["02_demo/notes.md"] == "my notes"


def test_a_deleted_or_renamed_notebook_comes_back(update, tmp_path):
    """Renaming the notebook is how to begin anew; the renamed one stays."""
    update()
    notebook = tmp_path / "workspace/02_demo/02_demo.ipynb"
    notebook.write_text("my answer")
    notebook.rename(notebook.with_name("first try.ipynb"))
    assert update() == [("restored", "02_demo")]
    assert contents(tmp_path)["02_demo/02_demo.ipynb"] == "edition 1"
    assert contents(tmp_path)["02_demo/first try.ipynb"] == "my answer"


@pytest.mark.parametrize("memory", ["", "not JSON", None])
def test_without_a_memory_work_is_still_safe(update, chapter, tmp_path, memory):
    """If nobody knows what was released, a file that differs counts as the student's."""
    update()
    (tmp_path / "workspace/02_demo/02_demo.ipynb").write_text("my answer")
    state = tmp_path / "workspace/.released.json"
    state.unlink() if memory is None else state.write_text(memory)
    assert update() == [("beside", "02_demo.new-1")]
    assert contents(tmp_path)["02_demo/02_demo.ipynb"] == "my answer"


def test_a_single_file_is_offered_beside_under_its_own_ending(tmp_path):
    """The start page keeps its ending, so that it still opens as a page."""
    page = tmp_path / "README.md"
    page.write_text("one")
    bring_up_to_date({"README.md": page}, tmp_path / "workspace")
    (tmp_path / "workspace/README.md").write_text("mine")
    page.write_text("two")
    (change,) = bring_up_to_date({"README.md": page}, tmp_path / "workspace")
    assert change.place.name == "README.new-1.md"
    assert contents(tmp_path) == {"README.md": "mine", "README.new-1.md": "two"}
    assert "Yours is kept as it is" in str(change)


def test_the_workspace_holds_the_start_page_and_every_chapter():
    """What `lab` copies is the start page, nbgrader's settings and each chapter that is there."""
    items = released()
    assert {"README.md", "nbgrader_config.py"} <= set(items)
    for name, source in items.items():
        assert source.exists()
        assert source.name == name


def test_a_course_without_its_start_page_says_what_to_do(tmp_path):
    """An installation away from the course's folder is told how to install."""
    with pytest.raises(SystemExit, match="pip install -e course"):
        released(tmp_path)


def test_help_names_every_command(capsys):
    """`python -m gradlab --help` lists lab and doctor; `lab --help` says that work is safe."""
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert "lab" in shown
    assert "doctor" in shown
    with pytest.raises(SystemExit):
        main(["lab", "--help"])
    assert "Your work is never overwritten" in capsys.readouterr().out
