"""A tiny class with one notebook and two exercises, worth 2 and 3 points."""

import contextlib
import csv
import functools
import re
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path

import dask
import nbformat
import returned_notebooks
from distributed import LocalCluster
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.apps.nbgraderapp import NbGraderApp, NoStart
from returned_notebooks import NAME

from autograder.__main__ import main
from autograder.run import cluster
from autograder.run.grade import grade
from autograder.run.grader import Grader
from autograder.settings import class_api
from autograder.steps.due import submitted
from autograder.views.report import Row, gather

SETUP = re.sub("# No module.*\n", "", returned_notebooks.SETUP)  # which nbgrader adds

PULL_BACK = '''def pull_back(x, v):
    """Return the gradient at x of y = 3 * x ** 2 for the external gradient v."""
    ### BEGIN SOLUTION
    return 6 * x * v
    ### END SOLUTION'''

IMPLIED = '''def implied(y):
    """Return the gradient of y with respect to itself, as backward() would imply it."""
    ### BEGIN SOLUTION
    return torch.autograd.grad(y, y)[0]
    ### END SOLUTION'''

REFERENCES = """from authoring.reference import Reference, numbers, reference


@reference("90.1")
def _():
    def cases(rng):
        for shape in [(2,), (2, 3)]:
            yield {"x": numbers(rng, shape), "v": numbers(rng, shape)}

    def answer(x, v):
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad(3 * leaf**2, leaf, v)[0]

    def external_gradient_alone(x, v):
        "It still has to be multiplied by dy/dx."
        return v

    return Reference(cases, answer, [external_gradient_alone])


@reference("90.2")
def _():
    def cases(rng):
        for shape in [(), (1,), (2,)]:
            yield {"y": numbers(rng, shape), "scale": numbers(rng)}

    def answer(y):
        return torch.autograd.grad(y, y)[0]

    return Reference(cases, answer)


@reference("90.3")
def _():
    def cases(rng):
        for shape in [(3,), (1, 2)]:
            yield {"x": numbers(rng, shape), "v": numbers(rng, shape)}

    def answer(x, v):
        return -6 * x * v

    return Reference(cases, answer)"""

CHECK_1 = 'check("90.1 the gradient at x", pull_back, autograd=False)'

CHECK_2 = """def scaled(answer, case):
    return Scaled(float(case["scale"])).of(answer(case["y"].requires_grad_()))


def negative(answer, case):
    return -pull_back(**case)


check("90.2 the implied one", implied, scaled)
check("90.3 the gradient at x, negative", pull_back, negative)"""


def _cell(source: str, grade_id: str, points: int | None = None):
    return new_code_cell(source, id=grade_id, metadata={"nbgrader": returned_notebooks.marks(grade_id, points)})


def solved_notebook():
    """Return the solved notebook of the tiny chapter; its second check cell contains two checks."""
    cells = [
        new_markdown_cell("# Tiny"),
        new_code_cell(SETUP, metadata={"tags": ["setup"]}),
        _cell(PULL_BACK, "answer-1"),
        new_code_cell(REFERENCES, metadata={"tags": ["reference"]}),
        _cell(CHECK_1, "check-1", 2),
        _cell(IMPLIED, "answer-2"),
        _cell(CHECK_2, "check-2", 3),
    ]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def changed(points: int = 2, third: bool = False, second: bool = True, sign: str = ""):
    """Return the solved notebook with changed points, exercises or answers.

    sign: a factor for the first exercise's expected gradient with respect to x.
    """
    nb = solved_notebook()
    references = nb.cells[3]
    cell_of(nb, "check-1").metadata["nbgrader"]["points"] = points
    cell_of(nb, "answer-1").source = PULL_BACK.replace("return 6", f"return {sign}6")
    references.source = references.source.replace("return torch.autograd.grad(3", f"return {sign}torch.autograd.grad(3")
    if third:
        first = references.source.split("\n\n\n")[1]
        references.source += "\n\n\n" + first.replace("90.1", "90.4")
        nb.cells += [_cell(PULL_BACK.replace("pull_back", "again"), "answer-3")]
        nb.cells += [_cell('check("90.4 the gradient at x, again", again)', "check-3", 1)]
    if not second:
        nb.cells.remove(cell_of(nb, "answer-2"))
        nb.cells.remove(cell_of(nb, "check-2"))
    return nb


@functools.cache
def generated() -> tempfile.TemporaryDirectory:
    """Return a class after nbgrader generate_assignment, made once per process."""
    made = tempfile.TemporaryDirectory(prefix="tiny-class-")
    TinyClass(Path(made.name, "class"), solved=solved_notebook())
    return made


@functools.cache
def threads() -> LocalCluster:
    """Return Dask workers as threads of this process, which share its fork server and imports.

    Worker processes, which grading starts by default, are tested in test_parallel.py. Dask closes the threads at exit.
    """
    with dask.config.set(cluster.LOCAL):
        return LocalCluster(
            n_workers=1,
            threads_per_worker=8,
            processes=False,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=50,
        )


def nbgrader(folder: Path, *words: str) -> None:
    """Run an nbgrader command in `folder` as its program does, but in this process."""
    with contextlib.chdir(folder):
        app = NbGraderApp.instance()
        try:
            app.initialize(list(words))
            with contextlib.suppress(NoStart):  # a subcommand has run
                app.start()
        finally:
            (app.subapp or app).clear_instance()


def cell_of(nb, name: str):
    """Return the cell with this id or grade_id."""
    return next(
        cell for cell in nb.cells if name in (cell.get("id"), cell.metadata.get("nbgrader", {}).get("grade_id"))
    )


def csv_rows(path: Path | str) -> list[dict[str, str]]:
    """Return the rows of a CSV file below its head."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pack(path: Path, members: dict | list) -> Path:
    """Write an archive like a platform's, with texts by name, or pairs of both; return its path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items() if isinstance(members, dict) else members:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            info.external_attr = info.external_attr or (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, text, zipfile.ZIP_DEFLATED)
    return path


def write_settings(folder: Path, *lines: str) -> Path:
    """Write nbgrader_config.py as an instructor does, with `lines` at its end; return the class folder beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    configured = f"c = configure(get_config(), {str(folder / 'class')!r})"
    text = "\n".join(["from autograder.settings import configure", "", configured, *lines, ""])
    (folder / "nbgrader_config.py").write_text(text)
    return folder / "class"


class TinyClass:
    """A class folder with the tiny chapter generated, and methods to submit, grade and read the results.

    solved: generate this chapter, instead of copying a generated class.
    """

    def __init__(self, folder: Path, solved=None):
        self.folder = folder
        if solved:
            self.write_source(solved)
        else:
            shutil.copytree(Path(generated().name, "class"), folder, symlinks=True)
        self.api = class_api(folder)
        if solved:
            assert self.api.generate_assignment(NAME)["success"]

    @classmethod
    def copy_of(cls, other: "TinyClass", folder: Path) -> "TinyClass":
        """Return a copy of a class with everything in its folder."""
        shutil.copytree(other.folder, folder, symlinks=True)
        return cls.at(folder)

    @classmethod
    def at(cls, folder: Path) -> "TinyClass":
        """Return the class that is in a folder."""
        tiny = object.__new__(cls)
        tiny.folder, tiny.api = folder, class_api(folder)
        return tiny

    def command(self, *words: str) -> int:
        """Run one of our commands on the class; return its exit code."""
        return main([*map(str, words), "--class", str(self.folder)])

    def write_source(self, notebook) -> None:
        """Write the solved notebook into the class's own source folder."""
        path = self.folder / "source" / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)

    def add(self, student: str, **known) -> None:
        """Add a student to the gradebook."""
        with self.api.gradebook as gradebook:
            gradebook.update_or_create_student(student, **known)

    def submission(self, student: str) -> Path:
        """Return the folder of a student's submission."""
        return self.folder / "submitted" / student / NAME

    def hand_in(
        self, student: str, answers: dict[str, str] | None = None, change=None, text: str | None = None
    ) -> None:
        """Submit a copy of the release for a student, with answers by grade_id, changed cells, or a different text."""
        folder = self.submission(student)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder / "release" / NAME, folder)
        path = folder / f"{NAME}.ipynb"
        nb = nbformat.read(path, as_version=4)
        for cell in nb.cells:
            cell.source = (answers or {}).get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
        if change:
            change(nb)
        path.write_text(nbformat.writes(nb) if text is None else text)

    def grade(self, *students: str, force: bool = False) -> dict[str, str]:
        """Grade, and return the status of each submission."""
        return {outcome.student: outcome.status for outcome in self.outcomes(*students, force=force)}

    def outcomes(self, *students: str, force: bool = False, **options):
        """Grade on threads of this process; yield one Outcome per submission."""
        options.setdefault("scheduler", threads().scheduler_address)
        yield from grade(self.folder, NAME, force, list(students), **options)

    def grader(self) -> Grader:
        """Return a grader with the class's current settings and files."""
        return Grader(class_api(self.folder), NAME)

    def rows(self) -> dict[str, Row]:
        """Return the report's rows by student."""
        return {row.student: row for row in gather(class_api(self.folder).coursedir, NAME).rows}

    def grade_here(self, *students: str) -> list[str]:
        """Grade who is due, or these students, without a cluster; return whom."""
        grader = self.grader()
        chosen = [*students] or [one for one in submitted(grader.course, NAME) if grader.why_due(one)]
        for student in chosen:
            grader.grade_here(student)
        return chosen

    def set_by_hand(self, student: str, points: float, comment: str = "") -> None:
        """Set the points of the first check, and the comment on the first answer, as Formgrader does."""
        with self.api.gradebook as gradebook:
            one = gradebook.find_grade("check-1", NAME, NAME, student)
            one.manual_score, one.needs_manual_grade = points, False
            gradebook.find_comment("answer-1", NAME, NAME, student).manual_comment = comment
            gradebook.db.commit()

    def stamp(self, student: str, when: str) -> None:
        """Write the time of a submission as nbgrader's exchange does."""
        (self.submission(student) / "timestamp.txt").write_text(when)

    def page(self, student: str) -> Path:
        """Return the path of a student's feedback page."""
        return self.folder / "feedback" / student / NAME / f"{NAME}.html"

    def points(self, student: str) -> list[float | None]:
        """Return the gradebook's points for the two check cells, None if there are none."""
        with self.api.gradebook as gradebook:
            grades = sorted(gradebook.find_submission_notebook(NAME, NAME, student).grades, key=lambda g: g.name)
            return [g.score if g.auto_score is not None or g.manual_score is not None else None for g in grades]

    def autograded(self, student: str):
        """Return a student's autograded notebook."""
        return nbformat.read(self.folder / "autograded" / student / NAME / f"{NAME}.ipynb", as_version=4)

    def verdict(self, student: str, grade_id: str) -> str:
        """Return the text of a check cell in the autograded notebook."""
        cell = cell_of(self.autograded(student), grade_id)
        return "\n".join("".join(output.get("text", output.get("traceback", ""))) for output in cell.outputs)


RIGHT = {"answer-1": PULL_BACK, "answer-2": IMPLIED}
SLIP = RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"}  # worth 0 and 1.5 points

PER_HOUR = """from nbgrader.plugins import BasePlugin


class PerHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600
"""
