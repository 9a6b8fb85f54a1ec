"""A check uses the names from setup and check cells, and leaves a learner's redefinition of a name unchanged."""

import pytest

from gradlab.checks.given import as_given, given

SETUP = """import math
from collections import Counter

LIMIT = 3
total = math.fsum([1])


def count(x):
    return LIMIT"""
ENGINE = "class Tensor:\n    pass"
CHECK = 'def scenario(answer, case):\n    return count(answer), math.pi\n\n\ncheck("90.1 a", answer, scenario)'


def cell(text, tags=(), **marks):
    return {"source": text, "metadata": {"tags": list(tags), "nbgrader": marks}}


CELLS = [
    cell(SETUP, ["setup"]),
    cell(ENGINE, ["setup", "engine"]),
    cell("import lesson"),
    cell("def answer():\n    pass", solution=True),
    cell(CHECK, grade=True),
    cell("def later():\n    pass", ["setup"]),
]


def test_imports_definitions_and_constants_of_setup_and_check_cells_down_to_the_check_are_given():
    names = {}
    exec(given(CELLS, CHECK), names)
    assert names.keys() - {"__builtins__"} == {"math", "Counter", "LIMIT", "count", "scenario"}


def test_a_name_that_an_answers_cell_defines_is_the_learners():
    assert "def count" not in given([*CELLS[:4], cell("def count():\n    pass", solution=True), CELLS[4]], CHECK)


def test_a_name_with_another_meaning_has_its_own_while_the_check_runs_and_the_learners_afterwards():
    session = {"check": lambda *given: None, "answer": None}
    for one in CELLS:
        exec(one["source"].replace("import lesson", ""), session)
    mine = {"math": "mine", "count": "mine", "LIMIT": 7, "Counter": "mine"}
    session.update(mine)
    with as_given(given(CELLS, CHECK), session["scenario"]):
        assert session["scenario"](None, {}) == (3, 3.141592653589793)
        assert session["Counter"] == "mine"  # the check does not use it
    assert {name: session[name] for name in mine} == mine


def test_what_a_setup_cell_defines_is_missing_where_it_never_ran():
    session = {"check": lambda *given: None, "answer": None}
    exec(CHECK, session)
    with as_given(given(CELLS, CHECK), session["scenario"]), pytest.raises(NameError):
        session["scenario"](None, {})


def test_in_grading_what_a_deleted_setup_cell_defines_is_there_for_the_check_alone():
    session = {"check": lambda *given: None, "answer": None}
    exec(CHECK, session)
    with as_given(given(CELLS, CHECK), session["scenario"], missing=True):
        assert session["scenario"](None, {}) == (3, 3.141592653589793)
    assert session.keys() == {"__builtins__", "check", "answer", "scenario"}
