"""Examples in docstrings run and print the documented output."""

import doctest
import importlib
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["course/gradlab", "solutions/authoring", "solutions/mini_autograd", "grading/autograder"]
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if ">>> " in path.read_text()]
NAMES = [".".join(path.relative_to(ROOT).with_suffix("").parts[1:]).removesuffix(".__init__") for path in FILES]


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_a_module(name):
    """Each example gives what stands below it; `torch` and `nn` are imported, as in a chapter."""
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs={"torch": torch, "nn": torch.nn}, optionflags=doctest.ELLIPSIS)
    assert found.attempted
    assert not found.failed, "the difference is printed above"
