"""Chapters as a student meets them in JupyterLab: run, answered wrongly, answered rightly, validated."""

import sys
from dataclasses import dataclass

import pytest

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Exercise:
    """The first exercise of a chapter: a wrong and a right answer, and what its check says to each."""

    chapter: str
    number: str
    title: str
    wrong: str
    wrong_says: str
    right: str
    right_says: str


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

EXERCISES = [
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
        wrong_says="Likely slip: hooks left behind. The hooks are still registered after the block.",
        right=RECORDING,
        right_says="passed",
    ),
    Exercise(
        chapter="07_module_hooks",
        number="07-1",
        title="07.1 silence some channels",
        wrong=SILENCE.replace("        return output", "        output = None"),
        wrong_says="what it does not return has no effect",
        right=SILENCE,
        right_says="passed",
    ),
]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.chapter)
def test_a_student_works_through_the_first_exercise(open_lab, tmp_path, exercise):
    """Lessons run before anything is solved; the check answers a wrong and a right answer; Validate answers too."""
    answer, check = f"answer-{exercise.number}", f"check-{exercise.number}"
    lab = open_lab(tmp_path, command=[sys.executable, "-m", "gradlab", "lab", f"--workspace={tmp_path / 'mine'}"])
    lab.open_notebook(f"{exercise.chapter}/{exercise.chapter}.ipynb")

    lab.run_all()
    cells = lab.cells()
    assert [cell for cell in cells if cell["cell_type"] == "code" and not cell["execution_count"]] == []
    errors = lab.errors()
    assert {place: error for place, error in errors.items() if "nbgrader" not in cells[place]["metadata"]} == {}
    assert lab.position(check) in errors
    assert f"{exercise.title}: not yet" in lab.shown(check)

    lab.type_into(answer, exercise.wrong.strip())
    lab.run_cell(answer)
    lab.run_cell(check)
    lab.screenshot(tmp_path / "wrong.png")
    assert f"{exercise.title}: not yet" in lab.shown(check)
    assert exercise.wrong_says in lab.shown(check)

    lab.type_into(answer, exercise.right.strip())
    lab.run_cell(answer)
    lab.run_cell(check)
    lab.screenshot(tmp_path / "right.png")
    assert f"{exercise.title}: {exercise.right_says}" in lab.shown(check)

    lab.page.get_by_role("button", name="Validate").click()
    dialog = lab.page.get_by_role("dialog")
    dialog.get_by_text("Validation Results").wait_for()
    lab.screenshot(tmp_path / "validate.png")
    validated = dialog.inner_text()
    assert exercise.title not in validated, "Validate complains of the exercise that was solved"
    assert "Not solved yet" in validated, "Validate does not name the exercises that are still open"
    lab.assert_quiet()
