"""CONTRIBUTING leads a newcomer: the map is the tree's, and each step of a trip is there."""

import ast
import re

import pytest

from authoring.map import CONTRIBUTING, ROOT, drawn, with_map

TEXT = CONTRIBUTING.read_text(encoding="utf-8")
STEPS = re.findall(r"^\| .* \| `(\S+\.py)` \| `(\w+)` \|$", TEXT, re.MULTILINE)


def test_the_map_is_the_trees():
    assert with_map(TEXT) == TEXT
    assert "| `observe.py` | The one observer" in drawn()
    lines = [line for line in drawn().splitlines() if line.startswith("| `")]
    assert len(lines) > 60
    assert [line for line in lines if line.endswith("|  |")] == [], "a module without a docstring"


def test_there_are_three_trips():
    assert TEXT.count("| | file | function |") == 3
    assert len(STEPS) > 30


@pytest.mark.parametrize(("path", "name"), STEPS)
def test_each_step_of_a_trip_is_there(path, name):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    defined |= {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    assert name in defined
