"""Make the README's pictures from the course itself, in Chromium, for light and dark pages: `make pictures`.

They show a guess and torch's answer, a check's card, the stepper in the middle of a walk, and the demo class's report.
Beside them are the digests of what they were made from; `make check` runs this file, which names stale pictures.
"""

import hashlib
import itertools
import json
import sys
from pathlib import Path

import pytest

from gradlab.checks.meaning import meaning

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / ".github" / "pictures"
DIGESTS = PICTURES / "digests.json"
GRADLAB, VIEWS = ROOT / "course/gradlab", ROOT / "grading/autograder/views"
# What each picture shows: the code, markup and styles behind it, and the chapter and cell that run for it.
MADE_FROM = {
    "guess": (GRADLAB, "predict/prediction.py predict/static/* static/live.css", "01_graph s1-nudge-run"),
    "card": (
        GRADLAB,
        "checks/card.py checks/messages.py checks/sides.py pictures/diff.py pictures/static/picture.css "
        "static/live.css",
        "02_external_gradients check-02-1",
    ),
    "stepper": (
        GRADLAB,
        "pictures/step*.py pictures/layout.py pictures/graph.py pictures/static/step* pictures/static/picture.css",
        "01_graph s3-step",
    ),
    "report": (VIEWS, "re*.py templates/report/* templates/shared/*", ""),
}
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


def digest(name: str) -> str:
    """Return the hash of what a picture is made from, apart from comments, layout and docstrings of code."""
    folder, patterns, shown = MADE_FROM[name]
    hasher = hashlib.sha256()
    for path in sorted(itertools.chain.from_iterable(map(folder.glob, patterns.split()))):
        text = path.read_text(encoding="utf-8")
        hasher.update((meaning(text) if path.suffix == ".py" else text).encode())
    if shown:
        chapter, cell = shown.split()
        notebook = json.loads((ROOT / f"course/chapters/{chapter}/{chapter}.ipynb").read_text(encoding="utf-8"))
        hasher.update("".join(next(each["source"] for each in notebook["cells"] if each["id"] == cell)).encode())
    return hasher.hexdigest()


def noted() -> dict[str, str]:
    """Return each picture's digest from when it was made."""
    return json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}


def stale() -> list[str]:
    """Return the pictures that show something that has changed since they were made."""
    return [name for name in MADE_FROM if noted().get(name) != digest(name)]


def note(name: str) -> None:
    """Save the present digest of a picture that has just been made."""
    DIGESTS.write_text(json.dumps(noted() | {name: digest(name)}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def keep(lab, name: str, *shown) -> None:
    """Save a picture around these parts of the page, in each theme."""
    for theme in THEMES:
        lab.theme(theme)
        boxes = [each.bounding_box() for each in shown]
        left, top = (min(box[side] for box in boxes) - MARGIN for side in ("x", "y"))
        right, bottom = (max(box[a] + box[b] for box in boxes) + MARGIN for a, b in (("x", "width"), ("y", "height")))
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        lab.page.screenshot(path=PICTURES / f"{name}-{theme}.png", clip=clip)
    note(name)


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
    note("report")


if __name__ == "__main__":
    for name in stale():
        print(f".github/pictures/{name}-*.png: what the README's picture shows has changed; run make pictures")
    sys.exit(bool(stale()))
