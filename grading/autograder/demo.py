"""A made-up class of a dozen, from release to feedback: every way in which a submission can end."""

import inspect
import json
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeSubmit

from authoring.chapter import Chapter, load_chapter

from .grade import class_api, grade
from .report import Row, rows, table

CHAPTER = "02_external_gradients"


class Answers:
    """Answers to a chapter's exercises as a student would type them, by grade_id of the solution cell."""

    def __init__(self, chapter: Chapter, solved: NotebookNode):
        self.chapter = chapter
        self.cells = {c.metadata.nbgrader["grade_id"]: c.source for c in solved.cells if _is_answer(c)}

    def right(self) -> dict[str, str]:
        """The solutions of the solved notebook."""
        return dict(self.cells)

    def written(self, choose: Callable) -> dict[str, str]:
        """Each solution with the body of the function that `choose(reference)` picks for it."""
        return {cell: self._rewritten(cell, check, choose(check.reference)) for cell, check in self._checks()}

    def _checks(self):
        for cell, ids in self.chapter.cells.items():
            yield cell.replace("check-", "answer-"), self.chapter.checks[ids[0]]

    def _rewritten(self, cell: str, check, function: Callable) -> str:
        name, source = check.answer.__name__, textwrap.dedent(inspect.getsource(function))
        before = self.cells[cell].split(f"def {name}(")[0]
        return before + source.replace(f"def {function.__name__}(", f"def {name}(", 1)


def _is_answer(cell: NotebookNode) -> bool:
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def class_of_a_dozen(answers: Answers) -> dict[str, Callable[[NotebookNode], str]]:
    """For each student, what they make of the released notebook: the text of the file that they hand in."""
    right = answers.right()
    first_slips, second_slips = answers.written(_slip(0)), answers.written(_slip(1))
    half = dict(list(right.items())[: len(right) // 2])
    noisy = "import sys\nimport warnings\n\nprint('loading', file=sys.stderr)\nwarnings.warn('an old version')\n\n\n"
    crash = "import os\n\nos._exit(1)"

    def solve(*parts: dict[str, str]) -> Callable[[NotebookNode], str]:
        return lambda nb: nbformat.writes(_filled(nb, {key: text for part in parts for key, text in part.items()}))

    def tampered(change: Callable[[NotebookNode], None]) -> Callable[[NotebookNode], str]:
        def hand_in(nb: NotebookNode) -> str:
            change(_filled(nb, right))
            return nbformat.writes(nb)

        return hand_in

    def position(nb: NotebookNode, grade_id: str) -> int:
        return next(i for i, c in enumerate(nb.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)

    def delete_a_check(nb: NotebookNode) -> None:
        del nb.cells[position(nb, "check-02-3")]

    def duplicate_a_check(nb: NotebookNode) -> None:
        at = position(nb, "check-02-4")
        nb.cells.insert(at, nbformat.from_dict({**nb.cells[at], "id": "a-copy"}))

    by_autograd = (
        "def undo_broadcast(grad, shape):\n"
        "    tensor = torch.zeros(shape, dtype=grad.dtype, requires_grad=True)\n"
        "    tensor.expand(grad.shape).backward(grad)\n"
        "    return tensor.grad"
    )
    return {
        "ada": solve(right),
        "boris": solve(right, answers.written(lambda reference: _standing_alone(reference.others)[0])),
        "dana": solve(right, {cell: first_slips[cell] for cell in ("answer-02-1", "answer-02-6")}),
        "emil": solve(second_slips),
        "farid": solve(half),
        "gita": solve({}),
        "hugo": solve(right, {"answer-02-3": crash}),
        "ines": lambda nb: nbformat.writes(_filled(nb, right))[:-2000],
        "jonas": tampered(delete_a_check),
        "kim": tampered(duplicate_a_check),
        "lena": solve({cell: noisy + text for cell, text in right.items()}),
        "mika": solve(right, {"answer-02-6": by_autograd}),
    }


def _slip(number: int) -> Callable:
    return lambda reference: _standing_alone(reference.slips)[number]


def _standing_alone(functions: list[Callable]) -> list[Callable]:
    """Those functions of a reference cell that use no other name of that cell."""
    return [function for function in functions if function.__closure__ is None]


def _filled(nb: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    for cell in nb.cells:
        if _is_answer(cell):
            cell.source = answers.get(cell.metadata.nbgrader["grade_id"], cell.source)
    return nb


def run(folder: Path) -> list[Row]:
    """Make the class anew in `folder`, take it through nbgrader's steps, print what happens; returns the final rows."""
    shutil.rmtree(folder, ignore_errors=True)
    api = class_api(folder)
    _say(f"generating and releasing {CHAPTER}", api.generate_assignment(CHAPTER), api.release_assignment(CHAPTER))

    chapter = load_chapter(CHAPTER)
    solved = nbformat.read(Path(api.coursedir.root, "source", CHAPTER, f"{CHAPTER}.ipynb"), as_version=4)
    students = class_of_a_dozen(Answers(chapter, solved))
    for student, hand_in in students.items():
        _submit(folder, student, hand_in)
    _say(f"{len(students)} students fetched, worked and handed in; collecting", api.collect(CHAPTER))

    print("grading", flush=True)
    for outcome in grade(folder, CHAPTER):
        print(f"  {outcome.student}: {outcome.status}", flush=True)
    _say("writing feedback", api.generate_feedback(CHAPTER))
    _say("returning feedback", api.release_feedback(CHAPTER))
    return _show(api, folder)


def _say(text: str, *results: dict) -> None:
    print(text, flush=True)
    for result in results:
        if not result["success"]:
            raise RuntimeError(f"{text} failed:\n{result.get('error') or result.get('log')}")


def _submit(folder: Path, student: str, hand_in: Callable[[NotebookNode], str]) -> None:
    """Fetch, fill in and submit through nbgrader's exchange, as the student would from the Assignment List."""
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
    found = rows(api.coursedir, CHAPTER)
    with api.gradebook as gradebook:
        max_score = gradebook.find_assignment(CHAPTER).max_score
    print("\n" + table(found, max_score))
    seed = json.loads((folder / "records" / f"{CHAPTER}.json").read_text())["seed"]
    print(f"\nThe seed of this class: {seed}. To look at:")
    for label, path in (
        ("a page that went back", folder / "feedback" / "dana" / CHAPTER / f"{CHAPTER}.html"),
        ("one that could not be graded", folder / "feedback" / "ines" / CHAPTER / f"{CHAPTER}.html"),
        ("the gradebook", folder / "gradebook.db"),
    ):
        print(f"  {label:30} {path}")
    return found
