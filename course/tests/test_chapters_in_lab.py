"""Chapters as a student meets them in JupyterLab: run, answered wrongly, answered rightly, validated.

A new chapter is a new row of EXERCISES.
"""

import re
import shutil
from dataclasses import dataclass

import nbformat
import pytest
from nbgrader.utils import compute_checksum, determine_grade

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

ACCUMULATE = """
def accumulate(leaf, gradient):
    if leaf.grad is None:
        leaf.grad = Tensor(np.array(gradient))
    else:
        leaf.grad.data += gradient
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
        chapter="12_backward",
        number="12-1",
        title="12.1 what arrives at a leaf",
        wrong=ACCUMULATE.replace("leaf.grad.data += gradient", "leaf.grad = Tensor(np.array(gradient))"),
        wrong_says="what arrives later has to be added to it",
        right=ACCUMULATE,
        right_says="passed",
    ),
]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.chapter)
def test_a_student_works_through_the_first_exercise(lab, exercise):
    """Lessons run before anything is solved; every check says what is open; the first answers wrong and right."""
    answer, check = f"answer-{exercise.number}", f"check-{exercise.number}"
    lab.open_notebook(f"{exercise.chapter}/{exercise.chapter}.ipynb")

    lab.run_all()
    cells, errors = lab.cells(), lab.errors()
    assert [cell for cell in cells if cell["cell_type"] == "code" and not cell["execution_count"]] == []
    assert {place: error for place, error in errors.items() if "nbgrader" not in cells[place]["metadata"]} == {}
    checks = [place for place, cell in enumerate(cells) if cell["metadata"].get("nbgrader", {}).get("grade")]
    assert lab.position(check) in checks
    assert [place for place in checks if "Not solved yet" not in errors.get(place, "")] == []
    assert f"{exercise.title}: not yet" in lab.shown(check)
    assert points(lab) == dict.fromkeys(checks, 0)

    lab.type_into(answer, exercise.wrong.strip())
    lab.run_cell(answer)
    lab.run_cell(check)
    assert f"{exercise.title}: not yet" in lab.shown(check)
    assert exercise.wrong_says in lab.shown(check)
    assert points(lab) == dict.fromkeys(checks, 0)

    lab.type_into(answer, exercise.right.strip())
    lab.run_cell(answer)
    lab.run_cell(check)
    assert f"{exercise.title}: {exercise.right_says}" in lab.shown(check)
    solved = lab.position(check)
    assert points(lab) == dict.fromkeys(checks, 0) | {solved: cells[solved]["metadata"]["nbgrader"]["points"]}
    lab.assert_quiet()


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
