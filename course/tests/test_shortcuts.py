"""What is taken for a use of torch's autograd, what is not, and what is blocked while an answer runs."""

import linecache

import pytest
import torch

from gradlab.checks import shortcuts
from gradlab.checks.encoding import encode
from gradlab.checks.observation import List
from gradlab.checks.observe import observe


@pytest.mark.parametrize(
    "body",
    [
        'return "backward" in names',
        'return {"forward": 1, "backward": 2}["backward"]',
        'return [way for way in ("forward", "backward")]',
        'raise RuntimeError("backward")',
        'return getattr(x, "shape"), "Trying to backward through the graph a second time"',
    ],
)
def test_a_word_in_a_string_is_no_use(body):
    assert shortcuts.find("f", [f"def f(x, names=()):\n    {body}"]) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('getattr(x, "backward")()', "'backward'"),
        ('name = "backward"\n    getattr(x, name)()', "'backward'"),
        ('operator.methodcaller("backward")(x)', "'backward'"),
        ('importlib.import_module("torch.autograd")', "'torch.autograd'"),
        ('exec("x.backward()")', "'x.backward()'"),
        ('vars(torch.Tensor)["backward"](x)', "'backward'"),
        ('torch.Tensor.__dict__["backward"](x)', "'backward'"),
        ('x.__getattribute__("grad_fn")', "'grad_fn'"),
    ],
)
def test_a_word_in_a_string_is_a_use_where_names_are_looked_up(body, found):
    assert shortcuts.find("f", [f"def f(x):\n    {body}"]) == [found]


def test_the_string_and_the_look_up_may_stand_in_different_cells():
    cells = ['NAME = "backward"', "def look(x, name):\n    return getattr(x, name)", "def f(x):\n    look(x, NAME)()"]
    assert shortcuts.find("f", cells) == ["'backward'"]


SOURCE = """
import torch

class Chain:
    started = 0

    def __init__(self, x):
        self.x = x.requires_grad_()

    def by_method(self):
        (self.x**2).sum().backward()
        return self.x.grad

    @property
    def by_property(self):
        return self.by_method()

    @classmethod
    def by_class(cls, x):
        return cls(x).by_method()

    @staticmethod
    def alone(x):
        return Chain.by_method(Chain(x))

    def plain(self):
        return [str(type(self)), super().__repr__() != "", self.started]

    def divides(self):
        return 1 / 0


class Heir(Chain):
    def by_heir(self):
        return super().by_method()
"""


@pytest.fixture
def cell():
    """The names that a cell with SOURCE defines, with its lines known as IPython makes them known."""
    linecache.cache["<cell>"] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), "<cell>")
    names = {"__name__": "__main__"}
    exec(compile(SOURCE, "<cell>", "exec"), names)
    yield names
    del linecache.cache["<cell>"]


def seen(answer, use, autograd):
    case = encode({"x": torch.tensor([2.0, 3.0])})
    return observe(answer, lambda given, inputs: use(given, inputs["x"]), case, autograd)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("Chain", lambda made, x: made(x).by_method()),
        ("Chain", lambda made, x: made(x).by_property),
        ("Chain", lambda made, x: made.by_class(x)),
        ("Chain", lambda made, x: made.alone(x)),
        ("Heir", lambda made, x: made(x).by_method()),
        ("Heir", lambda made, x: made(x).by_heir()),
    ],
)
def test_every_method_of_a_class_is_without_autograd(cell, name, use):
    assert seen(cell[name], use, autograd=True).error is None
    error = seen(cell[name], use, autograd=False).error
    assert error.type == "gradlab.checks.shortcuts.ShortcutError"
    assert error.at in ("line 11: (self.x**2).sum().backward()", "line 24: return Chain.by_method(Chain(x))")
    x = torch.tensor(2.0, requires_grad=True)
    (x**2).backward()  # free again outside
    assert x.grad == 4


def test_a_class_is_otherwise_what_it_was(cell):
    for autograd in (True, False):
        observed = seen(cell["Chain"], lambda made, x: made(x).plain(), autograd)
        assert observed.error is None
        assert observed.values == [List(["<class '__main__.Chain'>", True, 0])]


def test_an_error_in_a_method_shows_its_line(cell):
    observed = seen(cell["Heir"], lambda made, x: made(x).divides(), autograd=True)
    assert observed.error.at == "line 30: return 1 / 0"


def test_a_method_that_is_not_written_yet_is_told_so(cell):
    def unsolved(self):
        raise NotImplementedError

    cell["Chain"].divides = unsolved
    error = seen(cell["Chain"], lambda made, x: made(x).divides(), autograd=False).error
    assert error.type == "NotImplementedError"
