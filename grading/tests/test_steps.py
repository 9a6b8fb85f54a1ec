"""The fork server's imports and the order of the steps."""

import ast
import sys
from pathlib import Path

import autograder
from autograder.settings import GRADE, SANITISE


def test_code_in_a_kernels_process_imports_no_grading_code():
    tree = ast.parse(Path(autograder.__path__[0], "sandbox/forkserver.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [getattr(node, "module", None) or node.names[0].name for node in imports]
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "ipykernel"}
    assert not any(getattr(node, "level", 0) for node in imports)


def test_the_steps_of_a_submission_run_in_this_order():
    assert [step.rpartition(".")[2] for step in SANITISE] == [
        "ClearOutput",  # first: no other step sees submitted outputs
        "RestoreCells",  # released cells and kernel, before any step relies on a cell's metadata
        "ReplaceRecord",  # last: replaces a submitted record by the class's
    ]
    assert [step.rpartition(".")[2] for step in GRADE] == [
        "RunCells",  # first: puts an error into each check cell, which only a verdict replaces
        "WriteVerdicts",  # right after it: replaces observations by the score that nbgrader reads
        "LimitOutput",  # after the verdicts, which it may shorten; earlier, it would truncate observations
        "SaveGrades",  # reads the verdicts' scores, so it saves what the notebook shows
        "DeductLatePenalties",  # last: a penalty never exceeds the saved score
    ]
