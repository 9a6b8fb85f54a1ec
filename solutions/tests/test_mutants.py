"""Mutants: which variations are made, which a check must reject, and how survivors are reported."""

import weakref
from dataclasses import replace

import pytest
import torch

from authoring import mutants as mutants_module
from authoring.chapter import load_chapter
from authoring.mutants import mutants, surviving
from authoring.validate import Tally, try_mutants


def add_up(x, start=0):
    """Add up a list of tensors."""
    total = start
    for part in x:
        total += part.detach()
    if total.numel() > 1:
        total = total.sum(dim=0)
    return total


def endless(x):
    n = 1
    while n < 2:
        n += 1
    return x


@pytest.fixture
def check():
    return load_chapter("02_external_gradients").checks["02.1"]


@pytest.mark.parametrize(
    "says",
    [
        "without `total = start`",
        "`for part in x:` before `total = start`",
        "`=` for the operator in `total += part.detach()`",
        "Sub for Add in `total += part.detach()`",
        "without `.detach()` in `part.detach()`",
        "`not` before the condition in `if total.numel() > 1:`",
        "GtE for Gt in `total.numel() > 1`",
        "2 for 1",
        "without `dim=` in `total.sum(dim=0)`",
        "abs of what `return total` gives",
        "works on its first call only",
    ],
)
def test_one_thing_is_changed_in_each(says):
    found = mutants(add_up)
    assert says in found
    assert add_up([torch.ones(1), torch.ones(1)]) == 2, "the original stays as it is"


def test_a_mutant_works_as_it_says():
    found = mutants(add_up)
    assert found["`=` for the operator in `total += part.detach()`"]([torch.ones(1), torch.ones(1)]) == 1
    first = found["works on its first call only"]
    assert first([torch.ones(1)]) == first([torch.ones(1) * 5]) == 1


def test_what_is_never_reached_is_not_varied():
    def as_found(x):
        return x + x
        return x * x

    says = mutants(as_found)
    assert "Sub for Add in `x + x`" in says
    assert not any("x * x" in text for text in says)


def test_a_beginning_that_the_next_line_does_not_mention_is_not_moved():
    def begins(x):
        found = []
        leaf = x.clone()
        found.append(leaf)
        return found

    says = mutants(begins)
    assert "`leaf = x.clone()` before `found = []`" not in says
    assert "`found.append(leaf)` before `leaf = x.clone()`" in says
    assert "`return found` before `found.append(leaf)`" in says


def test_torchs_own_functions_and_lambdas_have_no_mutants():
    assert mutants(torch.matmul) == {}


def test_a_mutant_that_does_not_end_is_rejected(check, monkeypatch):
    monkeypatch.setattr("authoring.mutants.LIMIT_S", 0.2)
    _, passing = surviving(replace(check, answer=endless), range(1))
    assert "without `n += 1`" not in passing


def test_the_time_limit_is_not_lost_in_a_weak_reference_that_is_just_cleared(monkeypatch):
    lost, references, key = [], weakref.WeakKeyDictionary(), type("Key", (), {})
    monkeypatch.setattr("sys.unraisablehook", lost.append)
    monkeypatch.setattr("authoring.mutants.LIMIT_S", 0.1)
    for _ in range(8):
        with pytest.raises(TimeoutError), mutants_module._limited():
            while True:
                references[key()] = 1
    assert not lost


def test_a_mutant_that_passes_is_listed_until_a_reason_is_written_down(check):
    def needless(x, v):
        twice = [x]
        twice = [x, x]
        return 3 * twice[0] ** 2 * v

    idle = "without `twice = [x]`"
    tally = Tally("02.1")
    try_mutants(replace(check, answer=needless), range(1), tally)
    assert f"02.1: {idle}" in tally.unexplained
    reasons = {idle: "Nothing uses it.", "without `gone = 1`": "It is no longer there."}
    reference = replace(check.reference, mutants=reasons)
    tally = Tally("02.1")
    try_mutants(replace(check, answer=needless, reference=reference), range(1), tally)
    assert f"02.1: {idle}" not in tally.unexplained
    assert tally.counts["explained"] == 1
    assert "there is a reason for the mutant 'without `gone = 1`', which does not pass" in tally.faults[0]
