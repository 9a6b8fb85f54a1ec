"""Take a demo class of twelve students from release to feedback, covering every way a submission can end."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeSubmit
from nbgrader.utils import is_solution

from gradlab.ipynb import grade_id
from gradlab.words import _

from . import class_chapters
from .errors import require_success
from .run.grade import grade
from .settings import class_api
from .views.renderings import table, write
from .views.report import Row, gather

CHAPTER = "02_external_gradients"

ANOTHER_WAY = """
def undo_broadcast(grad, shape):
    return grad.sum_to_size(shape)
"""

WRONG = {
    "answer-02-1": """
def pull_back(x, v):
    return 3 * x**2
""",
    "answer-02-2": """
def starting_gradient(output, gradient=None):
    return torch.ones_like(output) if gradient is None else gradient
""",
    "answer-02-3": """
def loss_weights(outputs, target, importance):
    return 2 * importance * (outputs - target)
""",
    "answer-02-4": """
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    return torch.stack([torch.autograd.grad(y, leaf, torch.ones_like(y), retain_graph=True)[0] for _ in y])
""",
    "answer-02-5": """
def hand_over(front, back, x):
    cut = front(x).detach().requires_grad_()
    back(cut).backward()
    return cut.grad
""",
    "answer-02-6": """
def undo_broadcast(grad, shape):
    return grad
""",
}

BY_AUTOGRAD = """
def undo_broadcast(grad, shape):
    tensor = torch.zeros(shape, dtype=grad.dtype, requires_grad=True)
    tensor.expand(grad.shape).backward(grad)
    return tensor.grad
"""

NOISE = """
import sys
import warnings

print("loading", file=sys.stderr)
warnings.warn("an old version")


"""

CRASH = """
import os

os._exit(1)
"""


def class_of_a_dozen(solved: NotebookNode) -> dict[str, Callable[[NotebookNode], str]]:
    """Map each student to a function that turns the released notebook into the text of the submitted file."""
    right = {cell.metadata.nbgrader["grade_id"]: cell.source for cell in solved.cells if is_solution(cell)}
    half = dict(list(right.items())[: len(right) // 2])

    def solve(*parts: dict[str, str], copies: dict[str | None, int] | None = None):
        def hand_in(nb: NotebookNode) -> str:
            answers = {key: text for part in parts for key, text in part.items()}
            for cell in filter(is_solution, nb.cells):
                cell.source = answers.get(cell.metadata.nbgrader["grade_id"], cell.source).strip("\n")
            times = [(cell, (copies or {}).get(grade_id(cell), 1)) for cell in nb.cells]
            cells = [cell | {"id": cell.id + "-copy" * n} for cell, count in times for n in range(count)]
            return json.dumps(nb | {"cells": cells})

        return hand_in

    return {
        "ada": solve(right),
        "boris": solve(right, {"answer-02-6": ANOTHER_WAY}),
        "dana": solve(right, {cell: WRONG[cell] for cell in ("answer-02-1", "answer-02-6")}),
        "emil": solve(WRONG),
        "farid": solve(half),
        "gita": solve(),
        "hugo": solve(right, {"answer-02-3": CRASH}),
        "ines": lambda nb: solve(right)(nb)[:-2000],
        "jonas": solve(right, copies={"check-02-3": 0}),
        "kim": solve(right, copies={"check-02-4": 2}),
        "lena": solve({cell: NOISE + text for cell, text in right.items()}),
        "mika": solve(right, {"answer-02-6": BY_AUTOGRAD}),
    }


def run(folder: Path, language: str = "en") -> list[Row]:
    """Create the class in `folder`, replacing any old one; run nbgrader's steps and return the report's rows.

    Raises ClassError, and removes nothing, if the course's edition in this language has not been built.
    """
    class_chapters.course(language)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    class_chapters.speak(folder, language)
    api = class_api(folder)
    released = api.generate_assignment(CHAPTER), api.release_assignment(CHAPTER)
    _say(_("generating and releasing {chapter}", chapter=CHAPTER), *released)
    solved = nbformat.read(Path(api.coursedir.root, "source", CHAPTER, f"{CHAPTER}.ipynb"), as_version=4)
    students = class_of_a_dozen(solved)
    for student, hand_in in students.items():
        _submit(folder, student, hand_in)
    submitted = _("{number} students fetched, edited and submitted the assignment; collecting", number=len(students))
    _say(submitted, api.collect(CHAPTER))

    print(_("grading"), flush=True)
    for outcome in grade(folder, CHAPTER):
        print(f"  {outcome.student}: {_(outcome.status)}", flush=True)
    _say(_("writing feedback"), api.generate_feedback(CHAPTER))
    _say(_("returning feedback"), api.release_feedback(CHAPTER))
    return _show(api, folder)


def _say(text: str, *results: dict) -> None:
    print(text, flush=True)
    for result in results:
        require_success(result, _("The demo stopped at this step"))


def _submit(folder: Path, student: str, hand_in: Callable[[NotebookNode], str]) -> None:
    """Fetch, fill in and submit the assignment through nbgrader's exchange, as a student's Assignment List does."""
    home = folder / "students" / student
    home.mkdir(parents=True)
    api = class_api(folder)
    api.coursedir.student_id, api.coursedir.assignment_id = student, CHAPTER
    fetch = ExchangeFetchAssignment(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
    fetch.assignment_dir = str(home)
    fetch.start()
    path = home / CHAPTER / f"{CHAPTER}.ipynb"
    path.write_text(hand_in(nbformat.read(path, as_version=4)), encoding="utf-8")
    submit = ExchangeSubmit(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
    submit.assignment_dir = str(home)
    submit.start()


def _show(api: NbGraderAPI, folder: Path) -> list[Row]:
    report = gather(api.coursedir, CHAPTER)
    print("\n" + table(report))
    _table, page = write(api.coursedir, report)
    seed = json.loads((folder / "records" / f"{CHAPTER}.json").read_text())["seed"]
    look = _("This class's seed is {seed}. Look at the report, at feedback, and at the gradebook:", seed=seed)
    pages = [folder / "feedback" / student / CHAPTER / f"{CHAPTER}.html" for student in ("dana", "ines")]
    print("", look, page, *pages, folder / "gradebook.db", sep="\n")
    return report.rows
