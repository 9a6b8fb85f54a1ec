"""Editions and the start page in JupyterLab: the files that it saves, and the targets of links."""

import json
import re
import shutil
from pathlib import Path

import pytest
from browser import write_notebook
from lab_server import GRADLAB_LAB

from gradlab.checks.results import remember
from gradlab.setup.lab import COURSE, prepare
from gradlab.setup.workspace import bring_up_to_date, kept_copies

pytestmark = pytest.mark.browser
CHAPTER = "02_external_gradients"


@pytest.fixture
def workspace(tmp_path) -> Path:
    """A workspace in which 02.3 passed last, and a prediction was sure and wrong."""
    prepare(tmp_path / "mine")
    guess = {"question": "What will x.grad hold?", "said": ["1", "1"], "sure": True, "right": [False, False]}
    (tmp_path / "mine" / ".predictions.json").write_text(json.dumps({CHAPTER: {"s1-run": guess}}))
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
    page.get_by_role("link", name="1 prediction to look at again").click()
    page.get_by_role("link", name="What will x.grad hold?").click()
    lab.wait_for_kernel()
    leads_to(lab, "s1-run")
    lab.command("docmanager:open", path="README.md")
    page.get_by_role("link", name=re.compile(r"^02 sections? ")).click()
    leads_to(lab, "ex4-statement")
    contents = page.locator("#table-of-contents")
    contents.get_by_text("Exercise 02.4").wait_for()
    assert contents.is_visible()
    assert not page.locator("#filebrowser").is_visible()
    shows_at_once_what_was_passed(lab, workspace)

    lab.run_all()
    lab.save()
    exported = page.request.get(lab.server.address(f"nbconvert/html/{CHAPTER}/{CHAPTER}.ipynb")).text()
    assert '<details class="gl-source"><summary><code># Tested: ' in exported, "long checks stand open in an export"
    lab.assert_quiet()
    saved = (workspace / CHAPTER / f"{CHAPTER}.ipynb").read_bytes()
    assert saved != (COURSE / "chapters" / CHAPTER / f"{CHAPTER}.ipynb").read_bytes()
    chapter = second_edition(workspace.parent)
    assert [change.what for change in bring_up_to_date({CHAPTER: chapter}, workspace)] == ["updated"]
    assert kept_copies(workspace) == {}
    released = (chapter / f"{CHAPTER}.ipynb").read_bytes()
    assert (workspace / CHAPTER / f"{CHAPTER}.ipynb").read_bytes() == released


def leads_to(lab, cell: str) -> None:
    """Wait until a cell is active and in view."""
    lab.page.wait_for_function(
        """id => {
            const cell = window.jupyterapp.shell.currentWidget.content.activeCell;
            const top = cell?.model.id === id ? cell.node.getBoundingClientRect().top : -1;
            return top > 0 && top < window.innerHeight - 100;
        }""",
        arg=cell,
    )


def shows_at_once_what_was_passed(lab, workspace: Path) -> None:
    """A check that passes ticks its exercise in the contents, and the chapter's end and the start page know of it."""
    page = lab.page
    ticked = page.locator("#table-of-contents .gl-passed")
    ticked.get_by_text("Exercise 02.3").wait_for()
    assert ticked.count() == 1
    for place, cell in enumerate(lab.cells()):
        if "setup" in cell["metadata"].get("tags", []):
            lab.run_cell(place)
    lab.run_cell("summary")
    assert "1 of 6 checks passed, 0 of 2 on the core path, 2 of 12 points." in lab.seen("summary")
    assert "You can now" not in lab.seen("summary")
    stub = lab.cells()[lab.position("answer-02-1")]["source"]
    lab.type_into("answer-02-1", "def pull_back(x, v):\n    return 3 * x**2 * v")
    lab.run_cell("answer-02-1")
    lab.run_cell("check-02-1")
    ticked.get_by_text("Exercise 02.1").wait_for()
    lab.locate("check-02-1").get_by_role("link", name="Next: 02.2").click()
    leads_to(lab, "ex2-statement")
    assert "2 of 6 checks passed, 1 of 2 on the core path, 3 of 12 points." in lab.seen("summary")

    for other in ("02.2", "02.4", "02.5", "02.6"):
        remember(other, "passed", workspace)
    lab.run_cell("check-02-1")
    end = lab.locate("summary").get_by_text("predict x.grad from the argument of backward")
    end.wait_for()
    said = re.sub(r"\n+", "\n", lab.seen("summary"))
    assert "6 of 6 checks passed, 2 of 2 on the core path, 12 of 12 points.\nYou now own\npull_back\nYour pull" in said
    assert "\nYou can now" in said
    lab.locate("summary").get_by_role("link", name=re.compile("03 · ")).click()
    page.wait_for_function("() => window.jupyterapp.shell.currentWidget.context.path.startsWith('03_')")
    lab.command("docmanager:open", path="README.md")
    page.get_by_text(re.compile(r"6 of \d+ exercises passed")).wait_for()
    page.get_by_text("●●●●●●").wait_for()
    lab.command("docmanager:open", path=f"{CHAPTER}/{CHAPTER}.ipynb")
    lab.wait_for_kernel()
    lab.type_into("answer-02-1", stub)


def test_a_chapter_starts_over_by_the_notebooks_menu(lab, tmp_path):
    """What was written and not saved is in the copy; the page shows the chapter as released, in a new kernel."""
    released = tmp_path / "released" / CHAPTER
    released.mkdir(parents=True)
    path = tmp_path / "mine" / CHAPTER / f"{CHAPTER}.ipynb"
    write_notebook(released / path.name, ["answer = 'stub'"])
    bring_up_to_date({CHAPTER: released}, tmp_path / "mine")
    lab.open_notebook(path)
    lab.type_into(0, "answer = 'mine'")
    lab.run_cell(0)
    page = lab.page
    lab.locate(0).click(button="right")
    page.get_by_role("menuitem", name="Start This Chapter Over").click()
    page.get_by_role("dialog").get_by_text("Your copy is kept in a folder beside it").wait_for()
    page.get_by_role("button", name="Start Over").click()
    page.get_by_text(f"{CHAPTER} is now as released. Your earlier copy is in").first.wait_for()
    lab.wait_for_kernel()
    assert lab.cells()[0]["source"] == "answer = 'stub'"
    (copy,) = kept_copies(tmp_path / "mine")
    assert "answer = 'mine'" in (copy / path.name).read_text(encoding="utf-8")
    lab.type_into(0, "answer")
    lab.run_cell(0)
    assert "NameError" in lab.shown(0)
