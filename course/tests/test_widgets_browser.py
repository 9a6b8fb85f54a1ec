"""The pictures in a real JupyterLab: both themes, mouse and keyboard, reopened without trust, exported.

All assertions read the page.
"""

import json
import re
import subprocess
import sys

import nbformat
import pytest
from accessible import violations
from browser import lend, write_notebook

pytestmark = pytest.mark.browser

GRAPH = """\
import torch, gradlab
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([0.5, -1.0])
y = x * 3 + w
loss = (y * y).sum()
gradlab.draw(loss)"""
STEP = "gradlab.step(loss, retain_graph=True)"
VJP = "gradlab.vjp(lambda x: torch.stack([x[0] * x[1], x.sum()]), torch.tensor([2.0, 3.0]), v=[1.0, 0.5])"
HOOKS = """\
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
gradlab.hooks(net, torch.ones(1, 2), watch=True)"""
HEAT = "gradlab.heat(torch.linspace(0, 1, 64).reshape(8, 8), torch.eye(4), titles='a map')"
DIFF = """\
import numpy as np
from gradlab.pictures.diff import difference_picture
yours, expected = np.array([[1.0, 2.0]]), np.array([[1.0, 2.5]])
difference_picture(yours, expected, "expected", yours != expected)"""
WRONG = "gradlab.draw('loss')"
AFTERWARDS = "gradlab.draw(y)  # its rules must not undo the stepper's marks"
CELLS = [GRAPH, STEP, VJP, HOOKS, HEAT, DIFF, AFTERWARDS]
PAPER = {"light": (255, 255, 255), "dark": (33, 33, 33)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def lab(folder, shared_lab):
    """A page with every picture shown, in a notebook that was run; one for all tests of this file."""
    for lab in lend(shared_lab):
        lab.open_notebook(write_notebook(folder / "pictures.ipynb", [*CELLS, WRONG]))
        lab.run_all()
        yield lab


def colour(locator, attribute):
    """A computed colour as three numbers."""
    text = locator.evaluate(f"e => getComputedStyle(e).{attribute}")
    return tuple(round(float(n)) for n in re.findall(r"[\d.]+", text)[:3])


def test_pictures_follow_the_theme(lab):
    """Each picture renders in light and dark, in the page's own colours."""
    for theme in ("light", "dark"):
        lab.theme(theme)
        for cell in (0, 1, 2, 3, 5, 6):
            svg = lab.locate(cell).locator("svg.gl")
            assert svg.bounding_box()["width"] > 100
            assert colour(svg, "backgroundColor") == (0, 0, 0), "no background of its own"
        box = lab.locate(0).locator(".gl-op rect").first
        assert colour(box, "fill") == PAPER[theme], "boxes have the colour of the page's panels"
        ink, paper = colour(lab.locate(0).locator(".gl-op .gl-t").first, "fill"), PAPER[theme]
        assert abs(sum(ink) - sum(paper)) > 300, "text stands out from its box"
        assert lab.locate(4).locator("img").evaluate("e => e.naturalWidth") > 100

    assert lab.shown(7) == "PictureError: draw() needs a tensor, but was given 'loss' of type str."
    lab.assert_quiet()


NO_INNER_SCROLL = """e => [...e.querySelectorAll('div')].every(
    one => one.scrollHeight <= one.clientHeight + 1 || getComputedStyle(one).overflowY === 'visible')"""


def test_the_stepper_obeys_mouse_and_keyboard(lab):
    """The stepper's state in the page follows buttons, slider, arrow keys, clicks on boxes and play."""
    stepper = lab.locate(1).locator(".gl-stepper")
    slider = stepper.get_by_role("slider")
    steps = int(slider.get_attribute("max"))
    assert steps == 5

    def state():
        return stepper.evaluate(
            """e => ({
                at: +e.querySelector('input').value,
                count: e.querySelector('output').textContent,
                now: [...e.querySelectorAll('.gl-n.gl-now')].map(g => g.querySelector('.gl-t').textContent),
                done: e.querySelectorAll('.gl-n.gl-done').length,
                told: e.querySelector('.gl-said').innerText.split('\\n'),
            })"""
        )

    assert state()["at"] == 0
    assert state()["now"] == []
    stepper.get_by_role("button", name="Next").click()
    stepper.get_by_role("button", name="Next").click()
    after = state()
    assert (after["at"], after["count"], after["now"], after["done"]) == (2, "2 / 5", ["MulBackward0"], 1)
    assert after["told"][0] == "MulBackward0"
    assert "g * other = [3.5, 5]" in after["told"]
    assert "g * self = [3.5, 5]" in after["told"]

    stepper.get_by_role("button", name="Back").click()
    stepper.get_by_role("button", name="Next").click()
    assert stepper.locator(".gl-e.gl-now .gl-dot").count() == 2, "a gradient travels along each edge"
    lab.page.emulate_media(reduced_motion="reduce")
    slider.press("ArrowLeft")
    slider.press("ArrowRight")
    assert stepper.locator(".gl-dot").count() == 0
    lab.page.emulate_media(reduced_motion="no-preference")
    assert stepper.evaluate(NO_INNER_SCROLL)
    at = [stepper.locator("[data-node]", has_text=text).first.bounding_box()["x"] for text in ("leaf", "SumBackward0")]
    assert at == sorted(at), "from left to right as it was computed"

    assert colour(stepper.locator(".gl-n.gl-now rect"), "stroke") == (232, 128, 26)
    assert colour(stepper.locator(".gl-op.gl-done rect"), "stroke") == (59, 130, 214)

    slider.press("ArrowRight")
    assert state()["now"] == ["AddBackward0"]
    assert slider.get_attribute("aria-valuetext") == "step 3 of 5: AddBackward0 (y)"
    lab.page.keyboard.press("End")
    last = state()
    assert last["at"] == 5
    assert last["now"] == ["x"]
    assert "[21, 30]" in last["told"], "the leaf's gradient, 2 · 3 · (3x + w)"
    lab.page.keyboard.press("ArrowLeft")
    assert state()["at"] == 4
    lab.page.keyboard.press("Home")
    assert state()["at"] == 0
    assert lab.page.evaluate("() => document.activeElement.type") == "range", "Lab did not take the keys"

    stepper.locator("[data-node]", has_text="SumBackward0").click()
    assert state()["now"] == ["SumBackward0"]
    stepper.get_by_role("button", name="Start").click()
    slider.press("Home")
    slider.press("Space")
    assert stepper.get_by_role("button", name="Pause").is_visible()
    lab.page.wait_for_function("e => +e.value >= 2", arg=slider.element_handle())
    stepper.get_by_role("button", name="Pause").click()
    assert stepper.get_by_role("button", name="Play").is_visible()


def test_the_sliders_obey_mouse_and_keyboard(lab):
    """The row below the Jacobian is vᵀJ for what the sliders say."""
    widget = lab.locate(2).locator(".gl-vjp")

    def row(key, count):
        return [widget.locator(f'[data-key="{key}{k}"] text').text_content() for k in range(count)]

    assert row("p0,", 2) == ["3.5", "2.5"]
    slider = widget.get_by_role("slider", name="v for y[1]")
    slider.press("ArrowRight")
    assert row("p0,", 2) == ["3.6", "2.6"]
    assert widget.locator('[data-key="v1,0"] text').text_content() == "0.6"
    widget.get_by_role("button", name="only y[1]").click()
    assert row("p0,", 2) == ["1", "1"]
    assert widget.locator(".gl-result").text_content() == "vᵀJ = [1, 1]"
    widget.locator('[data-key="J0,1"]').click()
    assert row("p0,", 2) == ["3", "2"], "a click on a row of J picks that row"
    assert "gl-off" in widget.locator('[data-key="J1,0"]').get_attribute("class")


STILL = "Run this cell to step through."


def test_saved_pictures_stay(lab, folder):
    """Saved, they come back as images where nothing is trusted, and alive where it is; no kernel is asked."""
    lab.save()
    saved = nbformat.read(folder / "pictures.ipynb", as_version=4)
    assert [len(cell.outputs) for cell in saved.cells] == [1] * (len(CELLS) + 1)
    assert "widget" not in json.dumps([cell.outputs for cell in saved.cells])
    assert [cell for cell in saved.cells[: len(CELLS)] if not cell.outputs[0].data["text/plain"].strip()] == []

    saved.cells.insert(0, nbformat.v4.new_markdown_cell("Changed elsewhere, so it is not trusted"))
    nbformat.write(saved, folder / "untrusted.ipynb")
    lab.open_notebook(folder / "untrusted.ipynb")
    for place in (1, 2, 3, 4, 6, 7):
        output = lab.locate(place).locator(".jp-OutputArea-output").first
        image = output.locator("img")
        assert image.evaluate("e => e.complete && e.naturalWidth") > 100
        assert image.get_attribute("alt")
        assert output.inner_text().strip() == (STILL if place == 2 else ""), "no text garbage"
        assert output.locator("svg").count() == 0

    lab.open_notebook(folder / "pictures.ipynb")
    stepper = lab.locate(1).locator(".gl-stepper")
    stepper.get_by_role("button", name="Next").click()
    assert stepper.locator("output").text_content() == "1 / 5"
    assert stepper.get_by_text(STILL).count() == 0
    lab.assert_quiet()


def test_exported_pictures_live(lab, folder, page):
    """nbconvert's HTML shows and steps through them, also where nothing can be fetched."""
    lab.save()
    convert = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", "--log-level=ERROR", "pictures.ipynb"]
    subprocess.run(convert, cwd=folder, check=True)
    page.route(re.compile("^https?://"), lambda route: route.abort())
    page.goto((folder / "pictures.html").as_uri())
    page.locator(".gl-stepper").get_by_role("button", name="Next").click()
    assert page.locator(".gl-stepper output").text_content() == "1 / 5"
    assert page.locator("svg.gl").count() == 6


VS_CODE = """html => {
    const output = document.body.appendChild(document.createElement('div'));
    output.innerHTML = html;
    for (const script of [...output.getElementsByTagName('script')]) {
        const again = document.createElement('script');
        again.text = script.innerText;
        output.appendChild(again).remove();
    }
}"""  # how its notebooks put HTML into a page


def test_in_vs_code_steppers_step_and_pictures_are_images(lab, page):
    """Its scripts run apart from where they stand, so the other pictures stay what they are without a script."""
    shown = [output["data"] for cell in range(len(CELLS)) for output in lab.outputs(cell)]
    for data in shown:
        page.evaluate(VS_CODE, "".join(data.get("text/html", [])))
    page.get_by_role("button", name="Next").click()
    assert page.locator(".gl-stepper output").text_content() == "1 / 5"
    page.get_by_role("button", name="all ones").click()
    assert "vᵀJ = [4, 3]" in page.locator(".gl-vjp").inner_text()
    assert page.get_by_role("img").evaluate_all("all => all.filter(e => !(e.alt || e.ariaLabel))") == []
    assert page.get_by_role("img").count() == sum("text/html" in data for data in shown) > 4
    assert violations(page, "body", rules=["wcag2a", "wcag2aa"]) == []


FOLDED = """\
# Tested: a sentence that is longer than a small window is wide, about what is tested here and why it matters at all.
print(" ".join(["12345678"] * 30))"""


def test_a_small_window_and_large_letters(lab, folder):
    """At 1000 px text keeps its size, with the pictures beside it, and what was printed breaks between numbers."""
    folded = nbformat.v4.new_code_cell(FOLDED, metadata={"jupyter": {"source_hidden": True}})
    figure = nbformat.v4.new_markdown_cell("![an opening figure](figures/opening.svg)")
    (folder / "figures").mkdir()
    (folder / "figures/opening.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    tables = DIFF.replace("[[1.0, 2.0]], [[1.0, 2.5]]", "[[1e5 + k for k in range(6)]] * 4, [[2.0] * 6] * 4")
    lab.open_notebook(write_notebook(folder / "small.ipynb", [f"{GRAPH}\n{HOOKS}", tables, folded, figure]))
    lab.run_all()
    lab.page.set_viewport_size({"width": 1000, "height": 1000})
    lines = lab.shown(2)
    assert lab.locate(2).locator("pre").evaluate("e => e.clientHeight > 30"), "it takes several lines"
    fits = """e => {
        const text = e.firstChild, range = document.createRange();
        return [...text.data.matchAll(/\\S+/g)].every(word => {
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            return range.getClientRects().length === 1;
        });
    }"""
    assert lines.startswith("12345678")
    assert lab.locate(2).locator("pre").evaluate(fits), "no number is broken"
    dots = lab.locate(2).locator(".jp-MoreHorizIcon").bounding_box()
    assert dots["x"] + dots["width"] <= 1000

    def sizes():
        return [
            (svg.locator("text").first.evaluate("e => e.getBoundingClientRect().height"), svg.bounding_box()["width"])
            for svg in (lab.locate(cell).locator("svg.gl").last for cell in (0, 1))
        ]

    usual = sizes()
    for cell, (height, _) in enumerate(usual):
        assert height > 10
        output = lab.locate(cell).locator(".jp-OutputArea-output").last
        assert output.evaluate("e => e.scrollWidth <= e.clientWidth"), "nothing has to be scrolled"
    lab.page.evaluate("() => document.documentElement.style.setProperty('--jp-content-font-size1', '21px')")
    for (height, width), (higher, wider) in zip(usual, sizes(), strict=True):
        assert higher == pytest.approx(1.5 * height, rel=0.05)
        assert wider == pytest.approx(1.5 * width, rel=0.05)
    lab.page.evaluate("() => document.documentElement.style.removeProperty('--jp-content-font-size1')")
    opening = lab.locate(3).get_by_alt_text("an opening figure")
    lab.theme("light")
    assert opening.evaluate("e => getComputedStyle(e).filter") == "none"
    lab.theme("dark")
    assert opening.evaluate("e => getComputedStyle(e).filter").startswith("invert"), "not white on a dark page"
    lab.theme("light")
    lab.assert_quiet()
