"""The browser kit itself, on a notebook of a few cells."""

import nbformat
import pytest
from browser import write_notebook

pytestmark = pytest.mark.browser


def test_the_kit_runs_types_and_reads(open_lab, tmp_path):
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
    write_notebook(tmp_path / "kit.ipynb", [nbformat.v4.new_markdown_cell("# Kit"), answer, "print(answer)", "1 / 0"])
    lab = open_lab(tmp_path)
    lab.open_notebook("kit.ipynb")
    with pytest.raises(LookupError, match=r"no cell has the grade_id 'no-such'; this notebook has \['answer'\]"):
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

    lab.theme("dark")
    lab.screenshot(tmp_path / "dark.png")
    lab.theme("light")
    lab.screenshot(tmp_path / "light.png", cell=2)
    assert (tmp_path / "dark.png").stat().st_size != (tmp_path / "light.png").stat().st_size
    lab.assert_quiet()
