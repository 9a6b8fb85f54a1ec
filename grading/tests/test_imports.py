"""Commands do not import slow modules that they do not use."""

import subprocess
import sys

import pytest
from tiny_class import NAME, RIGHT, TinyClass

from autograder.__main__ import COMMANDS
from autograder.run.grader import Grader
from autograder.settings import class_api

HEAVY = {"torch", "numpy", "nbgrader", "nbformat", "nbconvert", "sqlalchemy", "distributed", "dask", "IPython"}
HELP = """
import contextlib, sys
from autograder.__main__ import main
for words in sys.argv[1].split(","):
    with contextlib.suppress(SystemExit):
        main([*words.split(), "--help"])
print(*sys.modules)
"""


def imported(script: str, *words: str) -> set[str]:
    """Return the modules that a script imports in a new process; its last line prints them."""
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_imports_nothing_heavy():
    assert imported(HELP, ",".join(["", *COMMANDS])) & HEAVY == set()


@pytest.mark.parametrize("module", ["views.report", "views.term_overview", "views.changes", "term.roster"])
def test_commands_that_read_the_gradebook_import_neither_torch_nor_dask(module):
    script = f"import sys\nimport autograder.settings, autograder.{module}\nprint(*sys.modules)"
    assert imported(script) & {"torch", "distributed", "dask"} == set()


GRADE = """
import sys
from pathlib import Path
from autograder.run.grade import Grader
from autograder.settings import class_api
grader = Grader(class_api(Path(sys.argv[1])), sys.argv[2])
assert grader.begin("anna").notebook
print(*sys.modules)
"""


def test_the_grading_process_imports_no_torch_once_the_record_exists(tmp_path):
    tiny = TinyClass(tmp_path / "class")
    tiny.hand_in("anna", RIGHT)
    Grader(class_api(tiny.folder), NAME)
    assert "torch" not in imported(GRADE, str(tiny.folder), NAME)
