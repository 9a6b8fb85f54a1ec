"""Predictions and payoffs as a student meets them in JupyterLab, by keyboard, and after the kernel is gone."""

import json
import shutil

import pytest

pytestmark = pytest.mark.browser

CHAPTER = "02_external_gradients"
NOTEBOOK = f"{CHAPTER}/{CHAPTER}.ipynb"
ASKED = "Compare with torch"
FOLD = "The answer. Run this cell and enter your guess, or open this fold."
MISSING = "[...document.querySelectorAll('.jupyter-widgets')]"
ANSWER = "def pull_back(x, v):\n    return 3 * x**2 * v"


@pytest.fixture
def notebook(tmp_path, lab):
    """Chapter 02 below a folder of its own, which remembers nothing yet; open and not yet run."""
    shutil.copytree(lab.server.root / CHAPTER, tmp_path / "mine" / CHAPTER)
    lab.open_notebook(tmp_path / "mine" / NOTEBOOK)
    return tmp_path / "mine" / NOTEBOOK


def place(lab, cell_id):
    """The position of a cell by its id."""
    return [cell["id"] for cell in lab.cells()].index(cell_id)


def visible(lab, cell_id):
    """What can be seen of a cell's output, without what is hidden in it."""
    outputs = lab.locate(place(lab, cell_id)).locator(".jp-OutputArea-output").filter(visible=True)
    return "\n".join(outputs.all_inner_texts())


def focused(lab):
    """What has the keyboard: its role or type, and its text."""
    return lab.page.evaluate(
        """() => {
            const e = document.activeElement;
            return [e.getAttribute('role') ?? e.type ?? e.tagName, e.labels?.[0]?.innerText ?? e.innerText];
        }"""
    )


def test_a_guess_is_entered_by_keyboard_judged_remembered_and_kept(lab, notebook, tmp_path):
    lab.run_all()  # all of it: then JupyterLab trusts the saved notebook, and looks for its widgets again
    form = lab.locate(place(lab, "s1-run")).get_by_role("group", name="What will x.grad hold?")
    form.wait_for()
    assert ASKED in visible(lab, "s1-run")
    assert "300" not in visible(lab, "s1-run"), "torch's answer can be seen before the guess"

    form.get_by_label("x.grad[0]").focus()
    lab.page.keyboard.type("300")
    lab.page.keyboard.press("Tab")
    lab.page.keyboard.type("1/3")
    lab.page.keyboard.press("Enter")
    alert = lab.page.get_by_role("alert").filter(has_text="Write the fraction as a decimal, about 0.333.")
    alert.wait_for()
    assert focused(lab) == ["text", "x.grad[1]"], "the field that cannot be read has the keyboard"
    lab.page.keyboard.press("ControlOrMeta+a")
    lab.page.keyboard.type("0.1")
    lab.page.keyboard.press("Tab")
    assert focused(lab) == ["checkbox", "I am sure"]
    lab.page.keyboard.press("Space")
    lab.page.keyboard.press("Enter")
    lab.page.get_by_role("status").filter(has_text="You guessed: 1 of 2 right, and you were sure.").wait_for()
    assert focused(lab)[0] == "status", "the keyboard goes to the verdict"
    lab.locate(place(lab, "s1-run")).get_by_text("tensor([300.0000,   0.3000])").wait_for()
    assert "you said 0.1, but it is 0.3" in visible(lab, "s1-run")
    assert visible(lab, "s1-run").count("1 of 2 right") == 1
    lab.assert_quiet()

    remembered = json.loads((tmp_path / "mine/.predictions.json").read_text())[CHAPTER]["s1-run"]
    assert (remembered["said"], remembered["sure"], remembered["right"]) == (["300", "0.1"], True, [True, False])

    lab.run_cell(place(lab, "guesses"))
    lab.locate(place(lab, "guesses")).get_by_role("link", name="What will x.grad hold?").click()
    lab.page.get_by_role("status").filter(has_text="1 of 2 right").filter(visible=True).wait_for()
    lab.save()

    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    lab.open_notebook(notebook)
    assert "You guessed: 1 of 2 right" in visible(lab, "s1-run")
    assert "tensor([300.0000,   0.3000])" in visible(lab, "s1-run")
    lab.locate(place(lab, "s1-claim-run"))
    lab.page.wait_for_function(f"() => {MISSING}.some(e => e.textContent.includes('model not found'))")
    assert lab.page.get_by_text("model not found").filter(visible=True).count() == 0
    assert visible(lab, "s1-claim-run").strip() == FOLD
    lab.locate(place(lab, "s1-claim-run")).get_by_text(FOLD).click()
    assert "x.grad: tensor([100.0000,   0.1000])" in visible(lab, "s1-claim-run")

    lab.run_cell(place(lab, "setup"))
    lab.run_cell(place(lab, "s1-run"))
    assert "You guessed before: 1 of 2 right, and you were sure." in visible(lab, "s1-run")


def test_no_answer_is_seen_before_its_question_and_every_guess_has_a_form(lab, notebook):
    """As opened, each answer is folded; after Run All, each prediction asks, and shows nothing but its form."""
    predictions = [cell["id"] for cell in lab.cells() if "with predict." in "".join(cell["source"])]
    assert len(predictions) == 9
    for name in predictions:
        assert FOLD in visible(lab, name)
        assert "tensor" not in visible(lab, name)
        explanation = lab.locate(place(lab, name) + 1)
        assert explanation.locator("details").first.evaluate("e => !e.open && e.textContent.length > 100")
    lab.run_all()
    for name in predictions:
        button = lab.locate(place(lab, name)).get_by_role("button", name=ASKED)
        button.wait_for()
        assert visible(lab, name).strip().endswith("Show it without a guess")
        fields = lab.locate(place(lab, name)).locator("form").locator("input, select")
        assert fields.evaluate_all("all => all.map(e => e.labels.length)") == [1] * fields.count()

    order = lab.locate(place(lab, "s5-wrong")).locator("form")
    order.get_by_label("nothing handed over").select_option("None, in silence")
    order.get_by_label("ones handed over").select_option("the right gradient")
    order.get_by_label("no leaf at the cut").focus()
    lab.page.keyboard.type("an error")
    lab.page.keyboard.press("Enter")
    lab.page.get_by_role("status").filter(has_text="You guessed: 2 of 3 right, and you were not sure.").wait_for()
    lab.locate(place(lab, "s2-run")).get_by_role("button", name="Show it without a guess").click()
    lab.locate(place(lab, "s2-run")).get_by_text("grad can be implicitly created only for scalar outputs").wait_for()
    lab.assert_quiet()


def test_a_payoff_waits_for_its_exercise_and_then_moves(lab, notebook):
    lab.run_cell(place(lab, "setup"))
    lab.run_cell("answer-02-1")
    lab.run_cell(place(lab, "payoff-02-1"))
    assert "solve exercise 02.1 until its check passes" in visible(lab, "payoff-02-1")

    lab.type_into("answer-02-1", ANSWER)
    for cell in ("answer-02-1", "check-02-1", place(lab, "payoff-02-1")):
        lab.run_cell(cell)
    shown = lab.locate(place(lab, "payoff-02-1"))
    slider = shown.get_by_role("slider")
    slider.wait_for()
    picture = shown.get_by_alt_text("your pull_back finding a cube root").filter(visible=True)
    assert picture.count() == 1, "the still picture hides while the live one is there"
    before = picture.get_attribute("src")
    slider.focus()
    lab.page.keyboard.press("ArrowRight")
    lab.page.wait_for_function(
        "([e, before]) => e.isConnected === false || e.src !== before", arg=[picture.element_handle(), before]
    )
    assert picture.get_attribute("src") != before

    lab.type_into("answer-02-1", "def pull_back(x, v):\n    raise ValueError('lost')")
    lab.run_cell("answer-02-1")
    lab.locate(place(lab, "payoff-02-1")).get_by_role("slider").focus()
    lab.page.keyboard.press("ArrowRight")
    lab.locate(place(lab, "payoff-02-1")).get_by_text("this ended in ValueError: lost").wait_for()
    lab.assert_quiet()

    lab.save()
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    lab.open_notebook(notebook)
    still = lab.locate(place(lab, "payoff-02-1")).get_by_alt_text("your pull_back finding a cube root")
    still.filter(visible=True).wait_for()
    assert lab.page.get_by_text("model not found").filter(visible=True).count() == 0
    assert "Run this cell to move: root of." in visible(lab, "payoff-02-1")
