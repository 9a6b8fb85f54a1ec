"""A new edition of a notebook keeps what a student wrote in the old one, cell by cell."""

import copy
import json

import nbformat
import pytest
import returned_notebooks
from hypothesis import given, settings
from hypothesis import strategies as st
from returned_notebooks import FORMS

from gradlab import ipynb
from gradlab.returned import same_text
from gradlab.setup import edition

KEPT = "02_demo.before-2026-11-21"


def cell(cell_id: str, source: str, kind: str = "code", **nbgrader) -> dict:
    """Return a cell as a released notebook holds it."""
    metadata = {"nbgrader": {"grade_id": cell_id, "schema_version": 3, **nbgrader}} if nbgrader else {}
    made = {"cell_type": kind, "id": cell_id, "metadata": metadata, "source": source}
    return {**made, "outputs": [], "execution_count": None} if kind == "code" else made


def notebook(*cells: dict) -> dict:
    """Return a notebook of these cells, each one's own."""
    return {"cells": copy.deepcopy(list(cells)), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


TITLE = cell("opening", "# A chapter", "markdown")
SETUP = cell("setup", "import torch")
LESSON = cell("s1-run", "print(1)")
STUB = cell("answer-02-1", "def f(x):\n    # YOUR CODE HERE", solution=True, grade=False, locked=False)
CHECK = cell("check-02-1", 'check("02.1 f", f)', solution=False, grade=True, locked=True)
CLOSE = cell("summary", "summary()")
OLD = notebook(TITLE, SETUP, LESSON, STUB, CHECK, CLOSE)
NEWS = cell("s1-news", "print('new')")
LATER = cell("later", "print('later')")
FIXED = cell("s1-run", "print(1, 'fixed')")
NEW = notebook(TITLE, SETUP, NEWS, FIXED, STUB, CHECK, CLOSE, LATER)


def own(source: str, kind: str = "markdown", cell_id: str = "0a1b2c3d") -> dict:
    """Return a cell as JupyterLab makes it."""
    return cell(cell_id, source, kind)


def changed(released: dict, source: str, **fields) -> dict:
    """Return a released cell after the student wrote in it."""
    return {**released, "source": source, **fields}


def merged(mine: dict, new: dict = NEW, old: dict = OLD) -> list[tuple[str, str]]:
    """Return the id and source of each cell of the new edition, which must be a sound notebook."""
    found = edition.Merge(old, mine, new, KEPT).notebook
    nbformat.validate(found)
    return [(one["id"], one["source"]) for one in found["cells"]]


def released_ids(new: dict = NEW) -> list[str]:
    return [one["id"] for one in new["cells"]]


def test_a_lesson_cell_that_did_not_change_keeps_what_the_student_wrote():
    cells = dict(merged(notebook(changed(TITLE, "# Mine"), changed(SETUP, "import torch, math"), LESSON, STUB, CHECK)))
    assert cells["opening"] == "# Mine"
    assert cells["setup"] == "import torch, math"


def test_where_both_wrote_the_new_text_stands_and_the_students_is_at_the_end():
    cells = merged(notebook(TITLE, SETUP, changed(LESSON, "print('mine')"), STUB, CHECK, CLOSE))
    assert dict(cells)["s1-run"] == "print(1, 'fixed')"
    heading, label, mine = (source for _, source in cells[-3:])
    assert heading.startswith("## Kept from your earlier copy\n")
    assert KEPT in heading
    assert label == "Your text in `s1-run`:"
    assert mine == "print('mine')"
    assert len(cells) == len(released_ids()) + 3


def test_own_cells_stand_behind_the_cell_they_stood_behind():
    """At the top, in the middle, behind a cell that is gone, and at the end."""
    gone = cell("gone", "print('gone')")
    old = notebook(TITLE, SETUP, gone, LESSON, CLOSE)
    mine = notebook(
        own("top", cell_id="a"),
        TITLE,
        own("one", cell_id="b"),
        own("two", cell_id="c"),
        SETUP,
        gone,
        own("behind what went", cell_id="d"),
        LESSON,
        CLOSE,
        own("the end", cell_id="e"),
    )
    cells = merged(mine, notebook(TITLE, SETUP, NEWS, LESSON, CLOSE, LATER), old)
    assert [name for name, _ in cells] == [
        "a",
        "opening",
        "b",
        "c",
        "setup",
        "d",
        "s1-news",
        "s1-run",
        "summary",
        "later",
        "e",
    ]


def test_a_changed_check_is_released_again_and_the_students_copy_can_be_edited_and_deleted():
    """A locked cell belongs to its record. A cell that the student locked stays locked."""
    locked = {**CHECK["metadata"], "deletable": False, "editable": False}
    theirs = {**own("a note"), "metadata": {"deletable": False}}
    mine = notebook(TITLE, theirs, {**changed(CHECK, "pass  # always"), "metadata": locked}, CLOSE)
    found = {one["source"]: one for one in edition.Merge(OLD, mine, NEW, KEPT).notebook["cells"]}
    assert found[CHECK["source"]]["id"] == "check-02-1"
    assert found["pass  # always"]["metadata"] == {}
    assert found["a note"]["metadata"] == {"deletable": False}


def test_an_answer_whose_stub_changed_stays_and_is_code_again_if_it_became_text():
    """A key pressed by mistake turns a cell into text."""
    new = notebook(TITLE, SETUP, LESSON, changed(STUB, "def f(x, y):\n    # YOUR CODE HERE"), CHECK, CLOSE)
    mine = notebook(TITLE, {**changed(STUB, "def f(x): return x"), "cell_type": "markdown"}, CHECK)
    found = {one["id"]: one for one in edition.Merge(OLD, mine, new, KEPT).notebook["cells"]}
    assert found["answer-02-1"]["cell_type"] == "code"
    assert found["answer-02-1"]["source"] == "def f(x): return x"


def test_pictures_pasted_into_text_count_as_written():
    picture = {"a.png": {"image/png": "iVBORw0KGgo="}}
    found = edition.Merge(OLD, notebook({**TITLE, "attachments": picture}, own("", cell_id="o")), NEW, KEPT)
    assert found.wrote
    assert found.notebook["cells"][0]["attachments"] == picture


TEXTS = st.text(max_size=12) | st.sampled_from(["print('mine')", "## Heading", "~~~", "`a`"])
ODD = st.sampled_from([None, [], "x", 7, {"nbgrader": 1}, {"nbgrader": {"grade_id": []}}])
FIELDS = {
    "source": TEXTS,
    "cell_type": st.sampled_from(["code", "markdown", "raw"]),
    "id": st.sampled_from([None, "s1-run", "answer-02-1", "own"]),
    "metadata": ODD,
    "outputs": ODD | TEXTS.map(lambda text: [{"output_type": "stream", "name": "stdout", "text": text}]),
}
KINDS = st.sampled_from(["change", "delete", "move", "duplicate", "insert", "split"])
EDIT = st.tuples(KINDS, st.integers(0, 20), st.integers(0, 20), st.fixed_dictionaries({}, optional=FIELDS))


def edited(released: dict, edits) -> dict:
    """Return a notebook after a student, or a program of theirs, did all this to it."""
    cells = copy.deepcopy(released["cells"])
    for number, (what, at, to, fields) in enumerate(edits):
        fresh = {"id": f"new-{number}", **fields}
        if what == "insert" or not cells:
            cells.insert(to % (len(cells) + 1), own("") | fresh)
            continue
        one = cells[at % len(cells)]
        if what == "change":
            one.update(fields)
        if what in ("delete", "move"):
            cells.remove(one)
        if what in ("move", "duplicate"):
            again = one if what == "move" else copy.deepcopy(one) | fresh
            cells.insert(to % (len(cells) + 1), again)
        if what == "split":
            words, cut = one["source"], to % (len(one["source"]) + 1)
            one["source"] = words[:cut]
            cells.insert(cells.index(one) + 1, copy.deepcopy(one) | fresh | {"source": words[cut:]})
    return {**released, "cells": cells}


RELEASES = st.lists(
    st.sampled_from([TITLE, SETUP, LESSON, FIXED, STUB, changed(STUB, "def f(x, y): ..."), CHECK, CLOSE, NEWS, LATER]),
    unique_by=lambda one: one["id"],
).map(lambda cells: notebook(*cells))


@settings(max_examples=400, deadline=None)
@given(old=RELEASES, new=RELEASES, edits=st.lists(EDIT, max_size=12))
def test_nothing_that_was_written_is_missing(old, new, edits):
    takes_in(old, json.dumps(edited(old, edits)).encode(), new)


@pytest.mark.parametrize("form", [name for name, form in FORMS.items() if form.points[0] is not None])
def test_nothing_is_missing_in_whatever_form_it_comes_back(form):
    first, *others = returned_notebooks.released()["cells"]
    takes_in(notebook(first, *others), FORMS[form].data(), notebook(first, NEWS, *others), same_text)


def takes_in(old: dict, data: bytes, new: dict, text=str.rstrip) -> None:
    """Assert that an edition takes in each `text` of a file, its own cells in order; merging again changes nothing."""
    mine = ipynb.read(data)
    merged = edition.to_json(edition.Merge(old, mine, new, KEPT).notebook)
    assert merged.isascii()
    again = ipynb.read(merged)
    assert len({one["id"] for one in again["cells"]}) == len(again["cells"])
    there = {text(one["source"]) for one in [*again["cells"], *old["cells"], *new["cells"]]}
    assert {text(one["source"]) for one in mine["cells"] if one["source"].strip()} <= there
    assert [one["id"] for one in again["cells"] if one["id"] in released_ids(new)] == released_ids(new)
    assert edition.same(edition.Merge(new, again, new, KEPT).notebook, again)
