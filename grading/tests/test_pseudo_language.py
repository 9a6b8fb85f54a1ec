"""The course in the pseudo-language: what learners and instructors read is translated, fits, and earns the same points.

Each text of the pseudo-language has accents on its vowels, so a plain English word is a text that was not translated.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from chapter_answers import Exercise
from test_demo import EXPECTED

from authoring import archive
from autograder import demo
from gradlab import words

CHAPTERS = ("02_external_gradients", "06_tensor_hooks")
WIDTHS = (1400, 400)
CODE = "code, pre, svg, script, style, math, mjx-container, .gl-output, .jp-InputArea-editor"  # not for translators
PLAIN_WORDS = """
([element, code, data]) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode, parent = node.parentElement;
        if (parent.closest(code) || !parent.checkVisibility()) continue;
        const text = node.data.replace(/'[^']*'/g, "");
        const plain = text.match(/(?<![\\p{L}_.])[A-Za-z]*[aeiou][A-Za-z]*(?![\\p{L}_.(-])/gu) ?? [];
        if (plain.some(word => word.length > 2 && !data.includes(word))) found.push(node.data.trim());
    }
    return found;
}"""
WIDE = """element => [...element.querySelectorAll('.gl-card, .gl-verdict, form, table')]
    .filter(part => part.scrollWidth > part.clientWidth + 1).map(part => part.outerHTML.slice(0, 300))"""
pytestmark = [pytest.mark.exhaustive, pytest.mark.browser]


def english(locator, *data: str) -> list[str]:
    """Return texts of an element that have a plain English word of three letters, outside code, quotes and `data`."""
    return locator.evaluate(f"element => ({PLAIN_WORDS})([element, {CODE!r}, {[*data]}])")


@pytest.fixture(scope="module")
def edition():
    """Build two chapters in the pseudo-language, and return the edition's folder."""
    command = [sys.executable, "-m", "authoring", "build", "--language", "xx", *CHAPTERS]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    return Path(made.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def course(edition, tmp_path_factory):
    """Unpack the students' archive of the edition, and return its folder `course`."""
    root = tmp_path_factory.mktemp("student")
    for name, content in archive.contents(language="xx").items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root / "course"


def fits(lab, locator) -> None:
    """Assert that nothing in an element is wider than the page, at each width."""
    for width in WIDTHS:
        lab.page.set_viewport_size({"width": width, "height": 1000})
        wide = locator.evaluate(WIDE)
        assert wide == [], width
    lab.page.set_viewport_size({"width": WIDTHS[0], "height": 1000})


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_learner_reads_no_english(open_lab, course, tmp_path, chapter):
    """The start page, a guess, a wrong and a right answer, and the summary are translated and fit."""
    workspace = tmp_path / "workspace"
    command = [sys.executable, "-m", "gradlab", "lab", f"--workspace={workspace}"]
    lab = open_lab(tmp_path, command, env={"PYTHONPATH": str(course)})
    lab.goto()
    page = lab.page.locator(".jp-RenderedMarkdown:visible").first
    page.locator("h1").wait_for()
    assert english(page) == []

    exercise = Exercise(chapter)
    answer, check, payoff = (f"{what}-{exercise.number}" for what in ("answer", "check", "payoff"))
    lab.open_notebook(workspace / chapter / f"{chapter}.ipynb")
    guess = next(cell["id"] for cell in lab.cells() if "with predict." in cell["source"])
    lab.run_above(guess)
    lab.run_cell(guess)
    form = lab.locate(guess).locator("form")
    form.wait_for()
    assert english(lab.locate(guess).locator(".jp-Cell-outputArea")) == []
    for field in form.locator("input[type=text]").all():
        field.fill("1")
    for options in form.get_by_role("radiogroup").all():
        options.get_by_role("radio").first.check()
    form.locator("button").first.click()
    lab.locate(guess).locator(".gl-verdict").first.wait_for()
    assert english(lab.locate(guess).locator(".jp-Cell-outputArea")) == []
    fits(lab, lab.locate(guess))

    for source in (exercise.wrong, exercise.right):
        lab.type_into(answer, source)
        lab.run_cell(answer)
        lab.run_cell(check)
        assert exercise.title not in lab.shown(check)
        card = lab.locate(check).locator(".gl-card").first
        assert english(card) == []
        fits(lab, lab.locate(check))
    lab.run_cell(payoff)
    assert english(lab.locate(payoff).locator(".jp-Cell-outputArea")) == []
    lab.run_cell("summary")
    assert english(lab.locate("summary").locator(".jp-Cell-outputArea")) == []
    lab.assert_quiet()


@pytest.fixture(scope="module")
def demo_class(edition, tmp_path_factory):
    """Return the report's rows of the demo class in the pseudo-language, and its folder."""
    folder = tmp_path_factory.mktemp("pseudo")
    rows = demo.run(folder, language="xx")
    words.use(b"")
    return rows, folder


def test_a_class_earns_the_same_points(demo_class):
    rows, _ = demo_class
    earned = {row.student: ([*row.points.values()], row.reasons.keys()) for row in rows if row.score is not None}
    assert earned == {student: (points, reasons.keys()) for student, (points, reasons) in EXPECTED.items()}


def test_feedback_and_report_have_no_english(demo_class, page):
    rows, folder = demo_class
    data = ["backward", *(row.student for row in rows)]  # `backward` is in the chapter's title
    pages = [folder / "reports" / f"{demo.CHAPTER}.html"]
    pages += [folder / "reports" / demo.CHAPTER / f"{student}.html" for student in ("farid", "mika")]
    pages += [folder / "feedback" / student / demo.CHAPTER / f"{demo.CHAPTER}.html" for student in ("dana", "ines")]
    for path in pages:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 1000})
            page.goto(path.as_uri())
            assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"), (path, width)
        assert english(page.locator("body"), *data) == [], path
