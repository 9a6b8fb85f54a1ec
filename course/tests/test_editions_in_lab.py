"""Editions and the start page in JupyterLab itself: what it saves, and where a link leads."""

import json
import re
import shutil
from pathlib import Path

import pytest
from browser import write_notebook
from each_chapter import EACH_CHAPTER
from lab_server import GRADLAB_LAB

from gradlab.checks.memory import remember
from gradlab.setup.lab import COURSE, prepare
from gradlab.setup.workspace import bring_up_to_date, kept_copies

pytestmark = pytest.mark.browser
CHAPTER = "02_external_gradients"


@pytest.fixture
def workspace(tmp_path) -> Path:
    """A workspace in which 02.3 passed last."""
    prepare(tmp_path / "mine")
    remember("02.1", "tried", tmp_path / "mine")
    remember("02.3", "passed", tmp_path / "mine")
    return tmp_path / "mine"


def second_edition(folder: Path) -> Path:
    """Return the folder of a second edition of the chapter, with one word more."""
    chapter = shutil.copytree(COURSE / "chapters" / CHAPTER, folder / CHAPTER)
    path = chapter / f"{CHAPTER}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] += ["\n\nThe second edition."]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return chapter


def test_the_start_page_continues_where_one_stopped(open_lab, workspace):
    """The link opens the chapter at the next exercise, its contents beside it; what JupyterLab saves is no work."""
    lab = open_lab(workspace, command=[*GRADLAB_LAB, f"--workspace={workspace}"])
    lab.goto()
    page = lab.page
    page.get_by_text(re.compile(r"1 of \d+ exercises passed")).wait_for()
    page.get_by_text("◐○●○").wait_for()
    page.get_by_role("link", name=re.compile(r"^02\.4 ")).click()
    lab.wait_for_kernel()
    page.wait_for_function(
        """() => {
            const cell = window.jupyterapp.shell.currentWidget.content.activeCell;
            const top = cell?.model.id === 'ex4-statement' ? cell.node.getBoundingClientRect().top : -1;
            return top > 0 && top < window.innerHeight - 100;
        }"""
    )
    contents = page.locator("#table-of-contents")
    contents.get_by_text("Exercise 02.4").wait_for()
    assert contents.is_visible()
    assert not page.locator("#filebrowser").is_visible()
    lab.screenshot(workspace.parent / "continued.png")

    lab.run_all()
    lab.save()
    lab.assert_quiet()
    saved = (workspace / CHAPTER / f"{CHAPTER}.ipynb").read_bytes()
    assert saved != (COURSE / "chapters" / CHAPTER / f"{CHAPTER}.ipynb").read_bytes()
    chapter = second_edition(workspace.parent)
    assert [change.what for change in bring_up_to_date({CHAPTER: chapter}, workspace)] == ["updated"]
    assert kept_copies(workspace) == {}
    released = (chapter / f"{CHAPTER}.ipynb").read_bytes()
    assert (workspace / CHAPTER / f"{CHAPTER}.ipynb").read_bytes() == released


@pytest.mark.parametrize("chapter", EACH_CHAPTER)
def test_opening_a_chapter_changes_only_what_names_the_python(lab, tmp_path, chapter):
    """Saved by JupyterLab, a chapter that was opened and not run is as it was shipped."""
    shutil.copytree(COURSE / "chapters" / chapter, tmp_path / chapter)
    path = tmp_path / chapter / f"{chapter}.ipynb"
    released = json.loads(path.read_text(encoding="utf-8"))
    lab.open_notebook(path)
    lab.save()
    saved = json.loads(path.read_text(encoding="utf-8"))
    saved["metadata"]["language_info"]["version"] = released["metadata"]["language_info"]["version"]
    assert saved == released


def test_a_chapter_begins_anew_by_the_notebooks_menu(lab, tmp_path):
    """What was written and not saved is in the copy; the page shows the chapter as released, in a new kernel."""
    released = tmp_path / "released" / CHAPTER
    released.mkdir(parents=True)
    path = tmp_path / "mine" / CHAPTER / f"{CHAPTER}.ipynb"
    write_notebook(released / path.name, ["answer = 'stub'"])
    bring_up_to_date({CHAPTER: released}, tmp_path / "mine")
    guesses = {CHAPTER: {"s1-run": {"question": "?", "said": ["1"], "sure": True, "right": [True]}}}
    (tmp_path / "mine" / ".predictions.json").write_text(json.dumps(guesses))
    lab.open_notebook(path)
    lab.type_into(0, "answer = 'mine'")
    lab.run_cell(0)
    page = lab.page
    lab.locate(0).click(button="right")
    page.get_by_role("menuitem", name="Begin This Chapter Anew").click()
    page.get_by_role("dialog").get_by_text("Your copy is kept in a folder beside it").wait_for()
    page.get_by_role("button", name="Begin Anew").click()
    page.get_by_text(f"{CHAPTER} is as it was released. Your copy as it was is in").first.wait_for()
    lab.wait_for_kernel()
    assert lab.cells()[0]["source"] == "answer = 'stub'"
    (copy,) = kept_copies(tmp_path / "mine")
    assert "answer = 'mine'" in (copy / path.name).read_text(encoding="utf-8")
    assert json.loads((tmp_path / "mine" / ".predictions.json").read_text()) == {}
    lab.type_into(0, "answer")
    lab.run_cell(0)
    assert "NameError" in lab.shown(0)
