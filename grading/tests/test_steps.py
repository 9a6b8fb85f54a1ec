"""The fork server's imports, and the files that cells may use."""

import ast
import sys
from pathlib import Path

import pytest
from tiny_class import solved_notebook

import autograder
from autograder.steps.files import MAX_BYTES, MAX_DEPTH, MAX_FILES, beside_notebook, unfit
from autograder.steps.judge import show_verdicts
from autograder.steps.save import Scored
from gradlab.checks.messages import PASSED, Feedback
from gradlab.checks.verdict import Verdict


def test_code_in_a_kernels_process_imports_no_grading_code():
    modules = {path.stem: path for path in Path(autograder.__path__[0], "sandbox/forkserver").glob("*.py")}
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in modules.values()]
    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [getattr(node, "module", None) or node.names[0].name for node in imports]
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, *modules, "ipykernel", "zmq"}
    assert not any(getattr(node, "level", 0) for node in imports)


def test_a_graded_cell_without_a_verdict_scores_nothing():
    nb = solved_notebook()
    show_verdicts(nb, {"check-2": {"90.2": Verdict(Feedback("90.2", PASSED))}})
    assert Scored.of(nb).scores == {"check-1": 0, "check-2": 3}


def test_a_released_module_has_no_package_or_compiled_file_beside_it():
    """So cells import the released stage of the engine, even if other versions were submitted."""
    names = ["engine_11.py", "engine_11/__init__.py", "engine_11.cpython-311-x86_64-linux-gnu.so", "engine_11.pyc"]
    names += ["notes.txt", "data/engine_11.txt", "chapter.ipynb"]
    beside = beside_notebook({name: name.encode() for name in names})
    assert sorted(beside) == ["data/engine_11.txt", "engine_11.py", "notes.txt"]


def fill(folder: Path, more: int) -> None:
    for number in range(MAX_FILES - 1 + more):
        (folder / f"{number}.txt").touch()


def enlarge(folder: Path, more: int) -> None:
    with (folder / "large.bin").open("wb") as file:
        file.truncate(MAX_BYTES - (folder / "90_tiny.ipynb").stat().st_size + more)


def nest(folder: Path, more: int) -> None:
    folder.joinpath(*["a"] * (MAX_DEPTH + more)).mkdir(parents=True)


LIMITS = {
    fill: "it contains more than 500 files.",
    enlarge: "its files exceed 50 MB in total.",
    nest: "its folders are nested more than 20 levels deep.",
}


@pytest.mark.parametrize(("add", "why"), LIMITS.items())
def test_a_submission_may_reach_a_limit_but_not_exceed_it(tmp_path, add, why):
    for more, said in enumerate(["", why]):
        folder = tmp_path / str(more) / "90_tiny"
        folder.mkdir(parents=True)
        (folder / "90_tiny.ipynb").write_text('{"cells": []}')
        add(folder, more)
        assert unfit(folder, "90_tiny") == said
