"""Run the same code with torch and with mini_autograd, and compare everything observable."""

import ast
import builtins
import itertools
import math
import re
import warnings

import numpy as np
import torch

import mini_autograd as mini


def plain(value):
    """Return `value` as data comparable across the two libraries; tensors become dtype, shape, values and grad_fn."""
    if isinstance(value, (torch.Tensor, mini.Tensor)):
        array = value.numpy(force=True)
        name = value.grad_fn.name() if value.grad_fn is not None else None
        return ("tensor", str(value.dtype), array.shape, np.array(array, copy=True), value.requires_grad, name)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "next_functions"):
        return ("node", value.name())
    if hasattr(value, "_modules"):
        return ("module", type(value).__name__)
    return str(value) if type(value).__name__ == "dtype" else value


def same(a, b, path="result"):
    """Assert that two values made by `plain` agree."""
    if isinstance(a, np.ndarray):
        np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-9, err_msg=path)
    elif isinstance(a, (list, tuple)):
        assert isinstance(b, (list, tuple)), path
        assert len(a) == len(b), (path, a, b)
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{path}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), (path, a, b)
        same(list(a.values()), list(b.values()), path)
    elif isinstance(a, float):
        assert np.isclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True), (path, a, b)
    else:
        assert a == b, (path, a, b)


torch.set_warn_always(True)  # torch issues some warnings once per process; here they are compared every time


def observe(scenario, lib, raises=None):
    """Return the outcome of `scenario(lib)`: its result or the error that it `raises`, and its warnings.

    Any other error passes through: a scenario that fails in both libraries shows nothing.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = ("returned", plain(scenario(lib)))
        except Exception as error:
            if raises is None or not isinstance(error, raises):
                raise
            outcome = ("raised", type(error).__name__, str(error))
    assert raises is None or outcome[0] == "raised", f"{lib.__name__} raised no {raises.__name__} but got {outcome[1]}"
    said = [(w.category.__name__, re.sub(r" ?\(Triggered internally.*", "", str(w.message)).strip()) for w in caught]
    return [*outcome, said]


def assert_same(scenario, raises=None):
    """Assert that both libraries agree on `scenario`: its values, its warnings, and the message of its error."""
    same(observe(scenario, torch, raises), observe(scenario, mini, raises))


def cells(path):
    """Yield the programs in a file of cells as tuples (fact, statements, error in which the program ends or None).

    As in a notebook, a cell begins with `# %%`, and its value is the value of its last line. The `# %%` line states the
    fact that the cell shows, then `-> ValueError` if it ends in that error. A cell without a fact runs before each
    later cell. In a cell `# %% each`, every statement is a separate program.
    """
    text = path.read_text("utf-8")
    marks = [(number, line[4:].strip()) for number, line in enumerate(text.splitlines()) if line.startswith("# %%")]
    program, before = ast.parse(text).body, []
    for (begin, title), (end, _) in itertools.pairwise([*marks, (math.inf, "")]):
        fact, _, error = title.partition(" -> ")
        raises = getattr(builtins, error) if error else None
        body = [statement for statement in program if begin < statement.lineno - 1 < end]
        if not fact:
            before += body
        elif fact == "each":
            yield from ((ast.get_source_segment(text, each), [*before, each], raises) for each in body)
        else:
            yield fact, [*before, *body], raises


def run(statements, lib, show):
    """Return the value of a cell, which can use `torch` (it is `lib`) and the names below; `show(…)` records values."""

    def leaf(*values):
        """Return a leaf that requires a gradient."""
        return lib.tensor(values or [1.0, 2.0], requires_grad=True)

    def tried(call, *args):
        """Show what `call(*args)` returns, or the error that it raises."""
        try:
            show(call(*args))
        except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            show(type(error).__name__, str(error))

    def function(forward, backward=lambda ctx, grad: grad * 2, **members):
        """Return a Function with these methods."""
        members = {"forward": staticmethod(forward), "backward": staticmethod(backward), **members}
        return type("Mine", (lib.autograd.Function,), members)

    names = {"torch": lib, "nn": lib.nn, "F": lib.nn.functional, "T": lib.tensor, "A": lib.autograd}
    names |= {"leaf": leaf, "x": leaf(), "show": show, "tried": tried, "function": function, "np": np}
    if not isinstance(statements[-1], ast.Expr):
        statements = [*statements, *ast.parse("None").body]
    *before, last = statements
    exec(compile(ast.Module(before, []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def assert_same_cell(statements, raises=None):
    """Assert that a cell returns and shows the same values in both libraries."""
    shown = {torch: [], mini: []}
    assert_same(lambda lib: run(statements, lib, lambda *values: shown[lib].append(plain(values))), raises)
    same(shown[torch], shown[mini])
