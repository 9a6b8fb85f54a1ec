"""A check's own functions keep the names of setup and check cells, and Python's; the answer sees the learner's."""

import pytest

from gradlab.checks.given import as_released, given, in_place_of_yours

SETUP = """import math
from collections import Counter
from unittest import mock
from torch import *

LIMIT = 3
total = math.fsum([1])


def count(x):
    return LIMIT"""
ENGINE = """import json


class Tensor:
    def size(self):
        return len(json.dumps([1, 2]))"""
CHECK = """def scenario(answer, case):
    with mock.patch.dict(globals(), patched="by the check"):
        return count(answer), math.pi, len([*answer()])


check("90.1 a", answer, scenario)"""


def cell(text, tags=(), **marks):
    return {"source": text, "metadata": {"tags": list(tags), "nbgrader": marks}}


CELLS = [
    cell(SETUP, ["setup"]),
    cell(ENGINE, ["setup", "engine"]),
    cell("import lesson"),
    cell("def answer():\n    return len, patched", solution=True),
    cell(CHECK, grade=True),
    cell("def later():\n    pass", ["setup"]),
]


@pytest.fixture
def session():
    """The namespace of a notebook whose cells have run."""
    names = {"__name__": "__main__", "check": lambda *given: None}
    for one in CELLS:
        exec(one["source"].replace("import lesson", ""), names)
    return names


def test_imports_definitions_and_constants_of_setup_and_check_cells_down_to_the_check_are_given():
    names = {}
    text = given(CELLS, CHECK)
    exec(text, names)
    assert names.keys() - {"__builtins__"} == {"math", "Counter", "mock", "LIMIT", "count", "json", "scenario"}
    assert text.startswith("global Tensor\n")


def test_what_a_check_notes_with_is_as_released_even_if_a_learners_cell_changes_the_module(monkeypatch):
    monkeypatch.setattr("gradlab.evidence.notes", lambda: "mine")
    names = {}
    exec(given([cell("from gradlab import notes", ["setup"])], ""), names)
    calls = names["notes"]()
    assert (calls.send("once"), next(calls)) == (None, ["once"])


def test_a_check_has_the_names_at_release_and_the_answer_those_that_the_learner_has_rebound(session):
    mine = {"math": "mine", "count": "mine", "LIMIT": 7, "mock": "mine", "len": 4, "globals": "mine"}
    session.update(mine)
    seen = []
    released = as_released(session["scenario"], given(CELLS, CHECK))
    assert released(lambda: seen.extend(session["answer"]()) or seen, {}) == (3, 3.141592653589793, 2)
    assert seen == [4, "by the check"]
    assert {name: session[name] for name in mine} == mine
    assert "patched" not in session


@pytest.mark.parametrize("added", ["len = 4", "from torch import *", "from torch import sum as len"])
def test_a_builtin_that_a_setup_cell_of_the_learner_rebinds_is_pythons_in_the_check(session, added):
    cells = [cell(f"{SETUP}\n\n\n{added}", ["setup"]), *CELLS[1:]]
    exec(cells[0]["source"], session)
    assert as_released(session["scenario"], given(cells, CHECK))(lambda: "abc", {}) == (3, 3.141592653589793, 3)


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ("def answer():\n    return Tensor().size()", 6),
        ("def answer():\n    return Tensor().size() * dict", 24),
        ("def answer():\n    return sum(Tensor().size(), 1)\n\n\ndef sum(a, b):\n    return a + b + dict", 11),
    ],
)
def test_the_engine_keeps_the_names_at_release_and_the_answer_its_own_helpers_and_constants(session, answer, result):
    exec(f"{answer}\n\n\nlen = list = dict = 4\njson = None", session)
    before = dict(session)
    with in_place_of_yours(session["scenario"], given(CELLS, CHECK), answer=session["answer"]):
        assert session["list"] is list
        assert session["answer"]() == result
    assert session == before


def test_what_a_deleted_setup_cell_defines_is_there_for_the_check_alone():
    session = {"check": lambda *given: None, "answer": None}
    exec(CHECK, session)
    released = as_released(session["scenario"], given(CELLS, CHECK))
    assert released(lambda: "abc", {}) == (3, 3.141592653589793, 3)
    assert session.keys() == {"__builtins__", "check", "answer", "scenario"}


def test_functions_of_gradlab_and_other_values_stay_as_they_are():
    assert [as_released(value, "1 / 0") for value in (given, None, max)] == [given, None, max]


def test_finished_functions_stand_in_for_the_learners_and_call_each_other_while_the_check_runs():
    session = {"x": 1}
    exec("def one():\n    return 'mine'\n\n\ndef scenario(answer, case):\n    return one(), two()", session)
    mine = dict(session)
    with in_place_of_yours(session["scenario"], "", "def one():\n    return x\n\n\ndef two():\n    return one() + 1"):
        assert as_released(session["scenario"], "")(None, {}) == (1, 2)
    assert session == mine
