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


def test_help_imports_nothing_heavy():
    command = [sys.executable, "-c", HELP, ",".join(["", *COMMANDS])]
    imported = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    assert HEAVY & set(imported.split()) == set()
