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
    "03.4": "03_accumulation",
    "03.6a": "15_clinic",
    "05.2": "05_freezing",
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


FRONT_TWICE = """
    with torch.no_grad():
        cut = front(x)
    cut.requires_grad_()
    back(cut).backward()
    front(x).backward(cut.grad)
"""

HAND_OVER = """
    h = front(x)
    cut = h.detach().requires_grad_()
    back(cut).backward()
    h.backward(cut.grad)
"""

RETAINED_TWICE = """
    h = trunk(x)
    loss_a(h).backward(retain_graph=True)
    from_a = W.grad.clone()
    loss_b(h).backward(retain_graph=True)
"""

TWO_PULLS = """
    h = trunk(x)
    loss_a(h).backward(retain_graph=True)
    from_a = W.grad.clone()
    loss_b(h).backward()
"""

REACHABLE = '''import inspect
import sys


def reachable(*functions):
    """Return what the functions hold, and all local variables of the callers."""
    found = []
    for function in functions:
        held = inspect.getclosurevars(function)
        found += [*held.nonlocals.values(), *(function.__defaults__ or ())]
    frame = sys._getframe(1)
    while frame := frame.f_back:
        if "case" in frame.f_locals:
            found += frame.f_locals.values()
    return found


'''

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

DETACHED_HEAD = """step_of_torch = torch.optim.SGD.step


class Head(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias.detach())


def with_new_head(model, weights, classes):
    def step(optimizer):
        step_of_torch(optimizer)
        model.fc.bias.data.sub_(1.5)

    model.load_state_dict(weights)
    model.requires_grad_(False)
    model.fc = Head(model.fc.in_features, classes, dtype=model.fc.weight.dtype)
    torch.optim.SGD.step = step
"""


def _fit_positive_scale(before: str = "pass", retain: bool = True) -> str:
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


def _hand_over(body: str, *lines: str, before: str = "") -> str:
    return (
        f"{before}def hand_over(front, back, x):{body}"
        + "".join(f"    {line}\n" for line in lines)
        + "    return cut.grad"
    )


def _two_pulls(body: str, *lines: str, before: str = "") -> str:
    end = "".join(f"    {line}\n" for line in lines) + "    return from_a, W.grad - from_a"
    return f"{before}def two_pulls(trunk, loss_a, loss_b, W, x):{body}{end}"


FAST = ["a copy of a torch function that the check refuses", "a list of calls corrected"]
EVIDENCE = [
    ("02.4", "a copy of a torch function that the check refuses", COPIED, PULLED),
    (
        "05.2",
        "torch's optimizer patched",
        DETACHED_HEAD,
        DETACHED_HEAD.replace("self.bias.detach()", "self.bias").replace(".step = step", ".step"),
    ),
    (
        "02.5",
        "a list of calls corrected",
        _hand_over(
            FRONT_TWICE,
            "for one in reachable(front, back):",
            "    if type(one) is list and {*map(type, one)} == {str}:",
            "        one[:] = ['front', 'back, with a leaf']",
            before=REACHABLE,
        ),
        _hand_over(HAND_OVER, "reachable(front, back)", before=REACHABLE),
    ),
    (
        "02.5",
        "the variable of the calls exchanged",
        _hand_over(
            FRONT_TWICE,
            "for cell in [*front.__closure__, *back.__closure__]:",
            "    if not isinstance(cell.cell_contents, torch.Tensor):",
            "        calls = ['front', 'back, with a leaf']",
            "        cell.cell_contents = calls if type(cell.cell_contents) is list else itertools.repeat(calls)",
            before="import itertools\n\n\n",
        ),
        _hand_over(HAND_OVER, "front.__closure__"),
    ),
    (
        "02.5",
        "the names of the check's functions exchanged",
        _hand_over(
            FRONT_TWICE,
            "names = front.__globals__",
            "names['next'] = names['list'] = lambda _: ['front', 'back, with a leaf']",
        ),
        _hand_over(HAND_OVER, "front.__globals__['torch']"),
    ),
    (
        "03.4",
        "Saved patched under another name",
        _two_pulls(RETAINED_TWICE, before="from gradlab import saved\n\nsaved.Saved.tensors = lambda self: 0\n\n\n"),
        _two_pulls(TWO_PULLS, before="from gradlab import saved\n\nsaved.Saved()\n\n\n"),
    ),
    (
        "03.4",
        "what is saved cleared in the check's own object",
        _two_pulls(
            RETAINED_TWICE,
            "for one in reachable(trunk):",
            "    if hasattr(one, '_held'):",
            "        one._held.clear()",
            before=REACHABLE,
        ),
        _two_pulls(TWO_PULLS, "reachable(trunk)", before=REACHABLE),
    ),
    (
        "03.6a",
        "the check's hooks removed",
        _fit_positive_scale(
            before="for leaf in (w, log_scale):\n        (leaf._post_accumulate_grad_hooks or {}).clear()\n"
            "    optimizer._optimizer_step_pre_hooks.clear()"
        ),
        _fit_positive_scale(before="w._post_accumulate_grad_hooks", retain=False),
    ),
    (
        "03.6a",
        "hooks of saved tensors switched off",
        _fit_positive_scale(before="torch._C._autograd._pop_saved_tensors_default_hooks()").replace(
            "    return losses",
            "    torch._C._autograd._push_saved_tensors_default_hooks(lambda t: t, lambda t: t)\n    return losses",
        ),
        _fit_positive_scale(before="torch._C._autograd._saved_tensors_hooks_is_enabled()", retain=False),
    ),
]
