"""Make the README's pictures from the course itself, in Chromium, for light and dark pages: `make pictures`.

They show a guess and torch's answer, a check's card, the stepper in the middle of a walk, and the demo class's report.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / ".github" / "pictures"
THEMES = ("light", "dark")
MARGIN = 4  # pixels around what is shown
GUESSES = {"w.grad": "6", "change in L": "0.6"}
WRONG = "def pull_back(x, v):\n    return v"


@pytest.fixture
def window(lab):
    """JupyterLab in a narrow window, without its side panel."""
    lab.page.set_viewport_size({"width": 860, "height": 1200})
    lab.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    return lab


def open_chapter(lab, name: str) -> None:
    """Open a chapter and run its first set-up cell."""
    lab.open_notebook(lab.server.root / name / f"{name}.ipynb")
    lab.run_cell("setup")


def keep(lab, name: str, *shown) -> None:
    """Save a picture around these parts of the page, in each theme."""
    for theme in THEMES:
        lab.theme(theme)
        boxes = [each.bounding_box() for each in shown]
        left, top = (min(box[side] for box in boxes) - MARGIN for side in ("x", "y"))
        right, bottom = (max(box[a] + box[b] for box in boxes) + MARGIN for a, b in (("x", "width"), ("y", "height")))
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        lab.page.screenshot(path=PICTURES / f"{name}-{theme}.png", clip=clip)


def test_a_guess_and_torchs_answer(window):
    open_chapter(window, "01_graph")
    window.run_cell("s1-nudge-run")
    cell = window.locate("s1-nudge-run")
    for label, guess in GUESSES.items():
        cell.get_by_label(label).fill(guess)
    cell.get_by_label(label).press("Enter")
    cell.get_by_role("status").filter(has_text="1 of 2 right").wait_for()
    keep(window, "guess", window.locate("s1-nudge-run"))


def test_a_checks_card(window):
    open_chapter(window, "02_external_gradients")
    window.type_into("answer-02-1", WRONG)
    window.run_cell("answer-02-1")
    window.run_cell("check-02-1")
    keep(window, "card", window.locate("check-02-1").locator(".gl-card:visible").first)


def test_the_stepper_in_the_middle_of_a_walk(window):
    open_chapter(window, "01_graph")
    window.run_cell("s3-step")
    stepper = window.locate("s3-step").locator(".gl-stepper")
    for _ in range(4):
        stepper.get_by_role("button", name="Next").click()
    keep(window, "stepper", stepper)


def test_the_demo_classs_report(page):
    [report] = (ROOT / "grading" / "demo" / "reports").glob("*.html")
    page.set_viewport_size({"width": 1040, "height": 800})
    page.goto(report.as_uri())
    points = page.locator("figcaption").first.bounding_box()  # below the first chart
    clip = {"x": 0, "y": 0, "width": 1040, "height": points["y"] + points["height"]}
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.screenshot(path=PICTURES / f"report-{theme}.png", full_page=True, clip=clip)
