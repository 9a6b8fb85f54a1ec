"""Run a solved chapter for the site: predictions and payoffs leave plain data, which a page shows without a kernel.

`run` executes a chapter as `build.execute` does, but without references and checks. In its kernel, `begin` takes over
what gradlab shows as widgets in a notebook.
"""

from itertools import product
from typing import Any

import nbformat
from IPython.display import display
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_grade

from gradlab import live
from gradlab.checks.results import memory
from gradlab.payoffs import Payoff, PayoffOutput
from gradlab.predict.kinds import Numbers, shown
from gradlab.predict.prediction import Prediction

from ..build import STUDENT_EDITION, execute, normalise
from ..cells import tags
from ..chapter import solved, source_path
from ..digests import digest, imported, imports_cell
from ..places import ROOT, ChapterError

PREDICTION = "application/vnd.gradlab.prediction+json"
FRAMES = "application/vnd.gradlab.frames+json"
RECORDED = ROOT / "build/recorded"
ALONE, TOGETHER = (7,), (4, 3)  # the most values of one control, and of each of two


def recorded(name: str) -> NotebookNode | None:
    """Return a solved chapter with the outputs that the site shows; None if it has changed since it was recorded."""
    if not (kept := RECORDED / f"{name}.ipynb").exists():
        return None
    notebook = nbformat.read(kept, as_version=4)
    return notebook if notebook.metadata.digest == digest(name, STUDENT_EDITION, notebook.metadata.modules) else None


def run(name: str) -> NotebookNode:
    """Execute a chapter for the site; raises ChapterError if a cell fails.

    Nothing is parsed here, because Python 3.11 can parse in only one thread.
    """
    running = solved(name)
    for cell in running.cells:
        if "reference" in tags(cell) or is_grade(cell):
            cell.source = ""
    running.cells = [new_code_cell(f"from {__name__} import begin; begin()"), *running.cells, imports_cell()]
    try:
        execute(running, source_path(name).parent)
    except CellExecutionError as error:
        raise ChapterError(f"{name}: {error}") from None
    return running


def keep(name: str, running: NotebookNode) -> NotebookNode:
    """Save a chapter with the outputs of its run, and return it."""
    notebook = solved(name)
    modules = imported(running.cells.pop())
    del running.cells[0]
    for cell, ran in zip(notebook.cells, normalise(running).cells, strict=True):
        if cell.cell_type == "code":
            cell.outputs = ran.outputs
    notebook.metadata = NotebookNode(running.metadata, modules=modules, digest=digest(name, STUDENT_EDITION, modules))
    RECORDED.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, RECORDED / f"{name}.ipynb")
    return notebook


def begin() -> None:
    """In a chapter's kernel, let predictions and payoffs display plain data; every payoff counts as earned."""
    memory.authored = lambda stated: None
    live.page = live.Page(_show_frames, _show_question, every_payoff=True)


def _show_question(prediction: Prediction, guess: None) -> None:
    """Display what a page needs to ask for a guess and to judge it."""
    translated, asked = prediction.kind.translated, prediction.asked()
    data = asked | {
        "name": prediction.name,
        "numbers": isinstance(prediction.kind, Numbers),
        "answers": [
            {"value": translated(str(answer)), "shown": translated(shown(answer))} for answer in prediction.answers
        ],
        "output": prediction.output(),
    }
    display({PREDICTION: data, "text/plain": asked["question"]}, raw=True)


def _show_frames(payoff: Payoff, made: PayoffOutput) -> None:
    """Display the payoff's output for some values of its first two controls; further controls stay as they are."""
    start, controls = payoff.start, dict(zip(payoff.controls, payoff.controls_at_start(), strict=True))
    moving = dict([(name, values) for name, values in payoff.values().items() if len(values) > 1][:2])
    most = ALONE if len(moving) == 1 else TOGETHER
    moving = {name: _some(values, start[name], m) for (name, values), m in zip(moving.items(), most, strict=False)}
    every = [start | dict(zip(moving, chosen, strict=True)) for chosen in product(*moving.values())]
    shows = [
        {"at": values.index(start[name]), "values": [shown(value) for value in values]}
        for name, values in moving.items()
    ]
    data = {
        "title": payoff.title,
        "controls": [controls[name] | its for name, its in zip(moving, shows, strict=True)],
        "others": [name.replace("_", " ") for name in controls if name not in moving],
        "start": made.alive,
        "frames": [(made if values == start else payoff.made(values)).alive for values in every],
    }
    display({FRAMES: data, "text/plain": f"Payoff of {payoff.exercise}"}, raw=True)


def _some(values: list, start: Any, most: int) -> list:
    """Return at most `most` of the values, spread evenly, with the start value among them."""
    if len(values) <= most:
        return values
    indices = [round(k * (len(values) - 1) / (most - 1)) for k in range(most)]
    nearest = min(range(most), key=lambda k: abs(indices[k] - values.index(start)))
    return [values[index] if k != nearest else start for k, index in enumerate(indices)]
