"""Whatever form a notebook comes back in, its answers get their points, or the reason is given."""

import contextlib
import json
import shutil
import threading
from concurrent.futures import Future
from dataclasses import replace

import nbformat
import pytest
import tiny_class
from lab_server import HANG_S
from nbformat.v4 import new_code_cell
from returned_notebooks import EXERCISES, FORMS, NAME, released
from tiny_class import TinyClass, write_settings

from autograder.steps import outcome
from autograder.steps.execute import execute
from autograder.views.renderings import to_do
from autograder.views.report import gather
from gradlab import ipynb
from gradlab.setup import edition

IMPORTS, FIRST, *_ = tiny_class.REFERENCES.split("\n\n\n")
OTHERS = """@reference("91.2")
def _():
    def cases(rng):
        for shape in [(2,), (3, 1)]:
            yield {"y": numbers(rng, shape), "scale": numbers(rng)}

    class Answer:
        def gradient(self, y):
            return torch.ones_like(y)

    return Reference(cases, Answer)


@reference("91.3")
def _():
    def cases(rng):
        for shape in [(2,), (3, 1)]:
            yield {"x": numbers(rng, shape)}

    return Reference(cases, lambda x: x + x)"""
REFERENCES = "\n\n\n".join([IMPORTS, FIRST.replace("90.1", "91.1"), OTHERS])


def solved() -> nbformat.NotebookNode:
    """Return the solved notebook from which nbgrader makes the released one."""
    begin, end = "    ### BEGIN SOLUTION\n", "\n    ### END SOLUTION"
    sources = {name: f"{start}\n{begin}{answer}{end}" for name, (start, answer) in EXERCISES.items()}
    inner = sources["answer-2"].replace("    ###", "        ###")
    nb = nbformat.from_dict(released(sources | {"answer-2": inner}))
    nb.cells[0].source, nb.cells[1].source = "# A chapter", tiny_class.SETUP  # without what nbgrader adds
    nb.cells.insert(2, new_code_cell(REFERENCES, metadata={"tags": ["reference"]}))
    return nb


# test_edition.py takes every form into a new edition, without grading it
SOME = ["as JupyterLab saves it", "Colab", "nbformat 3", "metadata cleaned", "cut off", "another chapter"]
SOME += ["all set-up deleted", "retyped above", "all answers in one cell", "a better copy", "all checks at the end"]
SOME += ["a wrong copy above the check", "only answers, ids lost", "only set-up and checks"]
UPDATED = " updated"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class with every form, and some after the student's copy took in a new edition, graded."""
    folder = write_settings(tmp_path_factory.mktemp("returned"))
    tiny = TinyClass(folder, solved=solved())
    made = ipynb.read((folder / "release" / NAME / f"{NAME}.ipynb").read_bytes())
    assert [(cell["id"], cell["source"]) for cell in made["cells"]] == [
        (cell["id"], cell["source"]) for cell in released()["cells"]
    ]
    new, files = released(), {name: form.data() for name, form in FORMS.items()}
    new["cells"].insert(3, {"cell_type": "markdown", "id": "news", "metadata": {}, "source": "News"})
    for name in SOME:
        files[name + UPDATED] = files[name]
        with contextlib.suppress(ipynb.Unreadable):
            merged = edition.Merge(released(), ipynb.read(files[name]), new, f"{NAME}.before").notebook
            files[name + UPDATED] = edition.to_json(merged)
    for student, data in files.items():
        place = tiny.submission(student)
        shutil.copytree(tiny.folder / "release" / NAME, place)
        (place / f"{NAME}.ipynb").write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.steps.runs.execute", Once().execute)
        tiny.grade()
    return tiny


class Once:
    """Runs notebooks with the same cells once: most forms differ only until they are restored."""

    def __init__(self):
        self.ran, self.lock = dict[str, Future](), threading.Lock()

    def execute(self, job, files):
        notebook = json.loads(job.notebook)
        cells = [(cell["cell_type"], cell["source"], ipynb.grade_id(cell)) for cell in notebook["cells"]]
        key = json.dumps([cells, sorted(job.skip)])
        with self.lock:
            first = key not in self.ran
            ran = self.ran.setdefault(key, Future())
        if first:
            ran.set_result(execute(job, files))
        result = ran.result(HANG_S)
        for cell, run in zip(notebook["cells"], json.loads(result.notebook)["cells"], strict=True):
            if cell["cell_type"] == "code":
                cell["outputs"], cell["execution_count"] = run["outputs"], run["execution_count"]
        return replace(result, notebook=json.dumps(notebook))


def test_every_answer_gets_its_points_in_whatever_form_it_comes_back(graded):
    assert {form: graded.points(form) for form in FORMS} == {form: list(one.points) for form, one in FORMS.items()}
    for form, one in FORMS.items():
        reason = outcome.read(graded.autograded(form)).could_not_grade
        assert one.words in reason
        assert bool(reason) == bool(one.words)
    lost = "No check could run, so there are no points: look at the submission: a syntax error in every answer"
    assert to_do(gather(graded.api.coursedir, NAME, search=False)) == [lost]


def test_so_it_does_after_a_new_edition(graded):
    """The new edition gives its cells even to a notebook that had none of them; so that one has a score."""
    points = {form: graded.points(form + UPDATED) for form in SOME}
    assert None not in points.pop("another chapter")
    assert points == {form: list(FORMS[form].points) for form in points}
