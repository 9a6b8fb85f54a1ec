"""Attacks on how submissions are observed are flagged, and correct code from the course is not."""

import json
from pathlib import Path

import nbformat
import pytest
from attacks.table import ATTACKS, ROOMS, UNGRADED, _write
from tiny_class import NAME, PULL_BACK, RIGHT, TinyClass

from authoring.chapter import chapter_names
from authoring.places import SOURCES
from autograder.views.flags import Flag, Look
from gradlab.checks.record import SUFFIX, Record

CHAPTERS = Path(__file__).resolve().parents[2] / "course" / "chapters"

RESOURCES = [f"{room}: {name}" for room in ("bomb", "reader") for name in ROOMS[room]]
RESTORED = [  # these cells come from the release, not from the submission
    f"cells: {name}" for name in ROOMS["cells"] if name != "a cell that redefines check"
]
NOT_FLAGGED = {
    **dict.fromkeys(RESOURCES, "takes time or memory, and touches nothing"),
    **dict.fromkeys(RESTORED, "its cells are restored from the release"),
    **dict.fromkeys([n for n, a in ATTACKS.items() if a.exercise], "an exercise of a chapter"),
    **dict.fromkeys([n for n, a in ATTACKS.items() if a.points == tuple(UNGRADED)], "has a reason instead of a grade"),
    "forgery: the attributes of a reference by torch": "attributes that nothing reads",
    "forgery: NaN everywhere": "a wrong answer like any other",
    "forgery: outputs in an Output widget": "prints, and a print is no evidence",
    "reading: a check of its own, earlier": "what it is asked to do, in another place",
    "death: sys.exit": "ends its own kernel, as an error would",
    "death: quit": "ends its own kernel, as an error would",
    "death: __del__": "prints, and a print is no evidence",
    "files: a pickle": "a file that nothing reads",
    "files: names of 200 characters": "a file that nothing reads",
    "files: unicode names": "a file that nothing reads",
    "files: options as names": "a file that nothing reads",
    "files: outputs that are none": "outputs are cleared before grading",
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return TinyClass(tmp_path_factory.mktemp("flags") / "class")


@pytest.fixture
def flags_of(tiny):
    """Return the flags of answers to the tiny chapter, as (cell, line)."""

    def flags_of(source="", by_hand=(), students=(), change=None, files=None) -> list[Flag]:
        tiny.hand_in("mallory", RIGHT | {"answer-1": f"{source}\n\n\n{PULL_BACK}"}, change)
        folder = tiny.submission("mallory")
        if files:
            files(folder, tiny.folder)
        look = Look(tiny.folder / "release" / NAME, NAME, by_hand, students)
        return look.at(json.loads((folder / f"{NAME}.ipynb").read_text()), folder, "mallory")

    return flags_of


def attack_flags(flags_of, tiny, name):
    attack = ATTACKS[name]
    source = attack.source
    for word, value in {"FOLDER": str(tiny.folder), "PORT": "1", "MARK": "mark", "SECRET": "x", "WIN": "pass"}.items():
        source = source.replace(word, value)
    return flags_of(f"{source}\n\n\n{attack.answer}", change=attack.change, files=attack.files)


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in NOT_FLAGGED])
def test_an_attack_is_flagged(flags_of, tiny, name):
    assert attack_flags(flags_of, tiny, name) != []


def test_the_attacks_that_need_no_flag_are_attacks_of_the_table():
    assert set(NOT_FLAGGED) <= set(ATTACKS)
    assert len(NOT_FLAGGED) < len(ATTACKS) / 2


@pytest.mark.parametrize("name", chapter_names())
def test_no_right_answer_of_the_course_is_flagged(name):
    """No lesson, solution, slip or other right answer in the solved chapters is flagged, only reference cells."""
    record = Record.from_json((CHAPTERS / name / f"{name}{SUFFIX}").read_text())
    look = Look(CHAPTERS / name, name, [check.answer for check in record.checks.values() if not check.autograd])
    look.given.clear()  # as if a student had changed every cell
    cells = [c for c in nbformat.read(SOURCES / name / f"{name}.ipynb", as_version=4).cells if c.cell_type == "code"]
    flags = [flag for cell in cells for flag in look.find([(cell.id, cell.source)])]
    assert flags
    flags += look.find([(cell.id, cell.source) for cell in cells if "reference" not in cell.metadata.get("tags", [])])
    assert [flag for flag in flags if not flag.source.startswith("from authoring.reference import Reference, ")] == []


def test_honest_code_is_not_flagged(flags_of):
    honest = """%matplotlib inline
import copy
import math
import os
import re
import sys
import warnings
from collections import Counter
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import torch.nn.functional as F
from IPython.display import HTML, display
from torch import nn

plt.rcParams["figure.figsize"] = 4, 3
torch.backends.cudnn.deterministic = True
pattern = re.compile(r"a/b (\\d+)")
model = nn.Linear(2, 2)
model.weight = nn.Parameter(torch.eye(2))
model.eval()
print("loss/", 3, "m/s", "...", file=sys.stderr)
with open("notes.txt", "w") as file:
    file.write("3 / 4")


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, grad):
        return getattr(self, "factor") * grad


%timeit math.sqrt(2)
x = torch.ones(2, requires_grad=True)
handle = x.register_hook(Scale(2))
for step in range(3):
    check = step
hooks = Scale(3)
hooks.factor = 4
compile = partial(print)
compile("done")"""
    assert flags_of(honest.replace("    check = step\n", "    guess = step\n")) == []
    assert [flag.source for flag in flags_of(honest)] == ["check = step"]


@pytest.mark.parametrize(
    "source",
    [
        "%%time\nimport gc",
        "%time import gc",
        "!ls",
        "files = !ls",
        "%%bash\nls",
        "%run other.py",
        "from sys import modules as loaded\n%timeit 1",
        "def f(:\n    get_ipython().run_cell('')",
        "from torch import Tensor\nTensor.tolist = None",
        "T = torch.Tensor\nT.tolist = None",
        "type(torch.ones(1)).tolist = None",
        "del torch.allclose",
        "def swap():\n    global check\n    check = None",
        "import numpy as torch",
        "for torch in [None]:\n    pass",
        "getattr(torch, 'auto' + 'grad')",
        "part = 'autograd'\ngetattr(torch, part)",
        "torch.__dict__['autograd']",
        "vars(torch)['autograd']",
        "getattr(check, '__globals__')",
        "e = exec\ne('1')",
        "from torch._C import _functions",
        "blob = '" + "QUJD" * 60 + "'",
        "open('/etc/passwd')",
        "open('../x')",
    ],
)
def test_one_line_is_flagged(flags_of, source):
    assert len({flag.line for flag in flags_of(source)}) == 1


GC = "import gc"
TOO_DEEP = (1, "is too long or too deeply nested to be searched")
FLAGGED = {  # a source, the file with it or "" for an answer, and each flag's line and its source or reason
    "a patched module": (
        "import math\n\n\ndef near():\n    math.isclose = max",
        "",
        [(5, "math.isclose = max"), (5, "patches an imported module, which affects the checks too")],
    ),
    # Python does not count a line at a form feed; code that does would look up the wrong line.
    "after a form feed": (f"'\x0c'\n{GC}", "", [(2, GC)]),
    "a file beside the notebook": (f"x = 1\n{GC}\n", "helpers.py", [(2, GC)]),
    "after brackets that are not Python": (f"{'(' * 500}{')' * 500}\n{GC}", "", [(2, GC)]),
    "after a null byte": (f"\x00\n{GC}", "", [(2, GC)]),
    "too many signs": (f"x = {'-' * 5000}1\n{GC}", "", [TOO_DEEP, (2, GC)]),
    "too many dots": (f"a{'.a' * 5000}\n{GC}", "", [TOO_DEEP, (2, GC)]),
}


@pytest.mark.parametrize(("source", "file", "expected"), FLAGGED.values(), ids=FLAGGED.keys())
def test_a_flag_names_cell_line_source_and_reason(flags_of, source, file, expected):
    flags = flags_of(files=_write(file, source)) if file else flags_of(source)
    assert {flag.where for flag in flags} == {file or "answer-1"}
    assert {flag.line for flag in flags} == {line for line, _ in expected}
    assert {said for _, said in expected} <= {said for flag in flags for said in (flag.source, flag.why)}


def test_a_hidden_name_is_flagged_if_autograd_is_forbidden(flags_of):
    hidden = "def helper(x, name):\n    return getattr(x, name)"
    assert flags_of(hidden) == []
    assert [flag.line for flag in flags_of(hidden, by_hand=["helper"])] == [2]
    assert [flag.why for flag in flags_of("import sympy")] == ["uses a different engine that computes derivatives"]
    (flag,) = flags_of("import helper", by_hand=["pull_back"], files=_write("helper.py", "x = 1"))
    assert "not searched" in flag.why


def test_another_students_path_is_flagged_but_the_bare_id_is_not(flags_of):
    assert flags_of("open('max/data.txt')\nprint('max')") == []
    assert [flag.line for flag in flags_of("print('max')\nopen('max/data.txt')", students=["max", "mallory"])] == [2]
    assert flags_of("open('mallory/data.txt')", students=["max", "mallory"]) == []


def test_whatever_the_release_does_is_allowed(tiny, tmp_path):
    """If a chapter's release uses gc, students may use it on any line."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import gc\nexec(line)")])
    nbformat.write(notebook, tmp_path / "a.ipynb")
    look = Look(tmp_path, "a")
    assert look.find([("one", "import gc\nprint(gc.collect())\nexec(line)")]) == []
    assert [flag.line for flag in look.find([("one", "exec(other)")])] == [1]


def test_the_number_of_flags_is_limited(flags_of):
    def add(nb):
        nb.cells += [nbformat.v4.new_code_cell(f"import gc\nnumber = {number}") for number in range(50)]

    assert len(flags_of(change=add)) == 20
