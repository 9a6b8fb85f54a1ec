"""Add an exercise to a solved chapter: five cells with their ids and metadata, which an author then rewrites."""

import re
from textwrap import dedent

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_grade

from .build import write
from .chapter import chapter_names, source_path
from .places import ChapterError

STATEMENT = """\
    ### Exercise {exercise} · A title

    1 point · difficulty ●●○○○ · importance ●●●○○ · 5 minutes

    Write a function that returns the gradient at `x` of `x**3`, for an external gradient `v`.

    **Example.** For `x = [1, 2]` and `v = [1, 10]`, the answer is `[3, 120]`."""
ANSWER = '''\
    def new_answer(x, v):
        """Return the gradient at x of x**3, for the external gradient v.

        x, v: float64 tensors of the same shape. Returns a tensor of that shape without a graph.
        """
        ### BEGIN SOLUTION
        return v * 3 * x**2
        ### END SOLUTION'''
HELP = """\
    <details><summary>Hint</summary>

    What leads to the idea.

    </details>
    <details><summary>Approach</summary>

    The steps, in words.

    </details>"""
REFERENCE = """\
    @reference("{exercise}")
    def _():
        def cases(rng):
            yield {{"says": "the example", "x": np.array([1.0, 2.0]), "v": np.array([1.0, 10.0])}}
            for shape in [(), (3,), (2, 3), (0,)]:
                yield {{"says": f"x and v of shape {{shape}}", "x": numbers(rng, shape), "v": numbers(rng, shape)}}

        def answer(x, v):
            leaf = x.clone().requires_grad_()
            return torch.autograd.grad(leaf**3, leaf, grad_outputs=v)[0]

        def external_gradient_unscaled(x, v):
            "You returned the external gradient itself. It still has to be multiplied by dy/dx."
            return v

        def by_formula(x, v):
            return v * 3 * x**2

        return Reference(cases, answer, slips=[external_gradient_unscaled], others=[by_formula])"""
CHECK = """\
    # Tested: several shapes, also an empty one, with external gradients that are not all ones.
    check("{exercise} a title", new_answer)"""


def add(chapter: str) -> str:
    """Write a new exercise's cells into a solved chapter, given by name or number, after its last; return its id.

    The cells hold a small exercise that builds. Raises ChapterError if the chapter is unknown or has no exercise yet.
    """
    chapter = next((name for name in chapter_names() if name.startswith(f"{chapter}_")), chapter)
    path = source_path(chapter)
    nb = nbformat.read(path, as_version=4)
    checks = [k for k, cell in enumerate(nb.cells) if is_grade(cell)]
    if not checks:
        raise ChapterError(f"{chapter} has no exercise yet. Copy the cells of the first one from another chapter.")
    ids = [nb.cells[k].metadata.nbgrader.grade_id for k in checks]
    last = max(int(match[1]) for name in ids if (match := re.match(rf"check-{chapter[:2]}-(\d+)", name)))
    after = checks[-1] + 1
    while nb.cells[after].id.startswith("payoff-"):
        after += 1
    nb.cells[after:after] = _cells(chapter[:2], last + 1)
    write(nb, path)
    return f"{chapter[:2]}.{last + 1}"


def _cells(chapter: str, number: int) -> list[NotebookNode]:
    exercise, suffix = f"{chapter}.{number}", f"{chapter}-{number}"
    texts = [dedent(text) for text in (STATEMENT, ANSWER, HELP, REFERENCE, CHECK)]
    statement, answer, helps, reference, check = (
        text.format(exercise=exercise) if "{exercise}" in text else text for text in texts
    )
    graded = {"grade": True, "grade_id": f"check-{suffix}", "locked": True, "points": 1, "solution": False}
    solved = {"grade": False, "grade_id": f"answer-{suffix}", "locked": False, "solution": True}
    return [
        new_markdown_cell(statement, id=f"ex{number}-statement"),
        new_code_cell(answer, id=f"answer-{suffix}", metadata={"nbgrader": _metadata(solved)}),
        new_markdown_cell(helps, id=f"ex{number}-help"),
        new_code_cell(reference, id=f"reference-{suffix}", metadata={"tags": ["reference"]}),
        new_code_cell(check, id=f"check-{suffix}", metadata={"nbgrader": _metadata(graded)}),
    ]


def _metadata(own: dict) -> dict:
    return own | {"schema_version": 3, "task": False}
