"""What the fork server imports; the order of the steps."""

import ast
import sys
from pathlib import Path

import autograder
from autograder.settings import GRADE, SANITISE


def test_what_runs_in_a_kernels_process_imports_nothing_of_grading():
    tree = ast.parse(Path(autograder.__path__[0], "sandbox/forkserver.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [getattr(node, "module", None) or node.names[0].name for node in imports]
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "ipykernel"}
    assert not any(getattr(node, "level", 0) for node in imports)


def test_the_steps_of_a_submission_stand_in_this_order():
    assert [step.rpartition(".")[2] for step in SANITISE] == [
        "ClearOutput",  # first: nothing that a submission says it has shown is looked at by any other step
        "RestoreCells",  # the released cells, before anything goes by a cell's metadata; and the release's kernel
        "PutCases",  # last: the cases lie beside what will run, in the place of a record that was handed in
    ]
    assert [step.rpartition(".")[2] for step in GRADE] == [
        "RunCells",  # first: puts an error into each check cell, which nothing but a verdict replaces
        "WriteVerdicts",  # right after it: what was observed goes, and the score that nbgrader reads comes
        "LimitOutput",  # after the verdicts, which it may shorten, and not before: it would cut observations
        "SaveGrades",  # reads the scores that the verdicts left; what it saves is what the notebook shows
        "TakeLatePenalties",  # last: a penalty is never more than the score that was saved
    ]
