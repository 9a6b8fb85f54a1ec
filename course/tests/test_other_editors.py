"""A check in a real kernel with the requests that other editors send, and with the files that they save.

VS Code's Jupyter extension names a cell by its document's address. Colab, nbclient and a terminal name none. Colab,
Jupytext and older editors save notebooks without ids (nbformat 4.4).
"""

import itertools
import json
import os
import shutil
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

CHAPTERS = Path(__file__).parents[1] / "chapters"
CHAPTER = "02_external_gradients"
TITLE = "02.1 the gradient that arrives at x"
RIGHT = "def pull_back(x, v):\n    return 3 * x**2 * v"
WRONG = "def pull_back(x, v):\n    return v"
SAVED = itertools.count(1)  # the time of each file, whatever the clock's resolution


class Editor:
    """A chapter's notebook in an editor, and a kernel in its folder; `names` tells how its requests name a cell."""

    def __init__(self, path, client, names, ids: bool):
        self.path, self.client, self.names = path, client, names
        self.notebook = json.loads(path.read_text(encoding="utf-8"))
        self.notebook["nbformat_minor"] = 5 if ids else 4
        self.cells = {cell["id"] if ids else cell.pop("id"): cell for cell in self.notebook["cells"]}
        self.save()

    def save(self) -> None:
        self.path.write_text(json.dumps(self.notebook), encoding="utf-8")
        os.utime(self.path, ns=(saved := next(SAVED), saved))

    def insert(self, name: str, source: str) -> None:
        """Put a code cell of the learner's own above all others."""
        cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        self.cells[name] = cell | ({"id": name} if self.notebook["nbformat_minor"] == 5 else {})
        self.notebook["cells"].insert(0, self.cells[name])

    def run(self, name: str) -> str:
        """Run a cell and return the texts that it shows."""
        text, shown = "".join(self.cells[name]["source"]), []
        place = list(self.cells).index(name)
        content = {"code": text, "silent": False, "store_history": True, "allow_stdin": False}
        message = self.client.session.msg("execute_request", content, metadata=self.names(self.path, place))
        self.client.shell_channel.send(message)
        while True:
            reply = self.client.get_iopub_msg(timeout=300)
            if reply["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            if reply["content"].get("execution_state") == "idle":
                return "\n".join(shown)
            shown += reply["content"].get("traceback", [])
            shown += filter(None, [reply["content"].get("data", {}).get("text/plain")])


def vs_code(path, place):
    return {"cellId": f"vscode-notebook-cell:{path.as_posix()}#W{place}sZmlsZQ%3D%3D"}


EDITORS = {
    "VS Code": (vs_code, True),
    "VS Code, an old notebook": (vs_code, False),
    "no cell is named": (lambda path, place: {}, False),
}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel in a chapter's folder, and the path of its notebook."""
    folder = tmp_path_factory.mktemp("editors") / CHAPTER
    shutil.copytree(CHAPTERS / CHAPTER, folder)
    manager, client = start_new_kernel(cwd=str(folder))
    yield folder / f"{CHAPTER}.ipynb", client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture(params=EDITORS)
def editor(kernel, request):
    """The chapter as it was released, in one of the editors; its set-up has run."""
    path, client = kernel
    shutil.copy(CHAPTERS / CHAPTER / path.name, path)
    editor = Editor(path, client, *EDITORS[request.param])
    editor.run("setup")
    return editor


def answer(editor, source: str, name: str = "answer-02-1") -> str:
    """Write a cell's text, run the cell and the check, and return what the check shows."""
    editor.cells[name]["source"] = source
    editor.run(name)
    return editor.run("check-02-1")


def test_the_answer_that_ran_is_judged_unless_a_later_version_was_saved(editor):
    for source, verdict in ((RIGHT, "passed"), (WRONG, "not yet"), (RIGHT, "passed")):
        assert f"{TITLE}: {verdict}" in answer(editor, source)
        editor.save()
        assert f"{TITLE}: {verdict}" in editor.run("check-02-1")
    editor.cells["answer-02-1"]["source"] = WRONG
    editor.save()
    assert "the cell that defines it does not hold what ran last." in editor.run("check-02-1")
    assert f"{TITLE}: not yet" in answer(editor, WRONG)


def test_an_answer_in_a_cell_that_is_not_graded_is_refused_once_it_is_saved(editor):
    editor.insert("scratch", "")
    assert f"{TITLE}: passed" in answer(editor, RIGHT, "scratch"), "nothing says yet where it is"
    editor.save()
    assert "is graded, but pull_back was last defined outside it" in editor.run("check-02-1")
    assert f"{TITLE}: passed" in answer(editor, RIGHT)
    editor.save()
    assert f"{TITLE}: passed" in editor.run("check-02-1")
