"""Which modules a command must not import: what it does not use keeps whoever types it waiting."""

import subprocess
import sys

import pytest

from autograder.__main__ import COMMANDS

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
    """The modules that a new process has imported when it has run a script whose last line prints them."""
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_imports_nothing_heavy():
    assert imported(HELP, ",".join(["", *COMMANDS])) & HEAVY == set()


@pytest.mark.parametrize("module", ["views.report", "views.overview", "views.changes", "term.roster"])
def test_what_reads_the_gradebook_brings_no_cluster(module):
    script = f"import sys\nimport autograder.settings, autograder.{module}\nprint(*sys.modules)"
    assert imported(script) & {"distributed", "dask"} == set()
