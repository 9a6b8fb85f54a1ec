"""The start page of a workspace says what has been done, where to go on, and what is new."""

import nbformat
import pytest
from test_edition import cell, notebook

from gradlab.checks.memory import remember
from gradlab.checks.record import CheckRecord, Record
from gradlab.setup.lab import COURSE, START_PAGE
from gradlab.start_page import HERE, start_page

RELEASED = f"""# Course

{HERE}

| | chapter | passed | needs |
|---|---|---|---|
| 01 | [graph: a | in code](01_graph/01_graph.ipynb) | | |
| 02 | [gradients](02_gradients/02_gradients.ipynb) | | 01 |
| 03 | to come | | 02 |
"""


@pytest.fixture
def workspace(tmp_path):
    """Two chapters, of two exercises and of one."""
    for name, checks in {"01_graph": ["01.1", "01.2"], "02_gradients": ["02.1"]}.items():
        (tmp_path / name).mkdir()
        cells = [cell("opening", "# A chapter", "markdown")]
        for check in checks:
            cells += [
                cell(f"ex-{check[-1]}", f"### Exercise {check}", "markdown"),
                cell(f"note-{check[-1]}", "no heading", "markdown"),
                cell(f"check-{check[-1]}", "check()", grade=True, locked=True),
            ]
        nbformat.write(nbformat.from_dict(notebook(*cells)), tmp_path / name / f"{name}.ipynb")
        record = {
            check: CheckRecord(f"{check} say [what] $x$ is", "", [], cell=f"check-{check[-1]}") for check in checks
        }
        (tmp_path / name / f"{name}.record.json").write_text(Record(name, record).to_json())
    return tmp_path


def words(workspace) -> str:
    """Return what stands below the title."""
    return start_page(RELEASED, workspace).split("\n\n")[1]


def test_a_new_student_begins_with_the_first_chapter(workspace):
    assert words(workspace) == "**Begin with [chapter 01](01_graph/01_graph.ipynb)** · 0 of 3 exercises passed"


def test_one_goes_on_with_what_was_tried_last(workspace):
    remember("01.2", "tried", workspace)
    link = r"[01.2 say \[what\] \$x\$ is](01_graph/01_graph.ipynb#cell-id=ex-2)"
    assert words(workspace) == f"**Continue at {link}** · 0 of 3 exercises passed"


def test_after_what_passed_comes_the_next_that_has_not(workspace):
    """In the same chapter; at the beginning of the next; and all round to what was skipped."""
    remember("01.1", "passed", workspace)
    assert "#cell-id=ex-2)" in words(workspace)
    remember("01.2", "passed", workspace)
    assert words(workspace).startswith("**Continue with [chapter 02](02_gradients/02_gradients.ipynb)**")
    remember("01.1", "tried", workspace)
    remember("02.1", "passed", workspace)
    assert "(01_graph/01_graph.ipynb#cell-id=ex-1)" in words(workspace)
    remember("01.1", "passed", workspace)
    assert words(workspace) == "**All 3 exercises passed.**"


def test_each_chapter_shows_how_far_it_is(workspace):
    """A dot for each exercise, and the count; a tick is taken back when the check fails."""
    remember("01.1", "passed", workspace)
    remember("01.2", "tried", workspace)
    page = start_page(RELEASED, workspace)
    assert "| 01 | [graph: a | in code](01_graph/01_graph.ipynb) | ●◐\u00a01\u00a0of\u00a02 | |" in page
    assert "| 02 | [gradients](02_gradients/02_gradients.ipynb) | ○\u00a00\u00a0of\u00a01 | 01 |" in page
    assert "| 03 | to come | | 02 |" in page
    remember("01.1", "tried", workspace)
    assert "●" not in start_page(RELEASED, workspace)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": [7]}', '{"cells": []}'])
def test_a_damaged_notebook_is_still_linked_to(workspace, text):
    (workspace / "01_graph/01_graph.ipynb").write_text(text)
    remember("01.1", "tried", workspace)
    assert "(01_graph/01_graph.ipynb#cell-id=check-1)" in words(workspace)


def test_kept_copies_are_named_with_a_link(workspace):
    """To the notebook in it, to the file itself, and by name where there is neither."""
    folder, page, other = (
        workspace / name
        for name in ["01_graph.before-2026-11-21", "README.before-2026-11-21.md", "02_gradients.before-2026-11-21"]
    )
    folder.mkdir()
    other.mkdir()
    page.write_text("")
    (folder / "01_graph.ipynb").write_text("")
    shown = start_page(RELEASED, workspace, {folder: "A new edition.", page: "A page.", other: "Another."})
    assert f"- A new edition. Your copy as it was: [{folder.name}]({folder.name}/01_graph.ipynb)" in shown
    assert f"- A page. Your copy as it was: [{page.name}]({page.name})" in shown
    assert f"- Another. Your copy as it was: `{other.name}`" in shown


def test_the_released_page_has_a_place_for_all_this():
    """Every chapter that is there has a row with a place for its dots, and the words have theirs."""
    released = (COURSE / START_PAGE).read_text(encoding="utf-8")
    assert HERE in released
    page = start_page(released, COURSE / "chapters")
    chapters = sorted(path.name for path in COURSE.glob("chapters/*") if path.name[0].isdigit())
    rows = {name: line for line in page.splitlines() for name in chapters if f"({name}/{name}.ipynb)" in line}
    assert [name for name in chapters if "○" not in rows.get(name, "")] == []
