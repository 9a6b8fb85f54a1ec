"""CONTRIBUTING guides newcomers: each step of a trip exists."""

import ast
import re

import pytest

from authoring.places import SOLUTIONS

ROOT = SOLUTIONS.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| .* \| `(\S+\.py)` \| `(\w+)` \|$", TEXT, re.MULTILINE)


def test_there_are_three_trips():
    assert TEXT.count("| | file | function |") == 3
    assert len(STEPS) > 30


@pytest.mark.parametrize(("path", "name"), STEPS)
def test_each_step_of_a_trip_is_there(path, name):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    defined |= {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    assert name in defined
