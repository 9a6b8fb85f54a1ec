"""The learner's own stage of the engine takes the finished one's place, if all its checks have passed."""

import importlib
import json
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from gradlab import engine, notebook
from gradlab.checks.memory import remember
from gradlab.checks.record import Record

CODE = ["import math", "def area(r):\n    ### BEGIN SOLUTION\n    return math.pi * r**2\n    ### END SOLUTION"]


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    """Chapter 11 with two checks, and chapter 12 with the finished stage, where the kernel runs."""
    one, two = tmp_path / "11_one", tmp_path / "12_two"
    cells = [new_code_cell(text, metadata={"tags": ["engine"]}) for text in CODE] + [new_code_cell("print('no')")]
    for folder in (one, two):
        folder.mkdir()
    nbformat.write(new_notebook(cells=cells), one / "11_one.ipynb")
    (two / "engine_11.py").write_text("def area(r):\n    return 'finished'\n")
    checks = {check_id: {"title": check_id, "digest": "", "cases": []} for check_id in ("11.1", "11.2")}
    (one / "11_one.record.json").write_text(json.dumps({"checks": checks}))
    known = checks["11.1"] | {"title": "12.1", "expected": [{"values": [1]}]}
    (two / "12_two.record.json").write_text(json.dumps({"format": 1, "chapter": "12_two", "checks": {"12.1": known}}))
    monkeypatch.setattr(engine, "exercises", lambda: {"11_one": checks})
    monkeypatch.setattr(notebook, "FOLDER", two)
    monkeypatch.syspath_prepend(str(two))
    yield one
    sys.modules.pop("engine_11", None)


def test_the_own_stage_is_imported_once_all_its_checks_have_passed(chapters, capsys):
    remember("11.1", "passed")
    engine.own_engine(11)
    assert "in chapter 11 11.2 has not passed; the finished one" in capsys.readouterr().out
    assert "engine_11" not in sys.modules
    remember("11.2", "passed")
    engine.own_engine(11)
    assert capsys.readouterr().out == "engine_11: your own\n"
    engine.own_engine(11)
    assert capsys.readouterr().out == "engine_11: your own\n", "twice is once"
    assert round(importlib.import_module("engine_11").area(1), 2) == 3.14


def test_in_grading_the_finished_stage_is_used_whatever_lies_where_the_chapter_would(chapters, capsys):
    """There the record holds nothing that is expected; code that nobody looks at would be run."""
    for check_id in ("11.1", "11.2"):
        remember(check_id, "passed")
    beside = notebook.FOLDER / "12_two.record.json"
    beside.write_text(Record.from_json(beside.read_text()).without_cases().to_json())
    engine.own_engine(11)
    assert "this run is graded" in capsys.readouterr().out
    assert importlib.import_module("engine_11").area(1) == "finished"


def test_without_the_chapter_the_finished_stage_is_used(chapters, capsys, monkeypatch):
    monkeypatch.setattr(engine, "exercises", dict)
    engine.own_engine(11)
    assert "chapter 11 is not here" in capsys.readouterr().out
    assert importlib.import_module("engine_11").area(1) == "finished"


def test_a_stage_that_fails_leaves_the_finished_one(chapters, capsys):
    remember("11.1", "passed")
    remember("11.2", "passed")
    path = chapters / "11_one.ipynb"
    path.write_text(path.read_text().replace("import math", "import no_such_module"))
    engine.own_engine(11)
    assert "ended in ModuleNotFoundError" in capsys.readouterr().out
    assert importlib.import_module("engine_11").area(1) == "finished"


def test_what_is_imported_already_is_not_replaced(chapters, capsys):
    importlib.import_module("engine_11")
    engine.own_engine(11)
    assert "it is imported already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("r**2", "squared(r)", "your answers of chapter 11 use squared, which none of the engine's cells defines"),
        ("return math.pi * r**2", "raise NotImplementedError()", "as it was saved last, an answer is still open"),
    ],
)
def test_a_stage_that_cannot_work_is_not_taken(chapters, capsys, old, new, why):
    """A helper in a cell of the learner's own stays in that notebook; what passed in memory may not have been saved."""
    remember("11.1", "passed")
    remember("11.2", "passed")
    path = chapters / "11_one.ipynb"
    path.write_text(path.read_text().replace(old, new))
    engine.own_engine(11)
    assert why in capsys.readouterr().out
    assert importlib.import_module("engine_11").area(1) == "finished"


def test_a_stub_that_stands_in_a_comment_leaves_nothing_open(chapters, capsys):
    remember("11.1", "passed")
    remember("11.2", "passed")
    path = chapters / "11_one.ipynb"
    path.write_text(path.read_text().replace("return math", "# raise NotImplementedError()\\n    return math"))
    engine.own_engine(11)
    assert capsys.readouterr().out == "engine_11: your own\n"


def test_an_answer_may_use_what_the_setup_cells_import(chapters):
    remember("11.1", "passed")
    remember("11.2", "passed")
    path = chapters / "11_one.ipynb"
    cells = [new_code_cell("import math as m", metadata={"tags": ["setup"]})]
    cells += [new_code_cell("def area(r):\n    return m.pi * r**2", metadata={"tags": ["engine"]})]
    nbformat.write(new_notebook(cells=cells), path)
    engine.own_engine(11)
    assert round(importlib.import_module("engine_11").area(1), 2) == 3.14
