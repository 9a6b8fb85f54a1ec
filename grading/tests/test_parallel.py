"""Grading in parallel: clusters, lost workers, interrupted runs. test_each_way.py compares the grades."""

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace
from unittest.mock import Mock

import dask
import killer
import psutil
import pytest
from attacks.harness import ends
from lab_server import HANG_S
from tiny_class import NAME, PULL_BACK, RIGHT, SLIP, TinyClass, threads

from autograder.errors import ClassError
from autograder.run.cluster import connect
from autograder.run.grade import _first_done, grade, grade_on
from autograder.steps.due import submitted


def command(tiny: TinyClass, *words: str) -> subprocess.Popen:
    """Start `python -m autograder grade` on the class, in a new session."""
    words = [sys.executable, "-m", "autograder", "--class", str(tiny.folder), "grade", NAME, *words]
    return subprocess.Popen(words, start_new_session=True, text=True, stdout=subprocess.PIPE)


@pytest.fixture(scope="module")
def local():
    """A local cluster as grading starts it: one worker process, which is replaced whenever it ends.

    Dask gives up a worker that restarts more slowly than its setting allows; 1 s imitates a busy machine.
    """
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}), connect(workers=1, threads=8) as client:
        yield client


def test_workers_do_not_run_dasks_profiler(local):
    """It can deadlock a worker."""
    callbacks = local.run(lambda dask_worker: list(dask_worker.periodic_callbacks))
    assert [name for names in callbacks.values() for name in names if "profile" in name] == []


def test_a_cluster_that_does_not_answer_is_reported(tiny, monkeypatch):
    tiny.hand_in("right", RIGHT)
    monkeypatch.setattr("autograder.run.cluster.CONNECT_S", 1)
    with pytest.raises(ClassError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        list(grade(tiny.folder, NAME, scheduler="tcp://127.0.0.1:9"))


@pytest.mark.parametrize(("installed", "said"), [("2", "needs autograder 1, but has 2"), (None, "but has none")])
def test_a_worker_with_different_packages_is_reported(monkeypatch, installed, said):
    def version(package):
        if threading.current_thread() is threading.main_thread():
            return "1"
        if installed is None:
            raise PackageNotFoundError(package)
        return installed

    monkeypatch.setattr("autograder.run.cluster.version", version)
    address = threads().scheduler_address
    with pytest.raises(ClassError, match=rf"Worker \S+ .*{said}\. See grading/DASK\.md"), connect(address):
        pass


@pytest.mark.parametrize(("options", "again"), [([], "grade again."), (["--force"], "grade again without --force.")])
def test_an_interrupted_run_says_how_to_continue(tiny, monkeypatch, said, options, again):
    monkeypatch.setattr("autograder.run.grade.grade", Mock(side_effect=KeyboardInterrupt))
    shown = said(tiny, "grade", NAME, "--no-sandbox", *options, code=130)
    assert f"\nInterrupted. Done so far: nothing.\nTo continue, {again}\n" in shown


def test_a_submission_that_kills_its_worker_twice_is_reported_and_the_others_are_graded(local, tiny, monkeypatch):
    for number in range(3):
        tiny.hand_in(f"right{number}", RIGHT)
    tiny.hand_in("killer", RIGHT | {"answer-1": f"{PULL_BACK}\n{killer.WORD}"})
    monkeypatch.setattr("autograder.run.grade.autograde", killer.autograde_or_die)
    outcomes = {o.student: o for o in grade_on(local, tiny.grader(), submitted(tiny.api.coursedir, NAME))}
    assert outcomes["killer"].status == "could not be graded"
    assert "twice" in outcomes["killer"].reason
    assert [outcomes[f"right{n}"].status for n in range(3)] == ["graded"] * 3
    assert [tiny.points(f"right{n}") for n in range(3)] == [[2, 3]] * 3
    assert tiny.points("killer") == [None, None]
    assert "twice" in json.dumps(tiny.autograded("killer"))


ONE, NONE = {"w": 1}, {}


@pytest.mark.parametrize(
    ("workers", "ends"),
    [
        ([NONE, ONE, NONE, ONE], contextlib.nullcontext()),
        ([NONE] * 4, pytest.raises(ClassError, match=r"has lost its workers")),
    ],
    ids=["it returns", "given up"],
)
def test_a_cluster_may_be_without_workers_for_a_while(monkeypatch, workers, ends):
    looks, run = list(workers), object()

    def wait(runs, **kwargs):
        if looks:
            raise TimeoutError
        return SimpleNamespace(done=runs)

    clock = SimpleNamespace(monotonic=itertools.count(1).__next__)
    for name, value in {"wait": wait, "time": clock, "WITHOUT_WORKERS_S": 1.5}.items():
        monkeypatch.setattr(f"autograder.run.grade.{name}", value)
    with ends:
        assert _first_done(SimpleNamespace(ncores=lambda: looks.pop(0)), {run: None}) == [run]


def test_grading_again_continues_an_interrupted_run_to_the_same_grades(tiny):
    """Interrupted with Ctrl-C, then killed, then continued to the end; no process is left each time.

    Sleeping submissions delay the run until it is interrupted; then these students submit something quick.
    """
    answers = {
        "right": RIGHT,
        "slip": SLIP,
        "sleeps": RIGHT | {"answer-2": "import time\ntime.sleep(9999)"},
    }
    for name, number in itertools.product(answers, range(2)):
        tiny.hand_in(f"{name}{number}", answers[name])
    (tiny.folder / "nbgrader_config.py").write_text("c = get_config()\nc.Execute.timeout = 9999\n")
    grader = tiny.grader()

    def done() -> int:
        return len([student for student in submitted(tiny.api.coursedir, NAME) if not grader.why_due(student)])

    def stop(run: subprocess.Popen, after: int, number: int) -> str:
        end = time.monotonic() + HANG_S
        while done() < after:
            assert time.monotonic() < end
            time.sleep(0.05)
        started = psutil.Process(run.pid).children(recursive=True)
        os.kill(run.pid, number)
        said, _ = run.communicate(timeout=HANG_S)
        assert done() == after
        assert started
        assert [one for one in started if not ends(one.pid)] == []
        return said

    interrupted = command(tiny, "--force")
    said = stop(interrupted, 4, signal.SIGINT)
    assert interrupted.returncode == 130
    assert re.search("Interrupted. Done so far: [34] graded", said), "the last one may just have been noted"
    tiny.hand_in("sleeps0", RIGHT)
    assert re.search("To continue, grade again without --force.$", said.rstrip())
    stop(command(tiny), 5, signal.SIGKILL)
    tiny.hand_in("sleeps1", RIGHT)
    assert Counter(tiny.grade().values()) == {"graded": 1, "skipped": 5}
    expected = {f"{name}{n}": [0, 1.5] if name == "slip" else [2, 3] for name in answers for n in range(2)}
    assert {student: tiny.points(student) for student in expected} == expected


def test_the_step_that_runs_cells_gets_no_class_data(tmp_path, monkeypatch):
    """It gets no path, seed, expected value or student's name."""
    tiny, given = TinyClass(tmp_path / "secret-place"), []
    tiny.hand_in("right0", RIGHT)
    monkeypatch.setattr("autograder.steps.runs.execute", lambda *job_and_files: given.append(job_and_files))
    tiny.grader().grade_here("right0")
    job, files = given[0]
    cases = files.pop(f"{NAME}.record.json").decode()
    sent = json.dumps([job.notebook, job.config, job.cases, sorted(files), cases])
    stored = json.loads((tiny.folder / "records" / f"{NAME}.json").read_text())
    assert [word for word in ("secret-place", "right0", "db_url", str(stored["seed"])) if word in sent] == []
    for record in (cases, *job.cases.values()):
        assert [check for check in json.loads(record)["checks"].values() if {"expected", "slips"} & check.keys()] == []
    assert all(check["expected"] for check in stored["record"]["checks"].values())
