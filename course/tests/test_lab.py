"""`python -m gradlab lab` on a copy of the course, with a first chapter of two cells: a student's first start."""

import shutil
from pathlib import Path

import pytest
from browser import LabPage, write_notebook
from lab_server import GRADLAB_LAB
from nbformat.v4 import new_markdown_cell

COURSE = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.browser


def test_the_start_page_leads_to_a_chapter_that_runs_and_a_term_in_it_to_the_glossary(open_lab, tmp_path):
    """The course opens on its map, a click opens a chapter, its first cell runs, and nothing needs the network.

    The start page links the glossary; a term in a chapter opens it at its entry.
    """
    shutil.copytree(COURSE, tmp_path / "course", ignore=shutil.ignore_patterns("tests", "chapters", "__pycache__"))
    shutil.copytree(COURSE / "chapters/pages", tmp_path / "course/chapters/pages")
    chapter = tmp_path / "course/chapters/02_external_gradients"
    chapter.mkdir()
    term = new_markdown_cell("It ends at a [buffer](../pages/glossary.md#Buffer).")
    code = "import torch\ntorch.tensor([100, 0.1]) * 3"
    write_notebook(chapter / "02_external_gradients.ipynb", [code, term])
    lab = open_lab(tmp_path, command=GRADLAB_LAB, env={"PYTHONPATH": str(tmp_path / "course")})
    lab.goto()
    page = lab.page
    page.get_by_role("heading", name="torch.autograd, by hand").wait_for()
    page.get_by_role("link", name="external gradients").click()
    lab.wait_for_kernel()
    lab.run_all()
    assert lab.shown(0) == "tensor([300.0000,   0.3000])"

    assert page.get_by_role("menuitem", name="Nbgrader").count() == 0, "it is for classes, which have an exchange"
    assert page.get_by_text("Jupyter news").count() == 0
    second = LabPage(page.context.new_page(), lab.server)
    second.goto("lab/tree/02_external_gradients/02_external_gradients.ipynb")
    second.page.locator("#table-of-contents").filter(visible=True).wait_for()
    second.page.get_by_role("tab", name="File Browser").click()
    second.page.get_by_role("listitem", name="02_external_gradients.ipynb").wait_for()
    assert second.page.get_by_text(".record.json").count() == 0
    second.page.close()
    # Two tabs share a kernel here, and one hears of widgets that only the other has.
    lab.complaints[:] = [said for said in lab.complaints if "Comm not found for comm id" not in said]
    lab.assert_quiet()
    assert (tmp_path / "workspace/02_external_gradients/02_external_gradients.ipynb").exists()
    page.get_by_role("link", name="buffer").click()
    entry = page.get_by_role("heading", name="Buffer", exact=True)
    entry.wait_for()
    page.wait_for_function("e => e.getBoundingClientRect().top < innerHeight", arg=entry.element_handle())
    lab.command("docmanager:open", path="README.md")
    page.get_by_role("link", name="glossary").click()
    page.get_by_role("heading", name="Glossary", exact=True).wait_for()
