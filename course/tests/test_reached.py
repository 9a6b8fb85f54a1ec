"""Which names a cell defines, and which cells stand behind a function."""

import time

import pytest

from gradlab.checks.reached import cells_behind, defined


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x):\n    y = x\n    return y", {"f"}),
        ("async def f():\n    pass\nclass C:\n    z = 1", {"f", "C"}),
        ("import a.b\nimport c.d as e\nfrom g import h, i as j", {"a", "e", "h", "j"}),
        ("from g import *", set()),
        ("a, (b, *c) = 1, (2, 3)\nd: int = 4\ne += 5", {"a", "b", "c", "d", "e"}),
        ("f.x.y = 1\ng[0].z = 2\nh[0][1] = 3\nf().w = 4", {"f", "g", "h"}),
        ("def f():\n    global a, b\n    def g():\n        global c", {"f", "a", "b", "c"}),
        ("if x:\n    a = 1\nelse:\n    b = 2", {"a", "b"}),
        ("for i in x:\n    a = i\nwhile (b := x):\n    pass", {"i", "a", "b"}),
        ("try:\n    a = 1\nexcept E as e:\n    b = 2\nwith o() as w:\n    pass", {"a", "b", "w"}),
        ("f = lambda x: (y := x)", {"f"}),
        # IPython runs a cell statement by statement; one that cannot be compiled ends it, and what was defined stays
        ("a = 1\nreturn 2\nb = 3", {"a"}),
        ("a = 1\nbreak\nb = 3", {"a"}),
        ("def f():\n    pass\nnonlocal f\nb = 3", {"f"}),
        ("a = 1\na(1, 2)\ncontinue\nb = 3", {"a"}),
        ("a = = 1", set()),
        ("import asyncio\nawait asyncio.sleep(0)\na = 1", {"asyncio", "a"}),
        ("%%time\na = 1", {"a"}),
        ("%%timeit -n1\na = 1", {"a"}),
        ("\n\n%%capture\na = 1", {"a"}),
        ("%time f = lambda x: x", {"f"}),
        ("f = %time lambda x: x", {"f"}),
        ("%matplotlib inline\n!ls\na = 1\na?", {"a"}),
        ("files = !ls\n%time (\na = 1", {"files", "a"}),
        ("x = (5\n% 3)\n%time 1\na = 1", {"x", "a"}),
        ("%%bash\na = 1", set()),  # another program's text
        ("=%\\", set()),
    ],
)  # fmt: skip
def test_what_a_cell_defines(text, names):
    assert defined(text) == names


CELLS = [
    "import torch",  # 0
    "LIMIT = 3\nOTHER = 4",  # 1
    "def helper(x):\n    return inner(x) * LIMIT",  # 2
    "def inner(x):\n    return [torch.relu(x) for _ in range(2)]",  # 3
    "def answer(x):\n    def local(y):\n        return helper(y)\n    return local(x)",  # 4
    "answer.note = 'mine'",  # 5
    "print(answer(OTHER))",  # 6
    "def another(x):\n    return torch.abs(x) + OTHER",  # 7
    "def inner(x):\n    return x",  # 8
]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("answer", {0, 1, 2, 3, 4, 5, 8}),  # to any depth, all versions, and what is set on them
        ("another", {0, 1, 7}),
        ("inner", {0, 3, 8}),
        ("unknown", set()),
    ],
)
def test_the_cells_behind_a_name(name, cells):
    assert cells_behind({name}, CELLS) == cells


def test_a_star_import_may_be_behind_anything():
    assert cells_behind({"answer"}, ["from helpers import *", "x = 1"]) == {0}


def test_a_long_chain_takes_no_longer_than_its_length():
    chain = "\n".join(f"x{n} = x{n + 1}" for n in range(3_000))
    started = time.process_time()
    assert cells_behind({"x0"}, ["x3000 = 1", "y = 1", chain]) == {0, 2}
    assert time.process_time() - started < 10
