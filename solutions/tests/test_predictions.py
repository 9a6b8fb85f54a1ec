"""In every chapter a guess comes before its answer, and what depends on widgets can be read without them."""

import ast
import re

import nbformat
import pytest

from authoring.build import STUDENT_EDITION, normalise
from authoring.cells import tags
from authoring.chapter import chapter_names, source_path
from authoring.minutes import without_appendices
from gradlab.live import WIDGET

KINDS = {"numbers", "choice", "true_false", "order"}
FOLD = "<details><summary>What happened, and why</summary>\n\n"


def edition(name, room):
    path = source_path(name) if room == "solved" else STUDENT_EDITION / name / f"{name}.ipynb"
    return nbformat.read(path, as_version=4).cells


def is_prediction(cell):
    return cell.cell_type == "code" and "with predict." in cell.source


def block(cell):
    """The `with` statement of a prediction."""
    return next(node for node in ast.parse(cell.source).body if isinstance(node, ast.With))


@pytest.mark.parametrize("name", chapter_names())
def test_a_prediction_names_its_cell_and_takes_its_answer_from_the_run(name):
    cells = [cell for cell in edition(name, "solved") if is_prediction(cell)]
    assert len(cells) >= 5
    for cell in cells:
        made = block(cell).items[0].context_expr
        assert made.func.attr in KINDS
        assert made.args[0].value == cell.id, "its name is its cell's id, so that the chapter's end can lead there"
        assert isinstance(made.args[1], ast.Constant), "a question in words"
        calls = [node for node in ast.walk(block(cell)) if isinstance(node, ast.Call)]
        compared = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "compare"]
        assert len(compared) == 1
        typed = [node for argument in compared[0].args for node in ast.walk(argument) if isinstance(node, ast.Constant)]
        assert typed == [], f"{cell.id}: the answer is what torch gives, never typed a second time"


@pytest.mark.parametrize("room", ["solved", "student"])
@pytest.mark.parametrize("name", chapter_names())
def test_question_guess_answer_and_explanation_come_in_this_order(name, room):
    """Words first, then the cell whose saved answer is folded, then a folded explanation; nothing shows it earlier."""
    cells = edition(name, room)
    for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False):
        if not is_prediction(cell):
            continue
        assert before.cell_type == "markdown", cell.id
        assert after.cell_type == "markdown", cell.id
        assert after.source.startswith(FOLD), f"{cell.id}: its explanation stands open"
        assert re.search(r"</details>", after.source)
        form, answer = cell.outputs
        assert list(form.data) == ["text/plain"]
        assert form.data["text/plain"].startswith("Your guess: ")
        assert re.search(r'<div class="gl-kept"><details><summary>.*</details></div>$', answer.data["text/html"], re.S)
        assert answer.data["text/plain"].startswith("The answer:\n")


@pytest.mark.parametrize("name", chapter_names())
def test_no_widget_is_left_that_would_miss_its_kernel(name):
    for room in ("solved", "student"):
        for cell in edition(name, room):
            assert all(WIDGET not in output.get("data", {}) for output in cell.get("outputs", [])), cell.id


def test_a_widget_is_taken_out_and_what_stands_beside_it_stays():
    cell = nbformat.v4.new_code_cell("1", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("display_data", {WIDGET: {"model_id": "1"}, "text/plain": "a form"})]
    normalise(nbformat.v4.new_notebook(cells=[cell]))
    assert cell.outputs[0].data == {"text/plain": "a form"}


@pytest.mark.parametrize("name", chapter_names())
def test_payoffs_name_an_exercise_and_two_of_them_move(name):
    """Each stands behind its check; solved it shows a picture, in the student edition nothing yet."""
    solved = edition(name, "solved")
    checks = re.findall(r'^check\(\s*"(\d\d\.\d+[a-z]?)', "\n".join(cell.source for cell in solved), re.M)
    payoffs = {cell.id: cell for cell in solved if cell.cell_type == "code" and "@payoff(" in cell.source}
    moving = 0
    for cell in payoffs.values():
        assert "after-exercises" in tags(cell)
        call = next(
            node
            for node in ast.walk(ast.parse(cell.source))
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "payoff"
        )
        assert call.args[0].value in checks
        moving += bool(call.keywords)
        assert "gl-kept" in cell.outputs[-1].data["text/html"], f"{cell.id} shows no picture"
    assert moving >= 2
    assert all(not cell.outputs for cell in edition(name, "student") if cell.id in payoffs)


@pytest.mark.parametrize("name", chapter_names())
def test_the_chapter_ends_with_what_was_sure_and_wrong(name):
    notebook = nbformat.read(STUDENT_EDITION / name / f"{name}.ipynb", as_version=4)
    code = [cell for cell in without_appendices(notebook) if cell.cell_type == "code"]
    assert [cell.source for cell in code[-2:]] == ["predict.summary()", "summary()"]
