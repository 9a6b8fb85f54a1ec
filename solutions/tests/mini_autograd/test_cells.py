"""The programs in `cells` give the same on torch and on mini_autograd: values, dtypes, nodes, errors, warnings."""

import ast
from pathlib import Path

import pytest
import torch
from both import assert_same, assert_same_cell, cells

FILES = sorted((Path(__file__).parent / "cells").glob("*.py"))
CELLS = [(f"{path.stem}: {fact}", *rest) for path in FILES for fact, *rest in cells(path)]


@pytest.mark.parametrize(("statements", "raises"), [rest for _, *rest in CELLS], ids=[fact for fact, *_ in CELLS])
def test_same_as_torch(statements, raises):
    assert_same_cell(statements, raises)


@pytest.mark.parametrize("ours", [lambda x: x * 2.01, lambda x: (x * 2).detach(), lambda x: x + x])
def test_the_comparison_notices_other_values_and_names(ours):
    with pytest.raises(AssertionError):
        assert_same(lambda lib: (lambda x: x * 2 if lib is torch else ours(x))(lib.ones(2, requires_grad=True)))


@pytest.mark.parametrize(
    ("scenario", "expected", "noticed"),
    [
        (lambda lib: lib.ones(2).nonsense, None, AttributeError),
        (lambda lib: lib.ones(2).item(), TypeError, RuntimeError),
        (lambda lib: lib.ones(2) * 2, RuntimeError, AssertionError),
        (lambda lib: lib.ones(2 if lib is torch else 3).item(), RuntimeError, AssertionError),
    ],
    ids=["an error nobody expected", "another error", "no error", "other words"],
)
def test_the_comparison_accepts_only_the_error_that_was_expected(scenario, expected, noticed):
    """An error that comes on both libraries is no agreement unless the scenario is about it."""
    with pytest.raises(noticed):
        assert_same(scenario, expected)


def test_the_comparison_notices_what_is_only_shown():
    with pytest.raises(AssertionError):
        assert_same_cell(ast.parse("show(torch.__name__)").body)
