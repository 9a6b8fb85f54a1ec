"""What one wrote on the course's site comes into the notebook of the same chapter, and replaces nothing."""

import pytest

from gradlab import ipynb
from gradlab.setup.commands import SetupError
from gradlab.setup.lab import COURSE
from gradlab.setup.taken_home import bring_in
from gradlab.setup.workspace import bring_up_to_date

NAME = "00_twenty_lines"
FIRST, SECOND = "class Value(Node):\n    size = 1", "def backward_chain(root):\n    root.grad = 1.0"
FILE = f"import math\n\n\n# %% Exercise 00.1\n{FIRST}\n\n\n# %% Exercise 00.2\n{SECOND}\n\n\n# %% Run it\nprint(1)\n"


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    bring_up_to_date({NAME: COURSE / "chapters" / NAME}, folder)
    return folder


def sources(workspace) -> dict[str, str]:
    """Return the text of each answer in the notebook."""
    cells = ipynb.read((workspace / NAME / f"{NAME}.ipynb").read_bytes())["cells"]
    return {ipynb.grade_id(cell): cell["source"] for cell in cells if ipynb.grade_id(cell)}


def brought(workspace, text: str | None) -> list[str]:
    """Bring in a file with this text; with None, there is no file."""
    file = workspace.parent / "twenty_lines.py"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    return bring_in(file, workspace)


def test_the_files_answers_are_in_the_notebooks_cells_and_nothing_else_changes(workspace):
    before = sources(workspace)
    assert brought(workspace, FILE) == [f"Brought into {NAME}: 00.1, 00.2. Run the checks there."]
    assert sources(workspace) == before | {"answer-00-1": FIRST, "answer-00-2": SECOND}
    assert brought(workspace, FILE) == [f"Brought into {NAME}: nothing new. Run the checks there."]


def test_an_answer_that_stands_in_the_notebook_stays(workspace):
    brought(workspace, FILE)
    says = brought(workspace, FILE.replace("size = 1", "size = 2"))
    assert says[1] == "00.1: your notebook has a different answer, which stays."
    assert sources(workspace)["answer-00-1"] == FIRST


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "No such file"),
        ("import math", "has no answers"),
        (FILE.replace("00.", "77."), "has no chapter 77"),
        (FILE.replace("00.2", "00.9"), "has no cell for 00.9"),
    ],
)
def test_a_file_that_does_not_fit_changes_nothing_and_the_error_says_why(workspace, text, says):
    before = sources(workspace)
    with pytest.raises(SetupError, match=says):
        brought(workspace, text)
    assert sources(workspace) == before
