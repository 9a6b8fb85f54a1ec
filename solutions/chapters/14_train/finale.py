"""Lesson cells of earlier chapters, run on torch and on the engine of part two, and what they print compared."""

import contextlib
import io
import json
import warnings
from pathlib import Path

import like_torch

LEFT_OUT = {  # cells that need what the engine leaves out, by chapter, each with what that is
    "02_external_gradients": {"s7-run": "a gradient of a gradient"},
    "03_accumulation": dict.fromkeys(["s3-memory-run", "s4-memory", "s5-ways", "s7-eval"], "a look at what is saved")
    | {"s1-loop": "a count of a tensor's versions"},
    "06_tensor_hooks": dict.fromkeys(
        ["s2-handle", "s2-raise-run", "s6-inputs", "s7-wrong"], "a look into torch's own engine"
    ),
}
TORCH, OURS = "import torch\n", "import like_torch as torch\n"
prepare = like_torch.finish


class Prediction:
    """A prediction that nobody makes: its block runs, and prints where it stands."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def compare(self, *answers):
        pass


class Predict:
    """In the place of gradlab.predict."""

    def __getattr__(self, name):
        return lambda *args: Prediction()


def show_nothing(*args, **kwargs):
    """In the place of what shows pictures."""


IN_PLACE = {"predict": Predict()} | dict.fromkeys(["display", "draw", "step", "vjp"], show_nothing)


def lesson_cells(chapter):
    """Return id and source of each setup and lesson cell of a chapter as it was released, without a learner's own."""
    home = Path(__file__).resolve().parent.parent
    released = home / ".released" / chapter / f"{chapter}.ipynb"  # in a workspace, where a learner may have added cells
    path = released if released.exists() else home / chapter / f"{chapter}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        (cell["id"], "".join(cell["source"]))
        for cell in cells
        if cell["cell_type"] == "code"
        and "nbgrader" not in cell["metadata"]
        and not {"reference", "after-exercises"} & set(cell["metadata"].get("tags", []))
    ]


def printed(chapter, line):
    """Return what each lesson cell prints, by id, with `line` for `import torch`; an error is its last line."""
    namespace, found = {}, {}
    for cell_id, source in lesson_cells(chapter):
        if cell_id in LEFT_OUT.get(chapter, ()):
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings(action="ignore"):
            try:
                exec(compile(source.replace(TORCH, line), cell_id, "exec"), namespace)
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
        namespace |= IN_PLACE
        found[cell_id] = out.getvalue()
    return found


def compare(chapter):
    """Yield the id of each lesson cell that prints, and how it went: the same, not the same, or why it is left out."""
    on_torch, on_ours = printed(chapter, TORCH), printed(chapter, OURS)
    for cell_id, _ in lesson_cells(chapter):
        if cell_id not in on_torch:
            yield cell_id, f"left out: {LEFT_OUT[chapter][cell_id]}"
        elif on_torch[cell_id] != on_ours[cell_id]:
            yield cell_id, f"not the same:\n{on_torch[cell_id]}\n{on_ours[cell_id]}"
        elif on_torch[cell_id]:
            yield cell_id, "the same"
