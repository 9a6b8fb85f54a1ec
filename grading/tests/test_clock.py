"""A busy machine does not use up a submission's time: waiting does not count, or the run is repeated."""

import itertools
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tiny_class import RIGHT, TinyClass, solved_notebook

from autograder.sandbox import KERNEL_NAME
from autograder.steps.clock import Reading
from autograder.steps.execute import STARVED, Job, RunResult, execute

SLEEPS = "import time\ntime.sleep(0.9)\nprint('done')"


def run(*sources: str, cell_timeout_s: float = 0.6, timeout_s: float = 60) -> tuple:
    """Run cells in a sandboxed kernel; return each cell's output or error, and the run's result."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    ran = execute(Job(json.dumps(notebook), frozenset(), KERNEL_NAME, cell_timeout_s, timeout_s, 1_000_000), {})
    cells = nbformat.from_dict(json.loads(ran.notebook or "{}")).get("cells", [])
    return ["".join(o.get("text", "") or o.evalue for o in cell.outputs) for cell in cells], ran


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Look at a kernel's clocks often, so that short times suffice."""
    monkeypatch.setattr("autograder.steps.execute.LOOK_S", 0.2)


@pytest.fixture
def waiting(monkeypatch):
    """Count every look at a sleeping kernel as a second of waiting for a processor."""
    looks = itertools.count()
    monkeypatch.setattr(Reading, "of", lambda provisioner: Reading(0.0, {"1": next(looks), "2": 0.0}))


@pytest.mark.parametrize(
    ("cpu_s", "waited_s", "slept_s", "had_s"),
    [
        (0.9, {"1": 5.1}, 1.0, 0.9),  # it computed
        (0.0, {"1": 5.0}, 1.0, 1.0),  # it slept
        (0.1, {"1": 5.9}, 1.0, 0.1),  # it waited for a processor
        (0.0, {"1": 5.0, "2": 0.75}, 1.0, 0.25),  # so did a thread that it waited for
        (1.9, {"1": 5.9}, 1.0, 1.9),  # it computed in several processes
        (0.3, {"1": 5.0}, 0.2, 0.3),  # the reader was delayed
        (0.0, {"1": 9.0}, 1.0, 0.0),
        (0.0, {}, 1.0, 1.0),  # on systems without counts
    ],
)
def test_computing_and_sleeping_count_but_not_waiting_for_a_processor(cpu_s, waited_s, slept_s, had_s):
    now, before = Reading(1 + cpu_s, waited_s), Reading(1, {"1": 5.0, "gone": 8.0})
    assert now.since(before, slept_s)[0] == pytest.approx(had_s)


def test_a_kernel_that_waits_for_a_processor_is_not_out_of_time(waiting):
    shown, ran = run(SLEEPS)
    assert shown == ["done\n"]
    assert not ran.starved


def test_a_run_that_waits_too_long_for_a_processor_is_starved_without_a_verdict(waiting):
    _, ran = run(SLEEPS.replace("0.9", "9999"), timeout_s=2)
    assert (ran.notebook, ran.reason, ran.starved) == ("", STARVED.format(seconds=2), True)


def test_a_cell_that_sleeps_forever_is_ended_and_the_next_one_runs():
    shown, ran = run(SLEEPS.replace("0.9", "9999"), "print('next')")
    assert shown == ["This cell did not end within 0.6 s.", "next\n"]
    assert not ran.starved


def test_a_submission_with_too_little_processor_time_runs_again_alone(tiny, monkeypatch):
    for student in ("anna", "ben"):
        tiny.hand_in(student, RIGHT)
    ran = []
    others = itertools.chain([True, True], itertools.repeat(False))

    def where_others_take_the_processor(job, files):
        ran.append(RunResult("", "it waited.", starved=True) if next(others) else execute(job, files))
        return ran[-1]

    monkeypatch.setattr("autograder.steps.runs.execute", where_others_take_the_processor)
    assert tiny.grade() == {"anna": "graded", "ben": "graded"}
    assert tiny.points("anna") == tiny.points("ben") == [2, 3]
    assert [one.starved for one in ran] == [True, True, False, False]


def test_a_submission_starved_even_alone_gets_a_reason_instead_of_a_grade(tiny, monkeypatch):
    tiny.hand_in("anna", RIGHT)
    waits = iter(["it waited.", "it waited, alone too."])
    monkeypatch.setattr("autograder.steps.runs.execute", lambda *_: RunResult("", next(waits), starved=True))
    outcome = tiny.grader().grade_here("anna")
    assert (outcome.status, outcome.reason) == ("could not be graded", "it waited, alone too.")
    assert tiny.points("anna") == [None, None]


def test_the_second_run_of_a_wrong_answer_has_all_of_the_time_limit(tmp_path, monkeypatch):
    solved, limits = solved_notebook(), []
    solved.cells.append(new_code_cell("print('a lesson')"))
    tiny = TinyClass(tmp_path / "class", solved=solved)
    tiny.hand_in("anna", RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"})

    def limited(job, files):
        limits.append(job.timeout_s)
        return execute(job, files)

    monkeypatch.setattr("autograder.steps.runs.execute", limited)
    assert tiny.grade("anna") == {"anna": "graded"}
    assert limits == [600, 600]
