"""Predictions and payoffs in JupyterLab, used by keyboard, and after the kernel has ended."""

import io
import json
import re

import nbformat
import numpy as np
import pytest
from accessible import violations
from browser import write_notebook
from matplotlib.image import imsave

from gradlab.checks import results
from gradlab.pictures.picture import static

pytestmark = pytest.mark.browser

CHAPTER = "02_external_gradients"
ASKED = "Compare with torch"
FOLD = "The answer. Run this cell and enter your guess, or open this fold."
CUBE = """\
from PIL import Image
from gradlab import payoff, predict
x_grad = [300.0, 0.3]

def pull_back(x, v):
    return 3 * x**2 * v"""
NUMBERS = """\
with predict.numbers("s1-run", "What will x.grad hold?", {"x.grad": 2}) as guess:
    print("x.grad:", x_grad)
    guess.compare(x_grad)"""
CLAIM = """\
with predict.true_false("s1-claim-run", "Is it so?", ["one is twice the other"]) as guess:
    print("the answer: no")
    guess.compare(False)"""
CHOICES = """\
with predict.choice("s5-wrong", "What comes?", ["an error", "None", "ones"], ["nothing", "one", "two"]) as guess:
    print("None, ones, an error")
    guess.compare(["None", "ones", "an error"])"""
ORDER = """\
with predict.order("s6-run", "In which order?", ["first", "second", "third"]) as guess:
    guess.compare(["third", "first", "second"])"""
PAYOFF = """\
@payoff("02.1", "your pull_back as a grey square", copies=True, root_of=(1, 9, 1))
def square(root_of=4):
    return Image.new("L", (20, 20), 20 * root_of + 0 * pull_back(1, 1))"""
TEXT = "A text that is in view."
EXPLAINED = "<details><summary>What happened, and why</summary>\n\nThe second is an error.\n\n</details>"
IMAGE = """\
from gradlab import drawing, image_file, small_drawing, small_image

@payoff("02.1", "the size of your image", image=image_file(), name="", drawn=drawing("Draw here"))
def size(image=(), name="", drawn=()):
    if drawn:
        return f"{len(drawn)} strokes, ink in {(small_drawing(drawn, 8) > 0).sum()} places"
    return f"{name} {tuple(small_image(image, 4).shape)}" if image else "no image yet"
"""
CELLS = {
    "setup": CUBE,
    "s1": TEXT,
    "s1-run": NUMBERS,
    "s1-claim-run": CLAIM,
    "s5-wrong": CHOICES,
    "s5-explain": EXPLAINED,
    "guesses": "predict.summary()",
    "payoff-02-1": PAYOFF,
    "payoff-image": IMAGE,
    "s6-run": ORDER,
}


@pytest.fixture
def notebook(tmp_path, lab):
    """A short chapter in a folder that remembers one passed check and no guess; open and not yet run."""
    folder = tmp_path / "mine" / CHAPTER
    folder.mkdir(parents=True)
    results.remember("02.1", "passed", folder)
    kind = dict.fromkeys((TEXT, EXPLAINED), nbformat.v4.new_markdown_cell)
    cells = [kind.get(source, nbformat.v4.new_code_cell)(source, id=name) for name, source in CELLS.items()]
    path = write_notebook(folder / f"{CHAPTER}.ipynb", cells)
    lab.open_notebook(path)
    return path


def focused(lab):
    """What has the keyboard: its role or type, and its text."""
    return lab.page.evaluate(
        """() => {
            const e = document.activeElement;
            return [e.getAttribute('role') ?? e.type ?? e.tagName, e.labels?.[0]?.innerText ?? e.innerText];
        }"""
    )


def test_a_guess_is_entered_by_keyboard_judged_remembered_and_kept(lab, notebook, tmp_path):
    lab.run_all()  # all cells, so that JupyterLab trusts the saved notebook and looks for its widgets again
    form = lab.locate("s1-run").get_by_role("group", name="What will x.grad hold?")
    form.wait_for()
    assert ASKED in lab.seen("s1-run")
    assert "300" not in lab.seen("s1-run"), "torch's answer can be seen before the guess"

    form.get_by_label("x.grad[0]").focus()
    lab.page.keyboard.type("300")
    lab.page.keyboard.press("Tab")
    lab.page.keyboard.type("1/3")
    lab.page.keyboard.press("Enter")
    alert = lab.page.get_by_role("alert").filter(has_text="“1/3” cannot be read as a number.")
    alert.wait_for()
    assert focused(lab) == ["text", "x.grad[1]"], "the field that cannot be read has the keyboard"
    lab.page.keyboard.press("ControlOrMeta+a")
    lab.page.keyboard.type("0.1")
    lab.page.keyboard.press("Tab")
    assert focused(lab) == ["checkbox", "I am sure"]
    lab.page.keyboard.press("Space")
    lab.page.keyboard.press("Enter")
    lab.page.get_by_role("status").filter(has_text="You guessed: 1 of 2 right, and you were sure.").wait_for()
    goes_on_to(lab, "s1-claim-run")
    lab.locate("s1-run").get_by_text("x.grad: [300.0, 0.3]").wait_for()
    assert "you said 0.1\nbut it is 0.3" in lab.seen("s1-run")
    assert lab.seen("s1-run").count("1 of 2 right") == 1
    verdict = lab.locate("s1-run").get_by_role("status")
    starts = verdict.locator("li > :nth-child(3)").evaluate_all("all => all.map(e => e.getBoundingClientRect().x)")
    assert len(set(starts)) == 1, "guesses are aligned"
    height = verdict.bounding_box()["height"]
    lab.page.add_style_tag(content=static("stepper.css"))  # as in a notebook with a stepper
    form = verdict.locator("xpath=..").bounding_box()
    assert form["height"] <= height + 4, "no gap below the verdict"
    assert form["width"] > 500
    lab.assert_quiet()

    remembered = json.loads((tmp_path / "mine/.predictions.json").read_text())[CHAPTER]["s1-run"]
    assert (remembered["said"], remembered["sure"], remembered["right"]) == (["300", "0.1"], True, [True, False])

    lab.run_cell("guesses")
    lab.locate("guesses").get_by_role("link", name="What will x.grad hold?").click()
    lab.page.get_by_role("status").filter(has_text="1 of 2 right").filter(visible=True).wait_for()
    lab.save()

    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    lab.open_notebook(notebook)
    assert "You guessed: 1 of 2 right" in lab.seen("s1-run")
    assert "x.grad: [300.0, 0.3]" in lab.seen("s1-run")
    lab.locate("s1-claim-run")
    lab.page.locator(".jupyter-widgets").filter(has_text="model not found").first.wait_for(state="attached")
    assert lab.page.get_by_text("model not found").filter(visible=True).count() == 0
    assert lab.seen("s1-claim-run").strip() == FOLD
    lab.locate("s1-claim-run").get_by_text(FOLD).click()
    assert "the answer: no" in lab.seen("s1-claim-run")

    lab.run_cell("setup")
    lab.run_cell("s1-run")
    assert "You guessed before: 1 of 2 right, and you were sure." in lab.seen("s1-run")
    assert lab.seen("s1-run").count("1 of 2 right") == 1
    lab.locate("s1-run").get_by_role("button", name="Guess again").click()
    lab.locate("s1-run").get_by_role("group", name="What will x.grad hold?").wait_for()
    assert focused(lab) == ["text", "x.grad[0]"]
    assert "300" not in lab.seen("s1-run"), "torch's answer can be seen before the second guess"


@pytest.mark.parametrize("keys", ["Shift+Enter", "ControlOrMeta+Enter"])
def test_the_keyboard_goes_to_the_form_and_on(lab, notebook, keys):
    """After running a prediction you can type the guess at once; Shift+Enter goes on to the next cell either way.

    It passes texts that are in view, which a screen reader says.
    """
    lab.locate("setup").locator(".cm-content").click()
    lab.page.keyboard.press("Shift+Enter")
    goes_on_to(lab, "s1-run")
    lab.page.locator(".gl-announced").filter(has_text=TEXT).wait_for(state="attached")
    lab.page.keyboard.press(keys)
    lab.page.wait_for_function("() => document.activeElement.labels?.[0]?.innerText === 'x.grad[0]'")
    lab.page.keyboard.press("Shift+Enter")
    lab.page.wait_for_function("() => document.activeElement.matches('.jp-Cell')")
    lab.page.keyboard.press("Shift+Enter")
    lab.page.wait_for_function("() => document.activeElement.closest('form')?.innerText.includes('Is it so?')")
    lab.assert_quiet()


def goes_on_to(lab, cell):
    """Wait until a cell is the selected one and has the keyboard, in the mode in which Shift+Enter runs it."""
    lab.page.wait_for_function(
        """id => {
            const { activeCell, mode } = window.jupyterapp.shell.currentWidget.content;
            return activeCell.model.id === id && mode === 'command' && activeCell.node === document.activeElement;
        }""",
        arg=cell,
    )


def test_after_a_wrong_guess_the_explanation_is_open_and_has_the_keyboard(lab, notebook):
    lab.run_all()
    lab.locate("s5-explain").locator("details:not([open])").wait_for()
    form = lab.locate("s5-wrong").locator("form")
    assert violations(lab.page, ".gl-guess form") == []
    form.get_by_role("radiogroup", name="nothing").get_by_role("radio", name="None").focus()
    lab.page.keyboard.type("233")
    lab.page.keyboard.press("Enter")
    lab.page.get_by_role("status").filter(has_text="You guessed: 2 of 3 right, and you were not sure.").wait_for()
    goes_on_to(lab, "s5-explain")
    lab.page.locator(".jp-MarkdownOutput details[open]").get_by_text("The second is an error.").wait_for()
    lab.page.keyboard.press("Shift+Enter")
    goes_on_to(lab, "guesses")
    lab.assert_quiet()


def test_an_order_is_dragged(lab, notebook):
    lab.run_cell("setup")
    lab.run_cell("s6-run")
    events = lab.locate("s6-run").get_by_role("listitem")
    third = events.filter(has_text="third").locator("span")
    third.drag_to(third, target_position={"x": 5, "y": 14})  # the last one cannot move down
    third.drag_to(events.first, target_position={"x": 20, "y": 2})  # past two others at once
    assert [text.split()[0] for text in events.all_inner_texts()] == ["third", "first", "second"]
    lab.page.get_by_role("status").filter(has_text="third is now 1st.").wait_for()
    lab.locate("s6-run").get_by_role("button", name=ASKED).click()
    lab.page.get_by_role("status").filter(has_text="3 of 3 right").wait_for()
    lab.assert_quiet()


MOVED = "start => document.querySelector('.gl-payoff .gl-frame img').src !== start"


def test_a_payoff_moves_through_pictures_made_ahead_and_stands_still_without_its_kernel(lab, notebook):
    """Alive, it hides the still picture; without its kernel, the still picture is back. A form says to run its cell."""
    lab.run_cell("setup")
    lab.run_cell("payoff-02-1")
    shown = lab.locate("payoff-02-1")
    picture = shown.get_by_alt_text("your pull_back as a grey square").filter(visible=True)
    shown.get_by_role("slider", name="root of").wait_for()
    assert picture.count() == 1, "the still picture hides while the live one is there"
    assert violations(lab.page, ".gl-live") == []
    lab.page.locator(".gl-payoff[data-ready]").wait_for()
    lab.type_into("setup", CUBE.replace("return 3 * x**2 * v", "raise ValueError('lost')"))
    lab.run_cell("setup")
    slider, start = lab.locate("payoff-02-1").get_by_role("slider"), picture.get_attribute("src")
    slider.press("ArrowRight")
    lab.page.wait_for_function(MOVED, arg=start)
    slider.press("ArrowLeft")
    lab.page.wait_for_function("start => !(" + MOVED + ")(start)", arg=start)
    lab.locate("payoff-02-1").get_by_role("button", name="Play root of").press("Enter")
    lab.page.wait_for_function("() => document.querySelector('.gl-payoff [type=range]').ariaValueText === '9'")
    assert "lost" not in lab.locate("payoff-02-1").inner_text(), "a picture was not made ahead"
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.get_by_role("button", name="Copy picture").press("Enter")
    shown.get_by_role("status").get_by_text("Copied.").wait_for()
    assert lab.page.evaluate("async () => (await navigator.clipboard.read())[0].types") == ["image/png"]
    lab.assert_quiet()

    chooses_an_image(lab)
    lab.run_cell("s1-run")
    lab.locate("s1-run").get_by_role("button", name="Compare with torch").wait_for()
    lab.restart_kernel()
    lab.locate("payoff-02-1").get_by_alt_text("your pull_back as a grey square").filter(visible=True).wait_for()
    lab.locate("s1-run").get_by_text("Run this cell and enter your guess").filter(visible=True).wait_for()
    assert lab.page.locator(".gl-live").filter(visible=True).count() == 0, "a form or a slider stays, but is dead"
    lab.save()
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    lab.open_notebook(notebook)
    assert "no image yet" in lab.seen("payoff-image")
    still = lab.locate("payoff-02-1").get_by_alt_text("your pull_back as a grey square")
    still.filter(visible=True).wait_for()
    assert lab.page.get_by_text("model not found").filter(visible=True).count() == 0
    assert "Run this cell to move: root of." in lab.seen("payoff-02-1")


def chooses_an_image(lab):
    """Choose files by keyboard: an image is taken, anything else is refused in a sentence that is announced."""
    lab.run_cell("payoff-image")
    shown = lab.locate("payoff-image")
    image = io.BytesIO()
    imsave(image, np.eye(40))
    for name, content in [("mine.png", image.getvalue()), ("notes.txt", b"words")]:
        button = shown.get_by_role("button", name="Choose an image")
        with lab.page.expect_file_chooser() as chooser:
            button.press("Space")  # with the focus on it, which JupyterLab may move once a cell has run
        chooser.value.set_files({"name": name, "mimeType": "", "buffer": content})
        if name == "mine.png":
            shown.get_by_text("(1, 4, 4)").filter(visible=True).wait_for()
            assert violations(lab.page, ".gl-live") == []
    refused = "notes.txt cannot be opened as an image. Choose a PNG or JPEG file."
    shown.get_by_role("alert").filter(has_text=refused).wait_for()
    field, mouse = shown.get_by_role("img", name="Draw here"), lab.page.mouse
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    for start, end in [((0.3, 0.2), (0.6, 0.8)), ((0.7, 0.2), (0.7, 0.9))]:
        mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
        mouse.down()
        mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=5)
        mouse.up()
    shown.get_by_text(re.compile(r"2 strokes, ink in [23]\d places")).filter(visible=True).wait_for()
    shown.get_by_role("button", name="Clear").press("Enter")
    shown.get_by_role("alert").filter(has_text=refused).wait_for()
    lab.assert_quiet()
