"""Whatever form a notebook comes back in, its answers get their points, or the reason is given."""

import re
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from returned_notebooks import EXERCISES, FORMS, NAME, NONE_OF_THEM, released
from tiny_class import TinyClass, nbgrader, write_settings

from autograder.steps import outcome
from autograder.views.renderings import to_do
from autograder.views.report import gather
from gradlab import ipynb
from gradlab.setup import edition

REFERENCES = """from authoring.reference import Reference, numbers, reference


@reference("91.1")
def _():
    def cases(rng):
        for shape in [(2,), (2, 3)]:
            yield {"x": numbers(rng, shape), "v": numbers(rng, shape)}

    def answer(x, v):
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad(3 * leaf**2, leaf, v)[0]

    return Reference(cases, answer)


@reference("91.2")
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


def solved() -> nbformat.NotebookNode:
    """Return the solved notebook from which nbgrader makes the released one."""
    begin, end = "    ### BEGIN SOLUTION\n", "\n    ### END SOLUTION"
    sources = {name: f"{start}\n{begin}{answer}{end}" for name, (start, answer) in EXERCISES.items()}
    inner = sources["answer-2"].replace("    ###", "        ###")
    nb = nbformat.from_dict(released(sources | {"answer-2": inner}))
    nb.cells[1].source = re.sub("^# No module.*\n", "", nb.cells[1].source, flags=re.MULTILINE)  # which nbgrader adds
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


@pytest.fixture(scope="module")
def updated(folder):
    """Every form after the student's copy took in a new edition, graded by nbgrader's own command."""
    files = {}
    for name, form in FORMS.items():
        new = released()
        new["cells"].insert(3, {"cell_type": "markdown", "id": "news", "metadata": {}, "source": "News"})
        try:
            files[name] = edition.merge(released(), ipynb.read(form.data()), new, f"{NAME}.before").to_json()
        except ipynb.Unreadable:
            files[name] = form.data()
    hand_in(folder, files)
    nbgrader(folder.folder.parent, "autograde", NAME)
    return folder


def results(tiny: TinyClass) -> dict[str, tuple[list, str]]:
    """Return each submission's points, and the reason if it could not be graded."""
    return {form: (tiny.points(form), outcome.read(tiny.autograded(form)).could_not_grade) for form in FORMS}


def test_every_answer_gets_its_points_in_whatever_form_it_comes_back(graded):
    found = results(graded)
    assert {form: points for form, (points, _) in found.items()} == {f: list(one.points) for f, one in FORMS.items()}
    for form, (_, reason) in found.items():
        assert FORMS[form].words in reason
        assert bool(reason) == bool(FORMS[form].words)
    lost = "No check could run, so there are no points: look at the submission: a syntax error in every answer"
    assert to_do(gather(graded.api.coursedir, NAME, search=False)) == [lost]


def test_so_it_does_after_a_new_edition_and_with_nbgraders_own_command(updated):
    """The new edition gives its cells even to a notebook that had none of them; so that one has a score."""
    found = {form: points for form, (points, _) in results(updated).items()}
    for form in (name for name, form in FORMS.items() if form.words == NONE_OF_THEM):
        assert None not in found.pop(form)
    assert found == {form: list(FORMS[form].points) for form in found}
