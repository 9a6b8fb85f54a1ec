"""The end of part two: lessons of chapters 02, 03 and 06 print the same on the solved engine as on torch."""

import contextlib
import importlib
import io
import sys
import warnings

import nbformat
import pytest

from authoring.chapter import SOURCES, source_path, tags
from gradlab.engine import source_of

HERE = SOURCES / "14_train"

LEFT_OUT = {  # cells that need what the engine leaves out, each with what that is
    ("02_external_gradients", "s7-run"): "a graph of the walk itself",
    ("03_accumulation", "s3-memory-run"): "hooks on saved tensors",
    ("03_accumulation", "s4-memory"): "hooks on saved tensors",
    ("03_accumulation", "s5-ways"): "hooks on saved tensors",
    ("03_accumulation", "s7-eval"): "hooks on saved tensors",
    ("03_accumulation", "s6-inplace"): "version counters",
    ("06_tensor_hooks", "s2-handle"): "a look into torch's own engine",
    ("06_tensor_hooks", "s2-raise-run"): "a look into torch's own engine",
    ("06_tensor_hooks", "s6-inputs"): "a look into torch's own engine",
    ("06_tensor_hooks", "s7-wrong"): "a look into torch's own engine",
}


class Prediction:
    """A prediction that nobody makes: its block runs, and prints where it stands."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def compare(self, *answers):
        """Take what the run gave."""


class Predict:
    """In the place of gradlab.predict."""

    numbers = choice = true_false = order = lambda self, *args: Prediction()

    def summary(self):
        """Say nothing."""


def nothing(*args, **kwargs):
    """In the place of what shows pictures."""


def lesson_cells(name):
    """The setup and lesson cells of a solved chapter, in order."""
    apart = {"reference", "after-exercises"}
    for cell in nbformat.read(source_path(name), as_version=4).cells:
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata and not apart & set(tags(cell)):
            yield cell


def printed(name, library):
    """What each lesson cell prints, by its id, with `import torch` replaced by the import of `library`."""
    namespace, found = {"display": nothing}, {}
    for cell in lesson_cells(name):
        if (name, cell.id) in LEFT_OUT:
            continue
        source = cell.source.replace("import torch\n", f"import {library} as torch\n")
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings(action="ignore"):
            exec(compile(source, cell.id, "exec"), namespace)
        namespace |= {"predict": Predict(), "draw": nothing, "step": nothing, "vjp": nothing}
        found[cell.id] = out.getvalue()
    return found


def cell_ids(name):
    return [cell.id for cell in lesson_cells(name) if (name, cell.id) not in LEFT_OUT]


CHAPTERS = ["02_external_gradients", "03_accumulation", "06_tensor_hooks"]


@pytest.fixture(scope="module")
def engine():
    """The solved stage 14 as the lessons' torch; the modules of the engine are gone afterwards."""
    before, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(HERE))
    try:
        importlib.import_module("like_torch").finish(**stage_14())
        yield
    finally:
        sys.path[:] = path
        for module in set(sys.modules) - before:
            if module.startswith(("engine_", "like_torch")):
                del sys.modules[module]


def stage_14():
    """What the cells of the solved chapter 14 tagged `engine` define, of what the lessons need."""
    namespace = {}
    exec(source_of(nbformat.read(source_path("14_train"), as_version=4).cells), namespace)
    return {name: namespace[name] for name in ("matmul", "SGD")}


@pytest.fixture(scope="module")
def both(engine):
    return {name: (printed(name, "torch"), printed(name, "like_torch")) for name in CHAPTERS}


@pytest.mark.parametrize(("name", "cell"), [(name, cell) for name in CHAPTERS for cell in cell_ids(name)])
def test_a_lesson_prints_the_same_with_only_its_import_changed(both, name, cell):
    on_torch, on_ours = both[name]
    assert on_ours[cell] == on_torch[cell]


@pytest.mark.parametrize(("name", "cell"), LEFT_OUT)
def test_what_is_left_out_is_there_to_be_left_out(name, cell):
    assert cell in [one.id for one in lesson_cells(name)]
