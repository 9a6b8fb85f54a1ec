"""A check's result in JupyterLab: one card, in both themes, about the code in the notebook."""

import contextlib
import re
import shutil

import nbformat
import pytest
from accessible import faint_texts, violations
from kept_answers import solution

pytestmark = pytest.mark.browser

CHAPTER = "02_external_gradients"
ENGINE, LATER = "11_record", "12_backward"
TITLE = "02.1 the gradient that arrives at x"
WRONG = "def pull_back(x, v):\n    return v"
RIGHT = "def pull_back(x, v):\n    return 3 * x**2 * v"
KEPT = {"ex1-statement", "ex1-help", "answer-02-1", "check-02-1", "payoff-02-1", "answer-02-5", "check-02-5"}
FIRST = "Cells that this check needs had not run as they stand now, so they ran first."


@pytest.fixture(scope="module")
def path(shared_lab, tmp_path_factory):
    """A notebook of two exercises of chapter 02, and no more so that it opens fast, in a folder of its own."""
    folder = tmp_path_factory.mktemp("cards") / CHAPTER
    shutil.copytree(shared_lab.server.root / CHAPTER, folder)
    yield folder / f"{CHAPTER}.ipynb"
    shared_lab.put_back()


@pytest.fixture
def chapter(shared_lab, path):
    """The page on that notebook, as it was released, in a new kernel in which the setup has run; it is opened once."""
    released = nbformat.read(shared_lab.server.root / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    released.cells = [cell for cell in released.cells if cell.id in KEPT or "setup" in cell.metadata.get("tags", [])]
    if shared_lab.shows(path):
        shared_lab.restart_kernel()
        shared_lab.command("notebook:clear-all-cell-outputs")
        for cell, now in zip(released.cells, shared_lab.cells(), strict=True):
            if cell.source != now["source"]:
                shared_lab.type_into(cell.id, cell.source)
    else:
        nbformat.write(released, path)
        shared_lab.open_notebook(path)
    shared_lab.forget()
    shared_lab.run_cell(setup(shared_lab))
    yield shared_lab
    shared_lab.theme("light")


def setup(lab) -> int:
    return next(place for place, cell in enumerate(lab.cells()) if "setup" in cell["metadata"].get("tags", []))


def answer(lab, source: str, run: bool = True) -> str:
    """Write the answer to the first exercise, run it or leave that to its check; return what the check shows."""
    lab.type_into("answer-02-1", source)
    if run:
        lab.run_cell("answer-02-1")
    lab.run_cell("check-02-1")
    return seen(lab, "check-02-1")


def seen(lab, cell: str) -> str:
    """Return what can be seen of a cell's outputs, on one line."""
    return " ".join(lab.seen(cell).split())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_check_answers_with_one_card_that_can_be_read(chapter, theme):
    """Not solved, wrong, right: each a card without JupyterLab's own error below it, at both widths within its cell.

    A screen reader says it, in a part of the page that was there before: of one that is new, most say nothing.
    """
    chapter.theme(theme)
    said = chapter.page.locator("[role=status][aria-live=polite].gl-announced")
    assert said.count() == 1
    stub = chapter.cells()[chapter.position("answer-02-1")]["source"]
    for state, source in (("unsolved", stub), ("wrong", WRONG), ("passed", RIGHT)):
        text = answer(chapter, source)
        assert text.count(f"{TITLE}:") == 1, "the error's own text is not shown beside the card"
        cell = chapter.locate("check-02-1")
        card = cell.locator(f".gl-card-{state}")
        assert violations(chapter.page, f".gl-card-{state}") == []
        assert faint_texts(chapter.page) == []
        head = card.get_by_role("heading").inner_text()
        assert head.endswith(f"{TITLE}: {'passed' if state == 'passed' else 'not yet'}")
        words = "not yet. Likely slip: external gradient unscaled." if state == "wrong" else head.split(": ")[1]
        said.filter(has_text=words).wait_for(state="attached")
        for width in (1400, 1000):
            chapter.page.set_viewport_size({"width": width, "height": 1000})
            chapter.locate("check-02-1")
            assert card.evaluate("card => card.scrollWidth <= card.clientWidth")
            assert card.bounding_box()["width"] <= cell.bounding_box()["width"]
        chapter.page.set_viewport_size({"width": 1400, "height": 1000})
    chapter.assert_quiet()


def test_the_slip_comes_first_and_details_are_folded(chapter):
    card = (answer(chapter, WRONG), chapter.locate("check-02-1").locator(".gl-card"))[1]
    lines = [line for line in card.inner_text().splitlines() if line.strip()]
    order = [next(i for i, line in enumerate(lines) if start in line) for start in ("Likely slip", "yours", "Case 1")]
    assert order == sorted(order)
    assert lines[order[0] - 1].endswith("not yet")
    assert card.locator("svg[role=img]").is_visible()
    hidden = [card.get_by_text("First difference at"), *card.locator("details table").all()]
    assert len(hidden) == 3
    assert not any(one.is_visible() for one in hidden)
    card.get_by_text("Details").focus()
    chapter.page.keyboard.press("Enter")
    assert all(one.is_visible() for one in hidden)


def test_a_check_stays_in_view_and_a_pass_shows_its_payoff_and_goes_on(chapter):
    """By Shift+Enter, in a low window: the card's head, then what was won, its slider, and the way on."""
    chapter.page.set_viewport_size({"width": 1400, "height": 700})
    for source, verdict, following in ((WRONG, "not yet", "payoff-02-1"), (RIGHT, "passed", "answer-02-5")):
        chapter.type_into("answer-02-1", source)
        chapter.locate("check-02-1")
        chapter.page.keyboard.press("Escape")
        chapter.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.activate()")
        chapter.page.keyboard.press("Shift+Enter")
        head = chapter.page.get_by_role("heading", name=f"{TITLE}: {verdict}")
        chapter.page.wait_for_function(
            """([head, id]) => {
                const { node, activeCell } = window.jupyterapp.shell.currentWidget.content;
                const [top, bottom] = [node, head].map(each => each.getBoundingClientRect());
                return bottom.top >= top.top && bottom.bottom <= top.bottom && activeCell.model.id === id
                    && document.activeElement === activeCell.node;
            }""",
            arg=[head.element_handle(), following],
        )
    cell = chapter.page.locator(".jp-Cell").filter(has=head)
    slider = cell.get_by_role("slider", name="root of")
    slider.wait_for()
    frame, foot = (cell.locator(part).bounding_box() for part in (".gl-card", ".gl-card-next"))
    assert frame["y"] + frame["height"] < slider.bounding_box()["y"] < foot["y"]
    assert frame["x"] == foot["x"]
    assert violations(chapter.page, ".gl-card-next") == []
    link = cell.get_by_role("link", name="Next: 02.2")
    assert link.get_attribute("href").endswith("#cell-id=check-02-2"), "without the statement, to the check"
    chapter.page.set_viewport_size({"width": 1000, "height": 1000})
    payoff = cell.locator(".jp-OutputArea-output").filter(has=chapter.page.get_by_role("slider"))
    boxes = [part.bounding_box() for part in (cell.locator(".gl-card"), payoff, cell.locator(".gl-card-next"))]
    assert max(box["x"] + box["width"] for box in boxes) - min(box["x"] + box["width"] for box in boxes) <= 1
    chapter.page.set_viewport_size({"width": 1400, "height": 1000})
    chapter.assert_quiet()


def test_what_stands_on_the_page_is_judged(chapter):
    """Edited, never run, or with its outputs cleared, an answer runs first; what no cell defines is not there."""
    for source, verdict in ((WRONG, "not yet"), (RIGHT, "passed")):
        assert f"{TITLE}: {verdict}" in (shown := answer(chapter, source, run=False))
        assert FIRST in shown
    chapter.run_cell("check-02-1")
    assert FIRST not in seen(chapter, "check-02-1")
    assert "the cell that defines it ended in an error: Syntax" in answer(
        chapter, "def pull_back(x, v):\n    return (v", run=False
    )
    chapter.command("notebook:clear-all-cell-outputs")
    assert f"{TITLE}: passed" in answer(chapter, RIGHT, run=False)
    chapter.restart_kernel()
    chapter.run_cell("check-02-1")
    assert f"{TITLE}: passed" in (shown := seen(chapter, "check-02-1"))
    assert FIRST in shown
    chapter.locate(setup(chapter))
    chapter.command("notebook:delete-cell")
    chapter.run_cell("check-02-1")
    assert "Only memory still holds the name check: no cell of the notebook defines it" in seen(chapter, "check-02-1")
    chapter.command("notebook:undo-cell-action")
    chapter.run_cell("check-02-1")
    assert f"{TITLE}: passed" in seen(chapter, "check-02-1")
    chapter.assert_quiet()


def test_a_cell_that_runs_for_long_says_how_to_stop_it(chapter, tmp_path):
    """After ten seconds, which pass at once here; but not while it shows a bar."""
    go_on = tmp_path / "go on"
    lines = [
        *["import functools, os, time, tqdm", "from gradlab import track"],
        "tqdm.tqdm = functools.partial(tqdm.tqdm, disable=False)",  # make test switches bars off
        *["for step in track(range(2)):", "    time.sleep(1.1)"],
        f"    while step == 1 and not os.path.exists({str(go_on)!r}):\n        time.sleep(0.01)",
        *["while True:", "    time.sleep(0.01)"],
    ]
    chapter.type_into("answer-02-1", "\n".join(lines))
    with ten_seconds_passing_at_once(chapter, "window.bar"):
        begin(chapter, "answer-02-1")
        cell = chapter.locate("answer-02-1")
        cell.get_by_text("50%|").wait_for()
        chapter.page.evaluate("() => { window.bar = true; }")
        chapter.page.wait_for_function("() => window.due > 1")
        note = cell.get_by_role("status")
        assert note.inner_text() == ""
        go_on.touch()
        note.filter(has_text="This cell has been running for 10 seconds. To stop it,").wait_for()
        for key in ("Escape", "i", "i"):
            chapter.page.keyboard.press(key)
        chapter.wait_until_done()
    assert "KeyboardInterrupt" in chapter.shown("answer-02-1")
    note.wait_for(state="detached")


def begin(lab, cell: int | str) -> None:
    """Run a cell and wait for nothing."""
    lab.locate(cell)
    lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell'); }")


@contextlib.contextmanager
def ten_seconds_passing_at_once(lab, when: str):
    """Let what the page wants to do in ten seconds be due in 20 milliseconds once `when` holds; count it in `due`."""
    lab.page.evaluate(
        f"""() => {{
            const real = window.realTimeout = window.setTimeout;
            window.due = 0;
            const soon = f => real(() => {{ if ({when}) {{ f(); window.due += 1; }} else soon(f); }}, 20);
            window.setTimeout = (f, ms, ...rest) => ms === 10000 ? soon(() => f(...rest)) : real(f, ms, ...rest);
        }}"""
    )
    yield
    lab.page.evaluate("() => { window.setTimeout = window.realTimeout; }")


def test_a_failure_offers_the_help_that_fits(chapter):
    """If it quotes the message, at once, but opened by a click alone."""
    raises = 'def pull_back(x, v):\n    raise RuntimeError("grad can be implicitly created only for scalar outputs")'
    answer(chapter, raises)
    helps = chapter.locate("ex1-help")
    assert helps.locator("details[open]").count() == 0, "nothing opens by itself"
    chapter.locate("check-02-1").get_by_role("link", name="Open the help for this message").click()
    opened = helps.locator("details[open]")
    opened.get_by_text("You called backward() without its argument").wait_for()
    assert opened.count() == 1
    chapter.page.wait_for_function("() => document.activeElement.matches('details[open] > summary')")
    assert "passed" in answer(chapter, RIGHT)
    chapter.assert_quiet()


def test_in_an_untrusted_notebook_a_card_can_still_be_read(chapter, path):
    answer(chapter, WRONG)
    chapter.save()
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata.pop("trusted", None)
    other = path.with_name("untrusted.ipynb")
    notebook.metadata["other"] = "signed by nobody"
    nbformat.write(notebook, other)
    chapter.open_notebook(other)
    card = chapter.locate("check-02-1").locator(".jp-RenderedHTMLCommon").first
    assert "Likely slip: external gradient unscaled." in card.inner_text()
    assert card.locator("img").count() == 1
    assert card.locator("style").count() == 0, "JupyterLab has taken the style away"
    border = card.locator(".gl-card").evaluate("e => getComputedStyle(e).borderLeftWidth")
    assert border == "5px", "the page itself has the style of cards"


def test_the_engine_is_made_of_what_the_notebooks_show_saved_or_not(lab, tmp_path):
    """An answer of chapter 11 that was never saved, in chapter 12."""
    for name in (ENGINE, LATER):
        shutil.copytree(lab.server.root / name, tmp_path / name)
    lab.open_notebook(tmp_path / ENGINE / f"{ENGINE}.ipynb")
    lab.type_into("answer-11-1", solution("11.1"))
    lab.run_cell("check-11-1")
    assert "passed" in lab.shown("check-11-1")
    path = (tmp_path / LATER / f"{LATER}.ipynb").relative_to(lab.server.root).as_posix()
    lab.command("docmanager:open", path=path)
    lab.wait_for_kernel()
    lab.run_cell("own-engine")
    assert re.search(r"edge_or_leaf +yours", lab.shown("own-engine"))
    lab.assert_quiet()
