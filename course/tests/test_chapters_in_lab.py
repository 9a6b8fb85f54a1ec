"""Chapters as a student meets them in JupyterLab: guessed, answered wrongly and rightly, come back to, validated.

Every chapter that is there is walked through; a new one needs a row of EXERCISES.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import compute_checksum, determine_grade

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Exercise:
    """An early exercise of a chapter: a wrong and a right answer, and what its check says to each.

    lessons: the ids of the lesson cells that its payoff draws on.
    """

    chapter: str
    number: str
    title: str
    wrong: str
    wrong_says: str
    right: str
    right_says: str
    lessons: tuple[str, ...] = ()


SLOPE = """
def slope(f, x):
    leaf = x.clone().requires_grad_()
    f(leaf).backward()
    return leaf.grad
"""

LEDGER = """
def ledger(x, events):
    grad, entries = None, []
    for kind, value in events:
        if kind == "walk":
            grad = value * 3 * x**2 + (0 if grad is None else grad)
        elif grad is not None:
            grad = None if value else torch.zeros_like(grad)
        entries.append(grad)
    return entries
"""

WAY = """
def way_to_a_leaf(tensor):
    names, node = [], tensor.grad_fn
    while node is not None:
        names.append(type(node).__name__)
        node = next((child for child, _ in node.next_functions if child is not None), None)
    return names
"""

RECORDING = """
@contextlib.contextmanager
def recording(tensors):
    seen = []
    handles = [
        tensor.register_hook(lambda gradient, name=name: seen.append((name, gradient.clone())))
        for name, tensor in tensors.items()
    ]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
"""

FREEZE = """
def freeze_all_but(model, part):
    model.requires_grad_(False)
    model.get_submodule(part).requires_grad_(True)
    numbers = [(parameter.requires_grad, parameter.numel()) for parameter in model.parameters()]
    return sum(n for on, n in numbers if on), sum(n for on, n in numbers if not on)
"""

SILENCE = """
def silence(module, channels):
    def hook(module, input, output):
        output = output.clone()
        output[:, channels] = 0
        return output

    return module.register_forward_hook(hook)
"""
CALL_HOOKS = """
def call_tensor_hooks(node, gradient):
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    return gradient
"""

WRITTEN = """
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().clone()) for name, tensor in tensors.items()}
    call()
    found = {}
    for name, tensor in tensors.items():
        version, numbers = before[name]
        if tensor._version != version:
            found[name] = "counted"
        elif not same_numbers(tensor.detach(), numbers):
            found[name] = "in silence"
    return found
"""

HVP = """
def hvp(function, x, u):
    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(leaf), leaf, create_graph=True)
    (product,) = torch.autograd.grad(gradient, leaf, u)
    return product
"""

SIGMOID = """
def sigmoid_gradient(grad, result):
    return grad * result * (1 - result)


sigmoid = operation("SigmoidBackward0", sigmoid_of, self=sigmoid_gradient)
"""

RECORD = """
def accumulator(leaf):
    leaf._accumulator = leaf._accumulator or AccumulateGrad(leaf)
    return leaf._accumulator


def edge_or_leaf(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return (None, 0)
    return (tensor.grad_fn or accumulator(tensor), 0)


def record(node, inputs, output):
    edges = tuple(edge_or_leaf(each) for each in inputs)
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions, node.outputs = edges, ((output.shape, output.dtype),)
        output.grad_fn, output.requires_grad = node, True
"""

COUNT = """
def count_dependencies(edges):
    counts, waiting = {}, list(edges)
    for node, _ in waiting:
        if node is not None:
            counts[node] = counts.get(node, 0) + 1
            if counts[node] == 1:
                waiting.extend(node.next_functions)
    return counts
"""

SALIENCY = """
def saliency(model, image, k):
    leaf = image.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(leaf[None])[0, k], leaf)
    return gradient.abs().amax(0)
"""

EXERCISES = [
    Exercise(
        chapter="01_graph",
        number="01-1",
        title="01.1 the slope of anything",
        wrong=SLOPE.replace("leaf = x.clone()", "leaf = x"),
        wrong_says="The second slope contains the first",
        right=SLOPE,
        right_says="passed",
    ),
    Exercise(
        chapter="02_external_gradients",
        number="02-1",
        title="02.1 the gradient that arrives at x",
        wrong="def pull_back(x, v):\n    return v",
        wrong_says="it still has to be multiplied by dy/dx",
        right="def pull_back(x, v):\n    return 3 * x**2 * v",
        right_says="passed",
    ),
    Exercise(
        chapter="03_accumulation",
        number="03-1",
        title="03.1 the ledger of a leaf",
        wrong=LEDGER.replace(" + (0 if grad is None else grad)", ""),
        wrong_says="Each walk put its gradient in the place of the last one",
        right=LEDGER,
        right_says="passed",
    ),
    Exercise(
        chapter="04_grad_fn",
        number="04-1",
        title="04.1 the way to a leaf",
        wrong="def way_to_a_leaf(tensor):\n    return [type(tensor.grad_fn).__name__] if tensor.grad_fn else []",
        wrong_says="Its next_functions lead on",
        right=WAY,
        right_says="passed",
    ),
    Exercise(
        chapter="05_freezing",
        number="05-1",
        title="05.1 freeze all but one part, and count",
        wrong=FREEZE.replace("requires_grad_(True)", "train()"),
        wrong_says="it has to be turned on after the rest was turned off",
        right=FREEZE,
        right_says="passed",
    ),
    Exercise(
        chapter="06_tensor_hooks",
        number="06-1",
        title="06.1 record what passes",
        wrong=RECORDING.replace("handle.remove()", "pass"),
        wrong_says="Likely slip: hooks left behind. After the block the hooks still fire, and record.",
        right=RECORDING,
        right_says="passed",
    ),
    Exercise(
        chapter="07_module_hooks",
        number="07-1",
        title="07.1 silence some channels",
        wrong=SILENCE.replace("        return output", "        output = None"),
        wrong_says="what a hook does not return has no effect",
        right=SILENCE,
        right_says="passed",
    ),
    Exercise(
        chapter="08_saliency",
        number="08-2",
        title="08.2 saliency",
        wrong=SALIENCY.replace(".abs()", ""),
        wrong_says="Take the absolute value first",
        right=SALIENCY,
        right_says="passed",
        lessons=("s1-train",),
    ),
    Exercise(
        chapter="09_when_gradients_go_wrong",
        number="09-1",
        title="09.1 who wrote, and was it counted?",
        wrong=WRITTEN.replace(".clone()", ""),
        wrong_says="No silent write is found",
        right=WRITTEN,
        right_says="passed",
    ),
    Exercise(
        chapter="10_functions_of_your_own",
        number="10-5",
        title="10.5 a Hessian-vector product",
        wrong=HVP.replace("create_graph=True", "create_graph=False"),
        wrong_says="The first walk was not recorded",
        right=HVP,
        right_says="passed",
    ),
    Exercise(
        chapter="11_record",
        number="11-2",
        title="11.2 record an operation",
        wrong=RECORD.replace("if state.grad and any", "if any"),
        wrong_says="although state.grad was off",
        right=RECORD,
        right_says="passed",
    ),
    Exercise(
        chapter="13_hooks_and_freezing",
        number="13-3",
        title="13.3 call the hooks",
        wrong=CALL_HOOKS.replace(".values())", ".values())[::-1]"),
        wrong_says="The hooks are called in the opposite order.",
        right=CALL_HOOKS,
        right_says="passed",
    ),
    Exercise(
        chapter="14_train",
        number="14-1",
        title="14.1 the sigmoid's way back",
        wrong=SIGMOID.replace(" * (1 - result)", ""),
        wrong_says="the factor (1 - result) is missing",
        right=SIGMOID,
        right_says="passed",
    ),
    Exercise(
        chapter="12_backward",
        number="12-2",
        title="12.2 how many gradients will arrive",
        wrong=COUNT.replace("            if counts[node] == 1:\n    ", "            if True:\n    "),
        wrong_says="Shared nodes have too large counts",
        right=COUNT,
        right_says="passed",
    ),
]


CHAPTERS = sorted(path.stem for path in (Path(__file__).parents[1] / "chapters").glob("*/*.ipynb"))
ASKED = "Compare with torch"
SKIP = "Show it without a guess"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_student_works_through_a_chapter(lab, tmp_path, chapter):
    """One guess, one exercise answered wrongly and rightly, its payoff moved; then a restart, and all cells at once.

    After the restart every other prediction asks and shows nothing, every other check says what is open, and what was
    guessed and passed is remembered. (That lessons run before anything is solved is what nbval shows.)
    """
    exercise = next((one for one in EXERCISES if one.chapter == chapter), None)
    assert exercise, f"EXERCISES has no row for {chapter}: give it one, with a wrong and a right answer"
    shutil.copytree(lab.server.root / chapter, tmp_path / chapter)
    lab.open_notebook(tmp_path / chapter / f"{chapter}.ipynb")
    first, *others = predictions(lab)
    answers_a_question(lab, first)
    solves_an_exercise(lab, exercise)
    lab.assert_quiet()

    lab.restart_kernel()
    for place in places(lab, "setup"):
        lab.run_cell(place)
    lab.run_cell("summary")
    assert re.search(rf"{re.escape(exercise.title)}\s+passed", lab.seen("summary")), "the tick is remembered"
    lab.run_all()
    comes_back(lab, exercise)
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
    assert len(found) >= 5
    return found


def places(lab, tag: str) -> list[int]:
    """The positions of the cells with a tag."""
    return [place for place, cell in enumerate(lab.cells()) if tag in cell["metadata"].get("tags", [])]


def asks_and_shows_nothing(lab, cell: str):
    """Assert that a prediction shows its form, each field with a label, and no answer; return Playwright's form."""
    place = lab.position(cell)
    shown = lab.locate(place)
    shown.get_by_role("button", name=ASKED).wait_for()
    seen = shown.evaluate("e => e.querySelector('.jp-Cell-outputArea').innerText")
    assert seen.strip().endswith(SKIP), f"{cell}: something is seen below the form"
    form = shown.locator("form")
    labels = form.locator("input, select").evaluate_all("all => all.map(e => e.labels.length)")
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
    for choice in form.locator("select").all():
        choice.select_option(index=1)
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
    for place in [*places(lab, "setup"), *exercise.lessons]:
        lab.run_cell(place)
    lab.type_into(answer, exercise.wrong.strip())
    lab.run_cell(answer)
    lab.run_cell(check)
    assert f"{exercise.title}: not yet" in lab.shown(check)
    assert exercise.wrong_says in lab.shown(check)
    assert points(lab)[lab.position(check)] == 0

    lab.type_into(answer, exercise.right.strip())
    lab.run_cell(answer)
    lab.run_cell(check)
    assert f"{exercise.title}: {exercise.right_says}" in lab.shown(check)
    solved = lab.position(check)
    assert points(lab)[solved] == lab.cells()[solved]["metadata"]["nbgrader"]["points"] > 0
    moves(lab, payoff)


def moves(lab, payoff: str) -> None:
    """Run a payoff and move its controls: what it shows changes."""
    lab.run_cell(payoff)
    shown = lab.locate(payoff).locator(".gl-live")
    shown.wait_for()
    picture = shown.locator(".widget-html-content").last
    before = picture.inner_html()
    for control in shown.locator("[role=slider], select, input[type=checkbox]").all():
        if control.get_attribute("role") == "slider":
            control.focus()
            at_the_end = control.get_attribute("aria-valuenow") == control.get_attribute("aria-valuemax")
            lab.page.keyboard.press("ArrowLeft" if at_the_end else "ArrowRight")
        elif control.get_attribute("type") == "checkbox":
            control.click()
        else:
            control.select_option(index=0 if control.evaluate("e => e.selectedIndex") else 1)
    lab.page.wait_for_function(
        "([e, before]) => e.innerHTML !== before", arg=[picture.element_handle(), before], timeout=20_000
    )
    assert "this ended in" not in shown.inner_text()


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


def points(lab) -> dict[int, float]:
    """Return what nbgrader makes of each check cell as the page holds it, by position; Validate goes by the same."""
    cells = [nbformat.from_dict(cell) for cell in lab.cells()]
    checks = {place: cell for place, cell in enumerate(cells) if cell.metadata.get("nbgrader", {}).get("grade")}
    assert [place for place, cell in checks.items() if cell.metadata.nbgrader.checksum != compute_checksum(cell)] == []
    return {place: determine_grade(cell)[0] for place, cell in checks.items()}


def test_validate_names_what_is_still_open(lab, tmp_path):
    """The Validate button runs a chapter anew: it is silent about what is solved and names the other exercises.

    It judges the outputs of check cells and nothing else; the walk above asserts for each chapter what it would say.
    """
    exercise = EXERCISES[0]
    chapter = tmp_path / exercise.chapter
    shutil.copytree(lab.server.root / exercise.chapter, chapter)
    lab.open_notebook(chapter / f"{exercise.chapter}.ipynb")
    lab.type_into(f"answer-{exercise.number}", exercise.right.strip())
    lab.page.get_by_role("button", name="Validate").click()
    dialog = lab.page.get_by_role("dialog")
    dialog.get_by_text("Validation Results").wait_for()
    validated = dialog.inner_text()
    assert exercise.title not in validated
    others = [
        check.group(1)
        for cell in lab.cells()
        if cell["metadata"].get("nbgrader", {}).get("grade") and (check := re.search(r'check\("(.+?)"', cell["source"]))
    ]
    others.remove(exercise.title)
    assert others
    assert [title for title in others if f"{title}: not yet" not in validated] == []
    assert validated.count("Not solved yet") >= len(others)
    dialog.get_by_role("button", name="Ok", exact=True).click()
    dialog.wait_for(state="hidden")
    lab.assert_quiet()
