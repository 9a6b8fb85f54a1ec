"""Torch's autograd is blocked while an answer runs, and any text of a cell can be parsed."""

import linecache
import time
import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradlab.checks import reached, source
from gradlab.checks.encoding import encode
from gradlab.checks.observation import List
from gradlab.checks.observe import observe

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
    assert (error.line, error.at) in [(11, "(self.x**2).sum().backward()"), (24, "return Chain.by_method(Chain(x))")]
    x = torch.tensor(2.0, requires_grad=True)
    (x**2).backward()  # allowed again outside
    assert x.grad == 4


def test_a_class_is_otherwise_what_it_was(cell):
    for autograd in (True, False):
        observed = seen(cell["Chain"], lambda made, x: made(x).plain(), autograd)
        assert observed.error is None
        assert observed.values == [List(["<class '__main__.Chain'>", True, 0])]


def test_an_error_in_a_method_shows_its_line(cell):
    observed = seen(cell["Heir"], lambda made, x: made(x).divides(), autograd=True)
    assert (observed.error.line, observed.error.at) == (30, "return 1 / 0")


def test_a_method_that_is_not_written_yet_is_told_so(cell):
    def unsolved(self):
        raise NotImplementedError

    cell["Chain"].divides = unsolved
    error = seen(cell["Chain"], lambda made, x: made(x).divides(), autograd=False).error
    assert error.type == "NotImplementedError"


ODD = {
    "no text": "",
    "a null byte": "\0",
    "a null byte behind": "x = 1\n\0",
    "half a pair": "\ud800",
    "many magics": "x = %pwd\n" * 600,
    "more magics, which do not end": "!echo (\n" * 3000,
    "magics in magics": "%time " * 30_000 + "1",
    "deep brackets": "(" * 5000 + ")" * 5000,
    "deep signs": "x = " + "-" * 50_000 + "1",
    "a long sum": "x = " + "1+" * 50_000 + "1",
    "a long path": "x" + ".a" * 50_000,
    "deep blocks": "".join(" " * n + "if x:\n" for n in range(150)) + " " * 150 + "pass",
    "very long": "x = 1\n" * 200_000,
    "no end": "'''",
    "a question alone": "?",
    "a magic without a name": "%\n%%\n!",
    "a magic whose name is computed": "get_ipython().run_line_magic(name, 'x')\n%pwd",
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_text_is_read_or_not_but_never_raises_and_does_not_take_long(name):
    started = time.process_time()
    source.read(ODD[name])
    reached.cells_behind({"x"}, [ODD[name], f"def x():\n    return y.backward{'.a' * 3000}\n"])
    assert time.process_time() - started < 5


def test_reading_a_cell_shows_none_of_pythons_warnings():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        assert source.read(r"digits = '\d'").tree is not None
    assert shown == []


def test_a_parser_that_another_thread_disturbs_once_costs_nothing(monkeypatch):
    answers = iter([SystemError("AST constructor recursion depth mismatch"), source.ast.parse("x = 1")])

    def parse(text):
        if isinstance(answer := next(answers), SystemError):
            raise answer
        return answer

    monkeypatch.setattr(source.ast, "parse", parse)
    assert len(source.read("x = 1  # read nowhere else").statements) == 1


@given(st.text(st.sampled_from("%!?()[]{}'\"\\\n\t\r\x0c =.:,;/#abtime0\0\ud800"), max_size=60))
def test_any_text_can_be_read(text):
    source.read(text)
    reached.cells_behind({"a"}, [text])


@pytest.mark.parametrize(
    ("cell", "magics"),
    [
        ("x = 1", []),
        ("\n%time 1\n!ls\nx = !ls", ["time", "!", "!"]),
        ("%run \\\n  other.py\nimport gc\n%pwd", ["run", "pwd"]),
        ("%%bash\nls\n%pwd", ["bash"]),
        ("'''\n!ls\n'''\n%pwd", ["pwd"]),
    ],
)
def test_magics_are_told(cell, magics):
    assert list(source.read(cell).magics) == magics
