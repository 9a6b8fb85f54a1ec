"""In every chapter, a guess comes before its answer, and the output of widgets can be read without them."""

import ast
import re

import nbformat
import pytest

from authoring.build import STUDENT_EDITION
from authoring.cells import tags
from authoring.chapter import chapter_names, source_path
from authoring.minutes import without_appendices
from gradlab.live import WIDGET

KINDS = {"numbers", "choice", "true_false", "order"}
FOLD = "<details><summary>What happened, and why</summary>\n\n"
FOLDED = re.compile(r"<details>.*?</details>", re.S)
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)")
VERDICT = re.compile(r"\w{4}.*\b(True|False|None|\w+Error)\b")


def edition(name, room):
    path = source_path(name) if room == "solved" else STUDENT_EDITION / name / f"{name}.ipynb"
    return nbformat.read(path, as_version=4).cells


def is_prediction(cell):
    return cell.cell_type == "code" and "with predict." in cell.source


def block(cell):
    """The `with` statement of a prediction."""
    return next(node for node in ast.parse(cell.source).body if isinstance(node, ast.With))


def asking(cell, cells):
    """A prediction's question as (call, statements that set its answers, the cell's source), maybe of `questions`."""
    call = block(cell).items[0].context_expr
    if call.func.attr != "question":
        return call, block(cell).body, cell.source
    source = next(one.source for one in cells if one.id == "questions")
    readers = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.decorator_list]
    made = {reader.decorator_list[0].value.args[0].value: reader for reader in readers}
    reader = made[call.args[0].value]
    return reader.decorator_list[0].value, reader.body, source


@pytest.mark.parametrize("name", chapter_names())
def test_a_prediction_names_its_cell_and_takes_its_answer_from_the_run(name):
    every = edition(name, "solved")
    cells = [cell for cell in every if is_prediction(cell)]
    assert len(cells) >= 4
    for cell in cells:
        made, told, _ = asking(cell, every)
        assert made.func.attr in KINDS
        assert made.args[0].value == cell.id, "its name is its cell's id, so that the chapter's end can lead there"
        assert isinstance(made.args[1], ast.Constant), "a question in words"
        nodes = [node for statement in told for node in ast.walk(statement)]
        calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        compared = [call.args for call in calls if call.func.attr == "compare"]
        compared += [getattr(node.value, "elts", [node.value]) for node in nodes if isinstance(node, ast.Return)]
        assert len(compared) == 1
        typed = [answer for answer in compared[0] if not any(isinstance(one, ast.Name) for one in ast.walk(answer))]
        assert typed == [], f"{cell.id}: the answer is what torch gives, never typed a second time"
        assert (name, cell.id) in READ_ABOVE or "# ←" in cell.source, f"{cell.id}: mark the line in question"


READ_ABOVE = {("14_train", "s8-which-run"), ("15_clinic", "p4-run")}  # what they read ran in an earlier cell


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


def seen_before_a_guess(cells, place):
    """What can be read below a prediction without guessing, by cell: open text and saved outputs up to a heading."""
    for cell in cells[place + 1 :]:
        if cell.cell_type == "markdown":
            text = FOLDED.sub("", cell.source)
            before, *below = re.split(r"^#+ ", text, maxsplit=1, flags=re.M)
            yield cell.id, before
            if below:
                return
        elif not is_prediction(cell) and not cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            yield (
                cell.id,
                "\n".join(
                    output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs
                ),
            )


def telling(text):
    """The numbers in a text that nobody writes by chance: all but small whole ones."""
    found = {float(number.replace(",", "").replace("−", "-")) for number in NUMBER.findall(text)}
    return {number for number in found if abs(number) >= 10 or number != int(number)}


def options(made, source):
    """The options of a choice that are more than a name, from the call itself or what its cell assigns to a name."""
    given = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and node.lineno < made.lineno:
            given |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    names = [node.id for node in ast.walk(made.args[2]) if isinstance(node, ast.Name)]
    parts = [made.args[2], *(given[name] for name in names if name in given)]
    texts = [node.value for part in parts for node in ast.walk(part) if isinstance(node, ast.Constant)]
    return {text for text in texts if isinstance(text, str) and " " in text}


def gives_away(cells):
    """Say what of an answer can be read below each prediction before its guess.

    This finds an answer's own numbers and verdicts, and an option in full. Whether other words are a hint is for a
    person to judge.
    """
    found = []
    for place, cell in enumerate(cells):
        if not is_prediction(cell):
            continue
        made, _, source = asking(cell, cells)
        kind = made.func.attr
        asked = cells[place - 1].source + cell.source + ast.unparse(made)
        answer = cell.outputs[-1].data["text/plain"].removeprefix("The answer:\n")
        numbers = telling(answer) - telling(asked) if kind == "numbers" else set()
        lines = {line.strip() for line in answer.splitlines() if VERDICT.search(line) and line.strip() not in asked}
        whole = lines | (options(made, source) if kind == "choice" else set())
        for below, text in seen_before_a_guess(cells, place):
            found += [f"{below} shows {number:g}, of {cell.id}" for number in sorted(numbers & telling(text))]
            found += [f"{below} says “{one}”, of {cell.id}" for one in sorted(whole) if one in text]
    return found


@pytest.mark.parametrize("name", chapter_names())
def test_nothing_in_plain_sight_answers_a_question_above_it(name):
    assert gives_away(edition(name, "student")) == []


def test_a_conclusion_and_an_output_that_stand_open_are_found():
    cells = edition("02_external_gradients", "student")
    place, cell = next((k, cell) for k, cell in enumerate(cells) if is_prediction(cell))
    answer = cell.outputs[-1].data["text/plain"].removeprefix("The answer:\n")
    below = next(cell for cell in cells[place + 1 :] if cell.cell_type == "code" and not is_prediction(cell))
    cells[place + 1].source += f"\n\nSo torch printed {answer}"
    below.outputs = [nbformat.v4.new_output("stream", text=answer)]
    shown = {sentence.partition(" ")[0] for sentence in gives_away(cells)}
    assert {cells[place + 1].id, below.id} <= shown


@pytest.mark.parametrize("name", chapter_names())
def test_no_widget_is_left_that_would_miss_its_kernel(name):
    for room in ("solved", "student"):
        for cell in edition(name, room):
            assert all(WIDGET not in output.get("data", {}) for output in cell.get("outputs", [])), cell.id


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
