"""The browser kit, tested on a notebook of a few cells."""

import matplotlib.image
import nbformat
import pytest
from browser import write_notebook

pytestmark = pytest.mark.browser


def brightness(picture) -> float:
    """Return how bright a PNG is on average, from 0 for black to 1 for white."""
    return matplotlib.image.imread(picture)[..., :3].mean()


@pytest.mark.exhaustive  # tests that use the kit show the same
def test_the_kit_runs_types_and_reads(lab, tmp_path):
    """What the kit says about a page is what a student sees there."""
    answer = nbformat.v4.new_code_cell("answer = 1")
    answer.metadata["nbgrader"] = {
        "grade_id": "answer",
        "grade": False,
        "solution": True,
        "locked": False,
        "task": False,
        "schema_version": 3,
    }
    cells = [nbformat.v4.new_markdown_cell("# Kit"), answer, "print(answer)", "1 / 0"]
    lab.open_notebook(write_notebook(tmp_path / "kit.ipynb", cells))
    with pytest.raises(LookupError, match=r"no cell has the grade_id or id 'no-such'; this notebook has \[.*'answer'"):
        lab.position("no-such")

    lab.run_all()
    assert lab.shown(2) == "1"
    assert lab.errors() == {3: "ZeroDivisionError: division by zero"}

    lab.type_into("answer", "answer = [\n    (2),\n]")
    lab.run_cell("answer")
    lab.run_cell(2)
    assert lab.shown(2) == "[2]"

    lab.save()
    saved = nbformat.read(tmp_path / "kit.ipynb", as_version=4)
    assert saved.cells[1].source == "answer = [\n    (2),\n]"

    assert brightness(lab.screenshot(tmp_path / "light.png")) > 0.8
    lab.theme("dark")
    assert brightness(lab.screenshot(tmp_path / "dark.png")) < 0.3
    assert brightness(lab.screenshot(tmp_path / "cell.png", cell=2)) < 0.3
    window, cell = (matplotlib.image.imread(tmp_path / name).shape[:2] for name in ("dark.png", "cell.png"))
    assert window == (1000, 1400)
    assert cell < window, "of the cell alone"
    lab.assert_quiet()


@pytest.mark.exhaustive
def test_a_page_is_lent_as_if_it_were_new(lab, tmp_path):
    """Opened again, a notebook is as on the disk and its kernel new; put back, the page has nothing open."""
    path = write_notebook(tmp_path / "again.ipynb", ["known = 1", "print(known)"])
    lab.open_notebook(path)
    lab.run_all()
    assert lab.shown(1) == "1"
    lab.open_notebook(path)
    assert lab.outputs(1) == [], "the run was not saved"
    lab.run_cell(1)
    assert lab.errors() == {1: "NameError: name 'known' is not defined"}

    lab.theme("dark")
    lab.page.set_viewport_size({"width": 1000, "height": 800})
    lab.put_back()
    assert lab.page.locator(".jp-Notebook").count() == 0
    assert lab.page.locator('body[data-jp-theme-light="true"]').count() == 1
    assert lab.page.evaluate("[innerWidth, innerHeight]") == [1400, 1000]
    assert lab.page.evaluate("fetch('/api/kernels').then(reply => reply.json())") == []
