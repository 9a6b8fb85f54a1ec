"""The engine that students build: programs run on its stages as on torch, and a good part of it is the learner's."""

import importlib
import re
import types
import warnings

import nbformat
import numpy as np
import pytest
import torch

from authoring import build
from authoring.cells import counts
from authoring.chapter import chapter_names, importing_from, source_path
from gradlab import draw, hooks, step
from gradlab.checks.check import Check
from gradlab.checks.record import Record
from gradlab.checks.verdict import judge_check
from gradlab.engine import STAGES, STUB, parts_of, source_of
from gradlab.my_engine import lines_of_code

FILES = sorted(STAGES.glob("engine_*.py"))
FOURTEENTH = next((source_path(name) for name in chapter_names() if name.startswith("14_")), None)


@pytest.fixture
def engine():
    """All names of the stages together, fresh for each test: a later stage changes classes of an earlier one."""
    with importing_from(STAGES):
        together = types.SimpleNamespace()
        for path in FILES:
            vars(together).update(vars(importlib.import_module(path.stem)))
        if FOURTEENTH:
            source = source_of(nbformat.read(FOURTEENTH, as_version=4).cells)
            namespace = {"__name__": "engine_14"}
            exec(compile(source, str(FOURTEENTH), "exec"), namespace)
            vars(together).update(namespace)
        yield together


def test_a_chapters_engine_cells_make_its_stage_and_the_last_chapter_has_none():
    code = "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
    cells = [nbformat.v4.new_code_cell(text) for text in ("import math", "print(1)", code)]
    for cell, name in zip(cells[::2], ("engine-imports", "answer-11-1"), strict=True):
        cell["id"], cell.metadata["tags"] = name, ["engine"]
    made = build.stage("11_one", nbformat.v4.new_notebook(cells=cells))
    assert [*made] == [STAGES / "engine_11.py"]
    assert {re.sub(r'^""".*"""\n\n', "", text) for text in made.values()} == {
        "# %% engine-imports\nimport math\n\n\n# %% answer-11-1\ndef f(x):\n    return x\n"
    }
    assert build.stage("11_one", nbformat.v4.new_notebook(cells=cells[1:2])) == {}
    assert build.stage("14_four", nbformat.v4.new_notebook(cells=cells)) == {}


@pytest.mark.parametrize("name", [name for name in chapter_names() if name[:2] in ("11", "12", "13", "14")])
def test_exercises_can_be_solved_one_after_the_other_when_all_cells_ran_unsolved(name):
    folder, stated = build.STUDENT_EDITION / name, []
    solutions = {cell.id: cell.source for cell in nbformat.read(source_path(name), as_version=4).cells}
    cells = filter(counts, nbformat.read(folder / f"{name}.ipynb", as_version=4).cells)
    record = Record.from_json((folder / f"{name}.record.json").read_bytes())
    namespace = {"__name__": "__main__"}
    with importing_from(folder):
        checks = {}
        for cell in cells:
            if cell.id.startswith("check"):
                checks[cell.id] = cell.source
            else:
                exec(cell.source, namespace)
        namespace["check"] = lambda *args, **options: stated.append(Check(*args, **options))
        for cell, source in checks.items():
            exec(solutions[cell.replace("check", "answer")], namespace)
            exec(source, namespace)
            check, known = stated[-1], record.checks[stated[-1].check_id]
            verdict = judge_check(known, [check.observe_case(case.inputs) for case in known.cases], check.judge)
            assert verdict.passed, verdict.feedback.text


# Programs. Each takes a function that makes a tensor from an array, and yields values to compare.


def broadcasts(make):
    for one, other in [((3,), (2, 3)), ((2, 1), (3,)), ((), (2, 2)), ((1,), (0,)), ((1, 1), (3,)), ((3, 1), (0,))]:
        a = make(np.full(one, 1.5), requires_grad=True)
        b = make(np.full(other, -2.0), requires_grad=True)
        (a * b - b / a).sum().backward()
        yield a.grad
        yield b.grad


def refusals(make):
    x = make(np.array([1.0, 2.0]), requires_grad=True)
    for wrong in [
        lambda: (x * 3).backward(),
        lambda: (x * 3).backward(make(np.ones(3))),
        lambda: (x * 3).sum().backward(make(np.ones((1, 1)))),
        lambda: make(np.array(1.0)).backward(),
        lambda: make(np.array([1.0, 2.0])).backward(),
        lambda: make(np.array([1, 2]), requires_grad=True),
        lambda: make(np.array([1.0])).register_hook(print),
        lambda: (x * 3).register_post_accumulate_grad_hook(print),
        lambda: make(np.array([1.0])).retain_grad(),
    ]:
        with pytest.raises((RuntimeError, TypeError)) as caught:
            wrong()
        yield f"{caught.type.__name__}: {caught.value}"


def left_out(make):
    x, w = make(np.array([1.0, 2.0]), requires_grad=True), make(np.array([3.0, 4.0]), requires_grad=True)
    called = []
    x.register_hook(lambda g: called.append(("x", g)))
    w.register_post_accumulate_grad_hook(lambda leaf: called.append(("w", leaf)))
    y = x * w
    z = y * y.detach() + w
    grad = torch.autograd.grad if isinstance(x, torch.Tensor) else importlib.import_module("engine_13").grad
    yield from grad(z, [w, y, x], make(np.array([1.0, 10.0])), retain_graph=True)
    yield x.grad
    yield w.grad
    w.requires_grad_(False)
    z.backward(make(np.array([2.0, -1.0])), retain_graph=True)
    yield x.grad
    yield w.grad
    yield [(name, np.array(g.detach().data)) for name, g in called]


def plain(value):
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, list):
        return [(name, array.tolist()) for name, array in value]
    array = np.asarray(value.data)
    return array.shape, str(array.dtype), array.tolist()


@pytest.mark.parametrize("program", [broadcasts, refusals, left_out])
def test_a_program_does_on_the_stages_what_it_does_on_torch(engine, program):
    def on_torch(data, requires_grad=False):
        return torch.tensor(data, requires_grad=requires_grad)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's warning about .grad of a non-leaf tensor
        ours, theirs = ([plain(value) for value in program(make)] for make in (engine.Tensor, on_torch))
    assert ours == theirs
    assert theirs


@pytest.mark.parametrize(
    "values",
    [np.array([[1.0, 2.0, 2.0], [0.25, -1.0, 0.0]]), np.array([[3.0]]), np.zeros((0, 2)), np.array([2.0, 5.0, 5.0])],
    ids=lambda values: str(values.shape),
)
def test_the_given_operations_agree_with_torch_in_ties_and_for_sizes_0_and_1(engine, values):
    uses = {
        "elementwise": lambda x: x.relu() * x.tanh() + x.exp() - (x * x + 1).log(),
        "mean": lambda x: x.mean(-1) + x.mean(0, True).mean(),
        "mean of all": lambda x: x.mean(),
        "max of all": lambda x: x.max(),
        "max": lambda x: x.max(-1)[0],
        "max, kept": lambda x: x.max(-1, True)[0] * x,
        "the last": lambda x: x[-1],
        "picked twice": lambda x: x[..., [0, 0]],
        "a slice": lambda x: x[..., 1:],
    }
    made = [engine.Tensor, lambda data, requires_grad=False: torch.tensor(data, requires_grad=requires_grad)]
    for name, use in uses.items():
        if not values.size and name in ("max of all", "the last"):
            for make in made:
                with pytest.raises((IndexError, RuntimeError, ValueError)):
                    use(make(values))
            continue
        found = []
        for make in made:
            x = make(values, requires_grad=True)
            with np.errstate(all="ignore"):  # NumPy warns about the mean of nothing, torch does not
                y = use(x)
                y.backward(make(np.arange(1.0, 1 + y.data.reshape(-1).shape[0]).reshape(y.shape)))
            found.append([np.asarray(each.data) for each in (y, x.grad)])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=name)


def test_the_pictures_work_on_the_stages(engine):
    x = engine.Tensor(np.array([1.0, 2.0]), requires_grad=True)
    w = engine.Tensor(np.array([3.0, 4.0]), requires_grad=True)
    y = x * w
    loss = (y * y).sum()
    assert "y = MulBackward0 (2,)  saved: other (2,), self (2,)" in str(draw(loss))
    assert "Backward ran in 5 steps" in str(step(loss))

    class Scale(engine.Module):
        def __init__(self):
            super().__init__()
            self.weight = engine.Parameter(np.array([1.0, -1.0]))

        def forward(self, x):
            return x * self.weight

    assert "4 calls of hooks" in str(hooks(Scale(), x, loss=lambda out: out.sum(), watch=True))


@pytest.mark.parametrize("names", [["engine_11"], ["engine_11", "engine_12"]])
def test_earlier_stages_are_drawn_and_stepped_through_before_there_are_hooks(names):
    with importing_from(STAGES):
        stage, *_ = (importlib.import_module(name) for name in names)
        x = stage.Tensor(np.array([[1.0], [2.0]]), requires_grad=True)
        w = stage.Tensor(np.array([3.0, 4.0, 5.0]), requires_grad=True)
        loss = (x * w).sum()
        assert "├─ w (3,) leaf" in str(draw(loss)).replace("└", "├")
        if len(names) > 1:
            told = str(step(loss))
            assert "g * self, summed to (3,) = [3, 3, 3] to w (AccumulateGrad)" in told
            assert ".grad was None and is now [12, 12]" in told
            assert "run" not in vars(loss.grad_fn), "what watched is gone"


def test_a_chain_of_100_000_operations_needs_no_recursion(engine):
    x = engine.Tensor(np.array(1.0), requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + x
    y.backward()
    assert x.grad.data == 100_001.0


def lines_of_the_engine(number):
    """Yield a chapter's engine cells: name, lines of code, and how many of these the student edition leaves out."""
    name = next(name for name in chapter_names() if name.startswith(number))
    solved = parts_of(nbformat.read(source_path(name), as_version=4).cells)
    released = parts_of(nbformat.read(build.STUDENT_EDITION / name / f"{name}.ipynb", as_version=4).cells)
    for cell, text in solved.items():
        lines = lines_of_code(text)
        yield cell, lines, lines - lines_of_code(released[cell]) + released[cell].count(STUB)


@pytest.mark.parametrize(("number", "share"), [("11", 0.37), ("12", 0.67), ("13", 0.33), ("14", 0.3)])
def test_a_good_part_of_the_engine_is_the_learners_and_given_parts_are_short(number, share):
    cells = list(lines_of_the_engine(number))
    lines, own = (sum(cell[place] for cell in cells) for place in (1, 2))
    assert own / lines >= share, f"{own} of {lines} lines are the learner's"
    assert [name for name, length, mine in cells if length - mine > 12] == []
