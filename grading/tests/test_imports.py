"""Commands do not import slow modules that they do not use."""

import subprocess
import sys

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
    """Return the modules that a script imports in a new process; its last line prints them."""
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_imports_nothing_heavy():
    assert imported(HELP, ",".join(["", *COMMANDS])) & HEAVY == set()
