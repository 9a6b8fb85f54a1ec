"""Run the fast attacks; `make redteam` runs all."""

import pytest
from attacks.exchange import ALL_DROPS, run
from attacks.harness import classes
from attacks.table import ATTACKS

FAST = [name for name, attack in ATTACKS.items() if attack.fast]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return what is wrong with the result of each fast attack, and what they left behind."""
    made = list(classes(tmp_path_factory.mktemp("hostile"), FAST))
    faults = {name: fault for one, names in made for name, *_, fault in one.run(names)}
    return faults, [left for one, _ in made for left in one.leftovers()]


@pytest.mark.parametrize("name", FAST)
def test_no_attack_gains_a_point_and_its_honest_twin_gets_all(hostile, name):
    assert hostile[0][name] == ""


def test_no_attack_on_the_exchange_succeeds_or_keeps_another_from_being_collected(tmp_path):
    assert {name: fault for name, fault in run(tmp_path, ALL_DROPS) if fault} == {}


def test_attacks_leave_nothing_behind(hostile):
    assert hostile[1] == []
