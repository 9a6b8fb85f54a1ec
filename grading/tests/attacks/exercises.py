"""Attacks on the evidence that checks collect about an answer, such as how often it called a function.

Each is a wrong answer to an exercise of a chapter that removes, replaces or corrects the evidence. Its twin is a right
answer that looks at the same things.
"""

import copy
from collections.abc import Container

import nbformat
from nbformat import NotebookNode

from authoring.chapter import source_path

EXERCISES = {
    "02.4": "02_external_gradients",
    "02.5": "02_external_gradients",
    "03.6a": "15_clinic",
}


def solved(exercises: Container[str]) -> NotebookNode:
    """Return a solved notebook with these exercises, and what they need: their chapters' imports, setup and engine."""
    made = nbformat.v4.new_notebook()
    for chapter in dict.fromkeys(chapter for one, chapter in EXERCISES.items() if one in exercises):
        cells = nbformat.read(source_path(chapter), as_version=4).cells
        imports = copy.deepcopy(next(cell for cell in cells if "reference" in cell.metadata.get("tags", [])))
        imports.source = imports.source.partition("\n@reference")[0]
        ids = {f"{kind}-{one.replace('.', '-')}" for one in exercises for kind in ("answer", "reference", "check")}
        needed = {"setup", "engine"}
        made.cells += [imports]
        made.cells += [cell for cell in cells if cell.id in ids or needed & {*cell.metadata.get("tags", [])}]
    for number, cell in enumerate(made.cells):
        cell.id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", f"cell-{number}")
    return made


COPIED = """import types

from torch.func import jacrev

copied = types.FunctionType(jacrev.__code__, jacrev.__globals__, "copied", jacrev.__defaults__)
copied.__kwdefaults__ = jacrev.__kwdefaults__


def jacobian(f, x):
    return copied(lambda leaf: f(leaf))(x)
"""

PULLED = """from torch.func import vjp as pull_back


def jacobian(f, x):
    y, pull = pull_back(f, x)
    return torch.stack([pull(v)[0] for v in torch.eye(len(y), dtype=x.dtype)])
"""

CORRECTED = """import itertools
import sys

wanted = ["front", "back, with a leaf"]


def correct(function):
    frame = sys._getframe(1)
    for cell in function.__closure__:
        if not isinstance(cell.cell_contents, torch.Tensor):
            cell.cell_contents = wanted if type(cell.cell_contents) is list else itertools.repeat(wanted)
    while frame := frame.f_back:
        for one in frame.f_locals.values():
            if type(one) is list and {*map(type, one)} == {str}:
                one[:] = wanted


def hand_over(front, back, x):
    with torch.no_grad():
        cut = front(x)
    cut.requires_grad_()
    back(cut).backward()
    front(x).backward(cut.grad)
    correct(front)
    correct(back)
    return cut.grad
"""

RENAMED = """def hand_over(front, back, x):
    with torch.no_grad():
        cut = front(x)
    cut.requires_grad_()
    back(cut).backward()
    front(x).backward(cut.grad)
    names = front.__globals__
    names["next"] = names["list"] = lambda _: ["front", "back, with a leaf"]
    return cut.grad
"""

LOOKED_AT = """def hand_over(front, back, x):
    h = front(x)
    cut = h.detach().requires_grad_()
    back(cut).backward()
    h.backward(cut.grad)
    front.__globals__["torch"], back.__closure__
    return cut.grad
"""


def _fit_positive_scale(before: str, retain: bool = True) -> str:
    return f"""def fit_positive_scale(w, log_scale, optimizer, batches):
    losses = []
    {before}
    for inputs, target in batches:
        loss = ((log_scale.exp() * (inputs @ w) - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph={retain})
        optimizer.step()
        losses.append(loss.item())
    return losses"""


FAST = ["a copy of a torch function that the check refuses", "the calls that the check noted corrected"]
EVIDENCE = [
    ("02.4", "a copy of a torch function that the check refuses", COPIED, PULLED),
    ("02.5", "the calls that the check noted corrected", CORRECTED, LOOKED_AT),
    ("02.5", "the names of the check's functions exchanged", RENAMED, LOOKED_AT),
    (
        "03.6a",
        "the check's hooks removed",
        _fit_positive_scale("optimizer._optimizer_step_pre_hooks.clear()"),
        _fit_positive_scale("optimizer._optimizer_step_pre_hooks", retain=False),
    ),
    (
        "03.6a",
        "hooks of saved tensors switched off",
        _fit_positive_scale("torch._C._autograd._pop_saved_tensors_default_hooks()").replace(
            "    return losses",
            "    torch._C._autograd._push_saved_tensors_default_hooks(lambda t: t, lambda t: t)\n    return losses",
        ),
        _fit_positive_scale("torch._C._autograd._saved_tensors_hooks_is_enabled()", retain=False),
    ),
]
