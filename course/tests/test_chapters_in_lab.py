"""Chapters as a student uses them in JupyterLab: guesses, wrong and right answers, a later visit, Validate.

The tests go through every chapter; what they answer is kept in solutions/tests/answers.
"""

import re
import shutil

import nbformat
import pytest
from accessible import faint_texts, violations
from chapter_answers import CHAPTERS, EACH_CHAPTER, Exercise
from nbgrader.utils import compute_checksum, determine_grade

from gradlab.checks.stale_cells import called_checks

pytestmark = pytest.mark.browser

ASKED = "Compare with torch"
SKIP = "Show it without a guess"


@pytest.mark.parametrize("chapter", EACH_CHAPTER)
def test_a_student_works_through_a_chapter(lab, tmp_path, chapter):
    """One guess, one exercise answered wrongly and rightly, its payoff moved; then a restart, and all cells at once.

    After the restart every other prediction asks and shows nothing, every other check says what is open, and what was
    guessed and passed is remembered. (That lessons run before anything is solved is what nbval shows.)
    """
    exercise = Exercise(chapter)
    shutil.copytree(lab.server.root / chapter, tmp_path / chapter)
    lab.open_notebook(tmp_path / chapter / f"{chapter}.ipynb")
    first, *others = predictions(lab)
    answers_a_question(lab, first)
    solves_an_exercise(lab, exercise)
    lab.assert_quiet()

    lab.restart_kernel()
    lab.run_all()
    assert re.search(rf"{re.escape(exercise.title)}\s+passed", lab.seen("summary")), "the tick is remembered"
    comes_back(lab, exercise)
    everybody_can_read(lab)
    assert "You guessed before: " in lab.seen(first)
    for cell in others:
        asks_and_shows_nothing(lab, cell)
    shown = lab.locate(others[-1])
    shown.get_by_role("button", name=SKIP).click()
    shown.locator(".gl-output").filter(has_text=re.compile(r"\S")).or_(shown.locator(".gl-output img")).first.wait_for()
    lab.assert_quiet()


def predictions(lab) -> list[str]:
    """The ids of the cells that ask for a guess."""
    found = [cell["id"] for cell in lab.cells() if "with predict." in cell["source"]]
    assert len(found) >= 4
    return found


def asks_and_shows_nothing(lab, cell: str):
    """Assert that a prediction shows its form, each field with a label, and no answer; return Playwright's form."""
    place = lab.position(cell)
    shown = lab.locate(place)
    shown.get_by_role("button", name=ASKED).wait_for()
    seen = shown.evaluate("e => e.querySelector('.jp-Cell-outputArea').innerText")
    assert seen.strip().endswith(SKIP), f"{cell}: something is seen below the form"
    form = shown.locator("form")
    labels = form.locator("input").evaluate_all("all => all.map(e => e.labels.length)")
    assert set(labels) == {1}
    explanation = lab.page.locator(f'.jp-Notebook:visible .jp-Cell[data-windowed-list-index="{place + 1}"] details')
    assert explanation.first.evaluate("e => !e.open && e.textContent.length > 60"), f"{cell}: its explanation is open"
    return form


def answers_a_question(lab, cell: str) -> None:
    """Enter a guess: ones, or the first of the options on each line; the verdict and the output appear."""
    lab.run_above(cell)
    lab.run_cell(cell)
    form = asks_and_shows_nothing(lab, cell)
    for field in form.locator("input[type=text]").all():
        field.fill("1")
    for options in form.get_by_role("radiogroup").all():
        options.get_by_role("radio").first.check()
    form.get_by_role("button", name=ASKED).click()
    lab.locate(cell).get_by_role("status").filter(has_text="You guessed: ").wait_for()
    output = lab.locate(cell).locator(".gl-output")
    output.wait_for()
    assert output.inner_text().strip() or output.locator("img").count()


def solves_an_exercise(lab, exercise: Exercise) -> None:
    """Give a wrong answer, then a right one: the page says what is so, nbgrader sees it, and the payoff moves."""
    answer, check, payoff = (f"{what}-{exercise.number}" for what in ("answer", "check", "payoff"))
    lab.run_above(payoff)
    lab.type_into(answer, exercise.wrong)
    lab.run_cell(answer)
    lab.run_cell(check)
    assert f"{exercise.title}: not yet" in lab.shown(check)
    card = " ".join(lab.locate(check).locator(".gl-card").text_content().split())
    for words in exercise.wrong_says:
        assert (words.removeprefix("not: ") in card) != words.startswith("not: ")
    assert points(lab)[lab.position(check)] == 0

    lab.type_into(answer, exercise.right)
    lab.run_cell(answer)
    lab.run_cell(check)
    assert f"{exercise.title}: passed" in lab.shown(check)
    solved = lab.position(check)
    assert points(lab)[solved] == lab.cells()[solved]["metadata"]["nbgrader"]["points"] > 0
    moves(lab, payoff)


def moves(lab, payoff: str) -> None:
    """Run a payoff and move its controls: what it shows changes."""
    lab.run_cell(payoff)
    shown = lab.locate(payoff).locator(".gl-live")
    shown.wait_for()
    picture = shown.locator(".gl-frame")
    before = picture.inner_html()
    for control in shown.locator("input:is([type=range], [type=checkbox]), select").all():
        if control.get_attribute("type") == "range":
            control.press("ArrowLeft" if control.evaluate("e => e.value === e.max") else "ArrowRight")
        elif control.get_attribute("type") == "checkbox":
            control.click()
        else:
            control.select_option(index=0 if control.evaluate("e => e.selectedIndex") else 1)
    lab.page.wait_for_function("([e, before]) => e.innerHTML !== before", arg=[picture.element_handle(), before])
    assert "this cell raised" not in shown.inner_text()
    assert shown.evaluate("e => e.scrollWidth <= e.clientWidth"), "a payoff has to be scrolled"


def comes_back(lab, exercise: Exercise) -> None:
    """Assert that all cells ran in a new kernel: no error but in open checks, and the solved one passes again."""
    cells, errors = lab.cells(), lab.errors()
    assert [cell for cell in cells if cell["cell_type"] == "code" and not cell["execution_count"]] == []
    assert {place: error for place, error in errors.items() if "nbgrader" not in cells[place]["metadata"]} == {}
    checks = [place for place, cell in enumerate(cells) if cell["metadata"].get("nbgrader", {}).get("grade")]
    solved = lab.position(f"check-{exercise.number}")
    assert [place for place in checks if place != solved and "Not solved yet" not in errors.get(place, "")] == []
    assert solved not in errors
    assert f"{exercise.title}: passed" in lab.shown(solved)
    assert points(lab) == dict.fromkeys(checks, 0) | {solved: cells[solved]["metadata"]["nbgrader"]["points"]}


def everybody_can_read(lab) -> None:
    """Assert that axe-core objects to nothing but what is JupyterLab's: its list of cells, and its editors in them.

    The page has every form, an answer that was given, a card of each kind but one, a payoff, pictures and texts.
    """
    for theme in ("dark", "light"):
        lab.theme(theme)
        assert violations(lab.page, ".jp-Cell", without=[".jp-InputArea-editor", ".jp-InputPrompt"]) == [], theme
        assert faint_texts(lab.page) == [], theme


def points(lab) -> dict[int, float]:
    """Return what nbgrader makes of each check cell as the page holds it, by position; Validate goes by the same."""
    cells = [nbformat.from_dict(cell) for cell in lab.cells()]
    checks = {place: cell for place, cell in enumerate(cells) if cell.metadata.get("nbgrader", {}).get("grade")}
    assert [place for place, cell in checks.items() if cell.metadata.nbgrader.checksum != compute_checksum(cell)] == []
    return {place: determine_grade(cell)[0] for place, cell in checks.items()}


def test_validate_names_what_is_still_open(lab, tmp_path):
    """The Validate button runs a chapter afresh: it is silent about what is solved and names the other exercises.

    It judges the outputs of check cells and nothing else; the walk above asserts for each chapter what it would say.
    """
    chapter, exercise = CHAPTERS[0], Exercise(CHAPTERS[0])
    shutil.copytree(lab.server.root / chapter, tmp_path / chapter)
    lab.open_notebook(tmp_path / chapter / f"{chapter}.ipynb")
    lab.type_into(f"answer-{exercise.number}", exercise.right)
    lab.page.get_by_role("button", name="Validate").click()
    dialog = lab.page.get_by_role("dialog")
    dialog.get_by_text("Validation Results").wait_for()
    validated = dialog.inner_text()
    assert exercise.title not in validated
    others = {title for cell in lab.cells() for title in called_checks(cell["source"])} - {exercise.title}
    assert others
    assert [title for title in others if f"{title}: not yet" not in validated] == []
    assert validated.count("Not solved yet") >= len(others)
    assert 'check("' not in validated, "the checks' code is not for reading"
    dialog.get_by_role("button", name="Ok", exact=True).click()
    dialog.wait_for(state="hidden")
    lab.assert_quiet()
