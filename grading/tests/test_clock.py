"""A busy machine takes nothing from a submission's time: what waits for a processor is not counted, or runs again."""

import itertools
import json

import killer
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tiny_class import RIGHT, TinyClass

from autograder.run.submission import Grader
from autograder.sandbox import KERNEL_NAME
from autograder.settings import class_api
from autograder.steps.clock import Reading
from autograder.steps.execute import STARVED, Job, execute

SLEEPS = "import time\ntime.sleep(3)\nprint('done')"


def run(*sources: str, cell_timeout_s: float = 2, timeout_s: float = 60) -> tuple:
    """Run cells in a sandboxed kernel; returns what each printed, or its error, and what the run came to."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    ran = execute(Job(json.dumps(notebook), frozenset(), KERNEL_NAME, cell_timeout_s, timeout_s, 1_000_000), {})
    cells = nbformat.from_dict(json.loads(ran.notebook or "{}")).get("cells", [])
    return ["".join(o.get("text", "") or o.evalue for o in cell.outputs) for cell in cells], ran


@pytest.fixture
def waiting(monkeypatch):
    """Let Linux count, of the clock of a kernel that sleeps, every second as one of waiting for a processor."""
    looks = itertools.count()
    monkeypatch.setattr(Reading, "of", lambda provisioner: Reading(0.0, {"1": next(looks), "2": 0.0}))


@pytest.mark.parametrize(
    ("cpu_s", "waited_s", "slept_s", "had_s"),
    [
        (0.9, {"1": 5.1}, 1.0, 0.9),  # it computed
        (0.0, {"1": 5.0}, 1.0, 1.0),  # it slept
        (0.1, {"1": 5.9}, 1.0, 0.1),  # it waited for a processor
        (0.0, {"1": 5.0, "2": 0.75}, 1.0, 0.25),  # so did a thread for which it waited
        (1.9, {"1": 5.9}, 1.0, 1.9),  # it computed in several processes
        (0.3, {"1": 5.0}, 0.2, 0.3),  # whoever looks was kept waiting
        (0.0, {"1": 9.0}, 1.0, 0.0),
        (0.0, {}, 1.0, 1.0),  # where nothing is counted
    ],
)
def test_what_counts_is_computing_or_sleeping_and_not_waiting_for_a_processor(cpu_s, waited_s, slept_s, had_s):
    now, before = Reading(1 + cpu_s, waited_s), Reading(1, {"1": 5.0, "gone": 8.0})
    assert now.since(before, slept_s)[0] == pytest.approx(had_s)


def test_the_time_of_a_kernel_that_waits_for_a_processor_is_not_up(waiting):
    shown, ran = run(SLEEPS)
    assert shown == ["done\n"]
    assert not ran.starved


def test_a_run_that_waits_for_a_processor_for_too_long_is_starved_and_no_verdict(waiting):
    _, ran = run(SLEEPS.replace("3", "9999"), timeout_s=2)
    assert (ran.notebook, ran.reason, ran.starved) == ("", STARVED.format(2), True)


def test_a_cell_that_sleeps_for_ever_ends_and_the_next_one_runs():
    shown, ran = run(SLEEPS.replace("3", "9999"), "print('next')")
    assert shown == ["This cell did not end within 2 seconds.", "next\n"]
    assert not ran.starved
    assert ran.seconds >= 2


def test_who_gets_too_little_of_a_processor_runs_again_alone(tmp_path, monkeypatch):
    tiny = TinyClass(tmp_path / "class")
    for student in ("anna", "ben"):
        tiny.hand_in(student, RIGHT)
    monkeypatch.setattr("autograder.run.grade.execute", killer.execute_where_others_take_the_processor)
    assert tiny.grade() == {"anna": "graded", "ben": "graded"}
    assert tiny.points("anna") == tiny.points("ben") == [2, 3]


def test_who_gets_too_little_of_a_processor_alone_too_has_no_grade_and_the_reason(tmp_path, monkeypatch):
    tiny = TinyClass(tmp_path / "class")
    tiny.hand_in("anna", RIGHT)
    monkeypatch.setattr("autograder.run.submission.execute", killer.execute_where_nobody_gets_the_processor)
    outcome = Grader(class_api(tiny.folder), "90_tiny").grade_here("anna")
    assert (outcome.status, outcome.reason) == ("could not be graded", "it waited, alone too.")
    assert tiny.points("anna") == [None, None]
