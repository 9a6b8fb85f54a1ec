"""Forbidden phrases are reported with their file, their cell and what to write instead."""

import subprocess

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authoring import phrases


@pytest.fixture
def repository(tmp_path):
    """A function that commits files, by name, to a new repository and returns what is found there."""

    def found(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for command in ("init", "add ."):
            subprocess.run(["git", *command.split()], cwd=tmp_path, check=True, capture_output=True)
        return phrases.found(tmp_path)

    return found


def test_a_phrase_is_named_with_its_file_its_cell_and_what_to_write(repository):
    cells = [new_markdown_cell("Freezing is no wall.", id="s1"), new_code_cell("x = 1  # one's own", id="s2")]
    notebook = nbformat.writes(new_notebook(cells=cells))
    assert repository(solutions__chapters__02_DOT_ipynb=notebook, README_DOT_md="It fails in silence.") == [
        "README.md: “in silence”. Write: silently",
        "solutions/chapters/02.ipynb, cell s1: “is no”. Write: is not",
        "solutions/chapters/02.ipynb, cell s2: “one's own”. Write: a detached copy, a separate …",
    ]


def test_good_english_and_tests_are_left_alone(repository):
    page = "There is no graph. It is no longer needed, and A is no different. Solve it by hand in NumPy."
    assert repository(README_DOT_md=page, course__tests__test_DOT_py="# Hand it on in silence.") == []
