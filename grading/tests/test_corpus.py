"""Whatever form a notebook comes back in, its answers get their points, or the reason is given."""

import contextlib
import shutil

import nbformat
import pytest
import tiny_class
from nbformat.v4 import new_code_cell
from returned_notebooks import EXERCISES, FORMS, NAME, released
from tiny_class import TinyClass, write_settings

from autograder.steps import outcome
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A class with the small chapter of the corpus, without submissions."""
    folder = write_settings(tmp_path_factory.mktemp("returned"))
    tiny = TinyClass(folder, solved=solved())
    made = ipynb.read((folder / "release" / NAME / f"{NAME}.ipynb").read_bytes())
    assert [(cell["id"], cell["source"]) for cell in made["cells"]] == [
        (cell["id"], cell["source"]) for cell in released()["cells"]
    ]
    return tiny


def hand_in(tiny: TinyClass, files: dict[str, bytes]) -> None:
    """Submit one notebook file for each student."""
    for student, data in files.items():
        place = tiny.submission(student)
        shutil.copytree(tiny.folder / "release" / NAME, place)
        (place / f"{NAME}.ipynb").write_bytes(data)


@pytest.fixture(scope="module")
def graded(folder, tmp_path_factory):
    """Every form, graded."""
    tiny = TinyClass.copy_of(folder, tmp_path_factory.mktemp("graded") / "class")
    hand_in(tiny, {name: form.data() for name, form in FORMS.items()})
    tiny.grade()
    return tiny


# test_returned.py takes every form into a new edition, without grading it
SOME = ["as JupyterLab saves it", "Colab", "nbformat 3, no metadata", "metadata cleaned", "cut off", "another chapter"]
SOME += ["all set-up deleted", "retyped above", "all answers in one cell", "a better copy", "all checks at the end"]
SOME += ["a wrong copy above the check", "only answers, ids lost", "only set-up and checks"]


@pytest.fixture(scope="module")
def updated(folder):
    """The points of some forms after the student's copy took in a new edition."""
    new, files = released(), {}
    new["cells"].insert(3, {"cell_type": "markdown", "id": "news", "metadata": {}, "source": "News"})
    for name in SOME:
        data = FORMS[name].data()
        with contextlib.suppress(ipynb.Unreadable):
            data = edition.to_json(edition.merge(released(), ipynb.read(data), new, f"{NAME}.before").notebook)
        files[name] = data
    hand_in(folder, files)
    folder.grade()
    return {name: folder.points(name) for name in SOME}


def test_every_answer_gets_its_points_in_whatever_form_it_comes_back(graded):
    assert {form: graded.points(form) for form in FORMS} == {form: list(one.points) for form, one in FORMS.items()}
    for form, one in FORMS.items():
        reason = outcome.read(graded.autograded(form)).could_not_grade
        assert one.words in reason
        assert bool(reason) == bool(one.words)
    lost = "No check could run, so there are no points: look at the submission: a syntax error in every answer"
    assert to_do(gather(graded.api.coursedir, NAME, search=False)) == [lost]


def test_so_it_does_after_a_new_edition(updated):
    """The new edition gives its cells even to a notebook that had none of them; so that one has a score."""
    assert None not in updated.pop("another chapter")
    assert updated == {form: list(FORMS[form].points) for form in updated}
