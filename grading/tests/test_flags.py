"""Lines that no answer needs are flagged, and correct code from the course is not."""

from pathlib import Path

import nbformat
import pytest

from authoring.chapter import chapter_names
from authoring.places import SOURCES
from autograder.views.flags import ALONE, RECORD, Flagger
from gradlab.checks.messages import NOT_ALONE
from gradlab.checks.record import SUFFIX

CHAPTERS = Path(__file__).resolve().parents[2] / "course" / "chapters"


def flags_of(folder: Path, *sources: str, release: Path | None = None, students=(), state: str = ""):
    """Return the flags of a submission by mallory whose cells have these sources, in its folder."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    if state:
        cells[0].metadata["autograder"] = {"90.1": {"feedback": {"title": "90.1", "state": state}}}
    notebook = nbformat.v4.new_notebook(cells=cells)
    return Flagger(release or folder, "90_tiny", students).flags(notebook, folder, "mallory")


@pytest.mark.parametrize(
    "source",
    [
        "get_ipython().run_cell('')",
        "names = In[1:]",
        "pull_back.__globals__['check'] = None",
        "import gradlab.checks.verdict",
        "gradlab.check = print",
        "torch.allclose = None",
        "setattr(torch, 'allclose', None)",
        "import os, subprocess",
        "os.kill(1, 9)",
        "open('/proc/self/maps')",
        "open('../x')",
        "open('mine.ipynb')",
        "open('submitted/anna/90_tiny/90_tiny.txt')",
        "open('max/data.txt')",
        "import mini_autograd",
        "import sympy",
        "torch.ops.aten.mse_loss_backward(v, x, x, 1)",
        "files = !ls",
        "%run other.py",
    ],
)
def test_one_line_is_flagged_with_its_cell_and_number(tmp_path, source):
    flags = flags_of(tmp_path, "x = 1", f"y = 2\n{source}", students=["max", "mallory"])
    assert {(flag.line, flag.source) for flag in flags} == {(2, source)}
    assert flags_of(tmp_path, "open('mallory/data.txt')\nprint('max')", students=["max", "mallory"]) == []


@pytest.mark.parametrize("name", chapter_names())
def test_no_right_answer_of_the_course_is_flagged(name, tmp_path):
    cells = [c for c in nbformat.read(SOURCES / name / f"{name}.ipynb", as_version=4).cells if c.cell_type == "code"]
    flags = Flagger(CHAPTERS / name, name).flags(nbformat.v4.new_notebook(cells=cells), tmp_path)
    assert [flag for flag in flags if "import Reference" not in flag.source] == []


def test_honest_code_is_not_flagged(tmp_path):
    honest = """%matplotlib inline
import os
import sys
import warnings
from functools import partial

import torch.nn.functional as F
from torch import nn

torch.backends.cudnn.deterministic = True
print("loss/", 3, "m/s", "...", file=sys.stderr)
with open("notes.txt", "w") as file:
    file.write("3 / 4")


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, grad):
        return getattr(self, "factor") * grad


%timeit abs(2)
x = torch.ones(2, requires_grad=True)
handle = x.register_hook(Scale(2))
hooks = Scale(3)
hooks.factor = 4
compile = partial(print)
compile("done")"""
    assert flags_of(tmp_path, honest) == []


def test_files_are_searched_and_whatever_the_release_says_is_allowed(tmp_path):
    release, folder = tmp_path / "release", tmp_path / "submission"
    for made in (release, folder):
        made.mkdir()
        (made / "engine.py").write_text("import ctypes\n")
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import socket")]), release / "90_tiny.ipynb"
    )
    (folder / "mine.py").write_text("x = 1\nimport resource\n")
    (folder / f"other{SUFFIX}").write_text("{}")
    flags = flags_of(folder, "import socket", release=release)
    assert [(flag.where, flag.line) for flag in flags] == [(f"other{SUFFIX}", 0), ("mine.py", 2)]
    assert flags[0].why == RECORD


def test_an_answer_that_passes_only_in_its_notebook_is_flagged(tmp_path):
    (flag,) = flags_of(tmp_path, "x = 1", state=NOT_ALONE)
    assert (flag.source, flag.why) == ("90.1", ALONE)
