"""A small released notebook, and the forms in which it comes back: after every editor, habit and mishap.

`FORMS` has, by name, how a solved copy is changed, the points that it must get, and, if it cannot be graded, words of
the reason. Course and grading tests use the same table.
"""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass

NAME = "90_tiny"
TODO = "    # Your turn: replace the next line with your code.\n    raise NotImplementedError()"

OPENING = """# A chapter

<p class="gl-elsewhere">In JupyterLab, which <code>make lab</code> opens in the course's folder, you guess,
check your answers and move sliders. Elsewhere, as on GitHub, in nbviewer or in Colab, you see text, code and saved
pictures. Skip the cells there that begin with <code># Tested</code>, <code># You will see</code> or
<code># Set up</code>: JupyterLab folds them.</p>"""
SETUP = """import torch

# No module named 'gradlab'? Then this is the wrong Python: run `make lab` in the course's folder.
from gradlab import check, summary


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def of(self, tensor):
        return tensor * self.scale"""
NODE = '''class Node:
    """A step of the backward pass."""

    def seed(self, y):
        return torch.ones(list(y.shape), dtype=y.dtype)'''
ATTACH = "Root.scale = 2.0"
LESSON = 'print("lesson")'

# by id: the start of the cell, and what solves it
EXERCISES = {
    "answer-1": (
        'def pull_back(x, v):\n    """Return the gradient at x of y = 3 * x ** 2 for the external gradient v."""',
        "    return 6 * x * v",
    ),
    "answer-2": (
        'class Root(Node):\n    """The last node of a graph."""\n\n    def gradient(self, y):',
        "        return self.seed(y)",
    ),
    "answer-3": ('def doubled(x):\n    """Return 2 * x."""', "    return 2 * x"),
}
ANSWERS = {name: "\n".join(parts) for name, parts in EXERCISES.items()}
STUBS = {name: f"{start}\n{TODO}" for name, (start, _) in EXERCISES.items()}
STUBS["answer-2"] = STUBS["answer-2"].replace("    #", "        #").replace("    raise", "        raise")
CHECKS = {
    "check-1": 'check("91.1 the gradient at x", pull_back, autograd=False)',
    "check-2": """def of_root(answer, case):
    return Scaled(case["scale"]).of(answer().gradient(case["y"]))


check("91.2 the gradient at the root", Root, of_root)""",
    "check-3": """def scaled(answer, case):
    return Root.scale * answer(case["x"])


check("91.3 twice", doubled, scaled)""",
}
POINTS = {"check-1": 1, "check-2": 2, "check-3": 4}
ALL = [1, 2, 4]


def _cell(cell_id: str, source: str, kind: str = "code", **metadata) -> dict:
    made = {"cell_type": kind, "id": cell_id, "metadata": metadata, "source": source}
    return {**made, "outputs": [], "execution_count": None} if kind == "code" else made


def marks(cell_id: str, points: int | None) -> dict:
    """Return nbgrader's metadata of a check with these points, or of an answer."""
    found = {"grade": points is not None, "grade_id": cell_id, "locked": points is not None, "schema_version": 3}
    return found | {"solution": points is None, "task": False} | ({} if points is None else {"points": points})


def released(answers: dict[str, str] = STUBS) -> dict:
    """Return the released notebook, or one with these sources in the cells for answers."""
    graded = {
        name: _cell(name, source, nbgrader=marks(name, POINTS.get(name))) for name, source in (answers | CHECKS).items()
    }
    cells = [
        _cell("opening", OPENING, "markdown"),
        _cell("setup", SETUP, tags=["setup"]),
        _cell("s1", "## 1 · First", "markdown"),
        _cell("lesson", LESSON),
        graded["answer-1"],
        _cell("hints-1", "<details><summary>Hint</summary>Multiply.</details>", "markdown"),
        graded["check-1"],
        _cell("engine-node", NODE, tags=["setup", "engine"]),
        graded["answer-2"],
        graded["check-2"],
        _cell("engine-attach", ATTACH, tags=["setup", "engine"]),
        _cell("s2", "## 2 · Second", "markdown"),
        graded["answer-3"],
        graded["check-3"],
        _cell("summary", "summary()"),
    ]
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}


class Copy:
    """A student's copy, in which all exercises are solved, with what editors and students do to it."""

    def __init__(self):
        self.notebook = released(ANSWERS)
        self.cells: list[dict] = self.notebook["cells"]

    def __getitem__(self, cell_id: str) -> dict:
        return self.cells[self.at(cell_id)]

    def at(self, cell_id: str) -> int:
        return next(place for place, cell in enumerate(self.cells) if cell.get("id") == cell_id)

    def write(self, cell_id: str, source: str, **fields) -> None:
        self[cell_id].update(source=source, **fields)

    def untouched(self, *names: str) -> None:
        """Put the released text into these answers' cells, or into all."""
        for name in names or ANSWERS:
            self.write(name, STUBS[name])

    def delete(self, *cell_ids: str) -> None:
        for cell_id in cell_ids:
            del self.cells[self.at(cell_id)]

    def move(self, cell_id: str, after: str | None) -> None:
        """Move a cell below another one; None: to the top."""
        cell = self.cells.pop(self.at(cell_id))
        self.cells.insert(0 if after is None else self.at(after) + 1, cell)

    def own(self, source: str, after: str | None, kind: str = "code") -> None:
        """Insert a cell of the student's own below another one; None: at the top."""
        cell = _cell(f"new-{len(self.cells)}", source, kind)
        self.cells.insert(0 if after is None else self.at(after) + 1, cell)

    def duplicate(self, cell_id: str, source: str, after: str | None) -> None:
        """Copy a cell with its metadata, as JupyterLab does, and set the copy's source."""
        self.own(source, after)
        self.cells[0 if after is None else self.at(after) + 1]["metadata"] = copy.deepcopy(self[cell_id]["metadata"])

    def lose(self, ids: bool = False, metadata: bool = False, minor: int = 4) -> None:
        """Remove ids, cells' metadata or both, as editors do that do not know them."""
        for cell in self.cells:
            if ids:
                cell.pop("id", None)
                self.notebook["nbformat_minor"] = minor
            if metadata:
                cell["metadata"] = {}


# --- editors ---------------------------------------------------------------------------------------------------------


def colab(nb: Copy) -> None:
    """Colab keeps ids in the metadata, and writes nbformat 4.0."""
    for number, cell in enumerate(nb.cells):
        cell["metadata"] |= {"id": f"aBcDeF{number}", "colab": {"base_uri": "https://localhost:8080/"}}
        cell["source"] = cell["source"].splitlines(keepends=True)
    nb.lose(ids=True, minor=0)
    nb.notebook["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3", "display_name": "P"}}


def jupytext(nb: Copy) -> None:
    """Jupytext's py:percent and back drops ids and outputs, and the empty lines at the ends of a cell."""
    for cell in nb.cells:
        cell["source"] = cell["source"].strip("\n")
    nb.lose(ids=True, metadata=True, minor=5)
    nb.notebook["metadata"]["jupytext"] = {"text_representation": {"extension": ".py", "format_name": "percent"}}


def utf_16(nb: Copy) -> bytes:
    return json.dumps(nb.notebook, ensure_ascii=False).encode("utf-16")


def new_ids(nb: Copy) -> None:
    """Every cell has a new id, as after *Save as* in some editors."""
    for number, cell in enumerate(nb.cells):
        cell["id"] = f"fresh{number}"


def for_each(**fields) -> Callable[[Copy], object]:
    """Return a form in which these fields of every cell have other values."""
    return lambda nb: [cell.update(fields) for cell in nb.cells]


def sources(change: Callable[[str], object]) -> Callable[[Copy], object]:
    """Return a form in which every source is changed."""
    return lambda nb: [cell.update(source=change(cell["source"])) for cell in nb.cells]


def same_id_twice(nb: Copy) -> None:
    nb["lesson"]["id"] = "answer-1"
    nb["answer-1"]["metadata"] = {}  # the lesson, which comes first


def surrogate(nb: Copy) -> bytes:
    nb.write("answer-1", ANSWERS["answer-1"] + "  # SURROGATE")
    nb.own("SURROGATE", "answer-1", "markdown")
    nb["lesson"]["metadata"] = {"SURROGATE": ["SURROGATE"]}
    return json.dumps(nb.notebook).replace("SURROGATE", "\\ud83d").encode()


# --- what students do ------------------------------------------------------------------------------------------------


def retyped(nb: Copy, name: str, after: str | None, source: str = "") -> None:
    """An answer is in a new cell, and the cell for it is as released."""
    nb.own(source or ANSWERS[name], after)
    nb.untouched(name)


def split(nb: Copy) -> None:
    helper = "def six(x):\n    return 6 * x"
    nb.duplicate("answer-1", "def pull_back(x, v):\n    return six(x) * v", "answer-1")
    nb.write("answer-1", helper)


def merged(nb: Copy) -> None:
    """An answer and its check became one cell, with the answer's id and metadata."""
    text = f"{nb['answer-1']['source']}\n\n{nb['check-1']['source']}"
    nb.delete("check-1")
    nb.write("answer-1", text)


def all_in_one(nb: Copy) -> None:
    nb.own("\n\n\n".join([NODE, *ANSWERS.values()]), "s1")
    nb.delete(*ANSWERS)


def each(names, act: Callable[[Copy, str], object]) -> Callable[[Copy], object]:
    """Return a form in which something is done to each of these cells."""
    return lambda nb: [act(nb, name) for name in names]


def in_markdown(nb: Copy) -> None:
    nb["answer-1"]["cell_type"] = "markdown"
    for name in ("outputs", "execution_count"):
        del nb["answer-1"][name]


def comment_out(nb: Copy, cell_id: str) -> None:
    nb.write(cell_id, "\n".join(f"# {line}" for line in nb[cell_id]["source"].splitlines()))


def only(*cell_ids: str, **lost) -> Callable[[Copy], object]:
    """Return a form of which only these cells are left."""

    def left(nb: Copy) -> None:
        nb.delete(*(cell["id"] for cell in list(nb.cells) if cell["id"] not in cell_ids))
        nb.lose(**lost)

    return left


def other_chapter(nb: Copy) -> None:
    nb.cells[:] = [_cell("setup", SETUP, tags=["setup"]), _cell("answer-7", "x = 1"), _cell("summary", "summary()")]


FIXED = ("setup", "engine-node", "engine-attach")


@dataclass(frozen=True)
class Form:
    """How a solved copy is changed before it is saved, or the bytes that are saved instead; see the module."""

    change: Callable[[Copy], object]
    points: tuple | list = tuple(ALL)
    words: str = ""

    def data(self) -> bytes:
        """Return the file that comes back."""
        nb = Copy()
        made = self.change(nb)
        return made if isinstance(made, bytes) else json.dumps(nb.notebook, indent=1).encode()


UNGRADED = (None, None, None)
NONE_OF_THEM = "the file contains none of the released notebook's cells; is it the right notebook?"
NOT_JSON = "the notebook file is not valid JSON; it was probably cut off or edited by hand."

FILES = {
    "as JupyterLab saves it": Form(lambda nb: None),
    "nothing solved": Form(lambda nb: nb.untouched(), (0, 0, 0)),
    "Colab": Form(colab),
    "old VS Code": Form(lambda nb: nb.lose(ids=True, minor=2)),
    "Jupytext, metadata filtered": Form(jupytext),
    "UTF-16": Form(utf_16),
    "CRLF": Form(sources(lambda source: source.replace("\n", "\r\n"))),
    "spaces at the ends of lines": Form(sources(lambda source: source.replace("\n", "  \n") + "\n\n")),
    "a lone surrogate": Form(surrogate),
    "new ids, no metadata": Form(lambda nb: (new_ids(nb), nb.lose(metadata=True))),
    "metadata cleaned": Form(lambda nb: nb.lose(metadata=True)),
    "the same id twice": Form(same_id_twice),
    "odd outputs": Form(for_each(outputs="none", execution_count="3", attachments=[])),
    "no kernel": Form(lambda nb: nb.notebook.update(metadata={"kernelspec": 3})),
    "cut off": Form(lambda nb: json.dumps(nb.notebook).encode()[:900], UNGRADED, NOT_JSON),
    "nbformat 3": Form(lambda nb: b'{"worksheets": [{"cells": []}], "nbformat": 3}', UNGRADED, "older than nbformat 4"),
    "another chapter": Form(other_chapter, UNGRADED, NONE_OF_THEM),
    "only sources": Form(only(*ANSWERS, ids=True, metadata=True)),
}

HABITS = {
    # set-up
    "all set-up deleted": Form(lambda nb: nb.delete(*FIXED)),
    "all set-up commented out": Form(each(FIXED, comment_out)),
    "set-up at the end": Form(each(FIXED, lambda nb, name: nb.move(name, nb.cells[-1]["id"]))),
    "an import added to set-up": Form(
        lambda nb: (
            nb.write("setup", f"import math as maths\n\n{SETUP}"),
            nb.write("answer-3", "def doubled(x):\n    return int(maths.sqrt(4)) * x"),
        )
    ),
    # answers in other cells
    "retyped above": Form(lambda nb: retyped(nb, "answer-1", "lesson")),
    "retyped as a lambda": Form(lambda nb: retyped(nb, "answer-3", "answer-3", "doubled = lambda x: 2 * x")),
    "retyped in a lesson": Form(
        lambda nb: (nb.untouched("answer-1"), nb.write("lesson", f"{LESSON}\n\n{ANSWERS['answer-1']}"))
    ),
    "an answer's metadata emptied": Form(lambda nb: nb["answer-1"].update(metadata={})),
    "an answer with neither": Form(lambda nb: nb["answer-1"].update(id="pasted", metadata={})),
    "all answers in one cell": Form(all_in_one),
    "an answer in Markdown": Form(in_markdown),
    "an answer split": Form(split),
    "answer and check merged": Form(merged),
    "a syntax error in every answer": Form(each(ANSWERS, lambda nb, name: nb.write(name, "def (")), (0, 0, 0)),
    # names
    "names of Python and of modules rebound": Form(
        lambda nb: nb.own("from torch import *\n\nlist = len = float = Scaled = torch = None", "setup")
    ),
    # copies
    "the stub copied below": Form(lambda nb: nb.duplicate("answer-1", STUBS["answer-1"], "answer-1")),
    "a better copy": Form(
        lambda nb: (
            nb.duplicate("answer-1", ANSWERS["answer-1"], "answer-1"),
            nb.write("answer-1", "def pull_back(x, v):\n    return v"),
        )
    ),
    "a wrong copy above the check": Form(
        lambda nb: nb.duplicate("answer-1", "def pull_back(x, v):\n    return v", "answer-1"), (0, 2, 4)
    ),
    # order
    "an answer at the top": Form(lambda nb: nb.move("answer-1", None)),
    "an answer below its check": Form(lambda nb: nb.move("answer-1", "check-1")),
    # checks
    "all checks deleted": Form(lambda nb: nb.delete(*CHECKS)),
    "all checks at the end": Form(each(CHECKS, lambda nb, name: nb.move(name, nb.cells[-1]["id"]))),
    # much at once
    "only answers, ids lost": Form(only(*ANSWERS, ids=True)),
    "only answers and checks, with neither": Form(only(*ANSWERS, *CHECKS, ids=True, metadata=True)),
    "only set-up and checks": Form(only(*FIXED, *CHECKS), (0, 0, 0)),
    "an own cell with a check's name": Form(
        lambda nb: (
            nb.write("answer-1", "def pull_back(x, v):\n    return v"),
            nb.duplicate("check-1", "def check(*a, **k):\n    pass", "check-3"),
        ),
        (0, 2, 4),
    ),
}

FORMS = FILES | HABITS
