"""Grading in parallel: the same grades on every way there, lost workers, interrupted runs."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import killer
import psutil
import pytest
from distributed import KilledWorker
from tiny_class import NAME, PULL_BACK, RIGHT, TinyClass

from autograder.errors import ClassError
from autograder.run.cluster import connect
from autograder.run.grade import TWICE, grade, grade_on
from autograder.run.submission import Grader, Outcome, Running
from autograder.settings import class_api

EXTERNAL_GRADIENT = RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"}
SLOW = RIGHT | {"answer-2": "import time\n\ntime.sleep(2)\n\n\n" + RIGHT["answer-2"]}
ANSWERS = {"right": RIGHT, "slip": EXTERNAL_GRADIENT, "untouched": {}, "dies": RIGHT | {"answer-2": "quit()"}}


def made(folder: Path, answers: dict[str, dict] = ANSWERS, times: int = 1) -> TinyClass:
    tiny = TinyClass(folder)
    for name, cells in answers.items():
        for number in range(times):
            tiny.hand_in(f"{name}{number}", cells)
    return tiny


def with_one_that_is_no_notebook(tiny: TinyClass) -> TinyClass:
    tiny.hand_in("broken", text="{")
    return tiny


def command(tiny: TinyClass, *words: str, **popen) -> subprocess.Popen:
    """Start `python -m autograder grade` on the class, in a session of its own."""
    words = [sys.executable, "-m", "autograder", "--class", str(tiny.folder), "grade", NAME, *words]
    return subprocess.Popen(words, start_new_session=True, text=True, stdout=subprocess.PIPE, **popen)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    tiny = with_one_that_is_no_notebook(made(tmp_path_factory.mktemp("undisturbed") / "class"))
    tiny.grade()
    return tiny


def test_a_parallel_run_grades_as_nbgraders_own_command_does(undisturbed, tmp_path):
    other = undisturbed.copy_to(tmp_path / "class")
    (tmp_path / "nbgrader_config.py").write_text(
        f"from autograder.settings import configure\n\nconfigure(get_config(), {str(other.folder)!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "autograde", NAME], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert other.results() == undisturbed.results()
    assert other.results()["slip0"][0] == [0, 1.5]
    assert other.results()["dies0"][0] == [2, 0]
    assert other.results()["broken"][0] == [None, None]


def test_a_run_on_a_cluster_of_separate_workers_grades_the_same(undisturbed, tmp_path):
    """A scheduler and two workers as processes of their own, in folders of their own."""
    other = undisturbed.copy_to(tmp_path / "class")
    with cluster(tmp_path, workers=2) as address:
        outcomes = list(grade(other.folder, NAME, scheduler=address))
    assert len(outcomes) == len(ANSWERS) + 1
    assert other.results() == undisturbed.results()


def test_a_cluster_that_is_not_there_is_named(undisturbed):
    with pytest.raises(ClassError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"):
        list(grade(undisturbed.folder, NAME, force=True, scheduler="tcp://127.0.0.1:9"))


def test_a_cluster_without_workers_is_named(undisturbed, tmp_path):
    with cluster(tmp_path, workers=0) as address, pytest.raises(ClassError, match="has no workers"):
        list(grade(undisturbed.folder, NAME, force=True, scheduler=address))


@pytest.mark.parametrize("wanted", [True, False])
def test_dasks_dashboard_is_there_when_asked_for(wanted, capsys):
    with connect(workers=1, threads=1, dashboard=wanted) as client:
        link = f"http://127.0.0.1:{urlsplit(client.dashboard_link).port}/status"
        if wanted:
            assert f"Dask's dashboard: {link}" in capsys.readouterr().out
            assert "Bokeh" in urlopen(link).read().decode()
        else:
            with pytest.raises(HTTPError, match="404"):
                urlopen(link)


def test_grades_are_the_same_when_a_worker_is_killed(tmp_path):
    tiny = made(tmp_path / "class", {"right": RIGHT, "slip": EXTERNAL_GRADIENT, "slow": SLOW}, times=4)
    killed = []

    def kill_the_worker(outcome):
        if not killed:
            killed.extend(workers_of(os.getpid()))
            for process in killed:
                process.kill()
        return outcome

    outcomes = [kill_the_worker(outcome) for outcome in grade(tiny.folder, NAME, workers=1)]
    assert killed
    assert sorted(o.student for o in outcomes) == sorted(p.name for p in (tiny.folder / "submitted").iterdir())
    assert {o.status for o in outcomes} == {"graded"}
    assert {s: found[0] for s, found in tiny.results().items()} == {
        o.student: [0, 1.5] if o.student.startswith("slip") else [2, 3] for o in outcomes
    }


def test_a_submission_that_kills_its_worker_twice_is_reported_and_the_others_are_graded(tmp_path, monkeypatch):
    tiny = made(tmp_path / "class", {"right": RIGHT}, times=3)
    tiny.hand_in("killer", RIGHT | {"answer-1": f"{PULL_BACK}\n{killer.WORD}"})
    monkeypatch.setattr("autograder.run.grade.execute", killer.execute_or_die)
    outcomes = {o.student: o for o in grade(tiny.folder, NAME)}
    assert outcomes["killer"].status == "could not be graded"
    assert "twice" in outcomes["killer"].reason
    assert [outcomes[f"right{n}"].status for n in range(3)] == ["graded"] * 3
    assert tiny.points("killer") == [None, None]
    assert "twice" in json.dumps(tiny.autograded("killer"))


class SimpleRun:
    """Stands in for Dask's future of a run."""

    def __init__(self, error: Exception | None):
        self.exception, self.result = lambda: error, lambda: None


def test_a_submission_that_kills_its_worker_in_a_later_run_is_reported_too(monkeypatch):
    """Lost with others, then alone: its first run ends well, and the second one takes the worker with it."""
    lost = KilledWorker("task", None, 0)
    ends = [SimpleRun(error) for error in (lost, None, lost)]
    grader = SimpleNamespace(
        begin=lambda student: Running(student, None, None, {}),
        go_on=lambda submission, ran: submission,
        give_up=lambda student, reason: Outcome(student, "could not be graded", reason),
    )
    monkeypatch.setattr("autograder.run.grade._first_done", lambda client, running: list(running))
    client = SimpleNamespace(submit=lambda *args, **kwargs: ends.pop(0), ncores=lambda: {"worker": 1})
    assert list(grade_on(client, grader, ["a"])) == [Outcome("a", "could not be graded", TWICE)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_is_resumed_to_the_same_grades(undisturbed, tmp_path, number):
    tiny = made(tmp_path / "class", {"right": RIGHT, "slip": EXTERNAL_GRADIENT}, times=8)
    run = command(tiny, "--force")
    journal = tiny.folder / "runs" / f"{NAME}.jsonl"
    wait_until(lambda: journal.exists() and len(journal.read_text().splitlines()) > 3)
    os.kill(run.pid, number)
    said, _ = run.communicate(timeout=60)
    done = journal.read_text().splitlines()[1:]
    assert 0 < len(done) < 16
    if number != signal.SIGKILL:
        assert run.returncode == 130
        assert f"Interrupted after {len(done)} graded" in said
    wait_until(lambda: not left_of(tiny))
    resumed = command(tiny, "--resume")
    said, _ = resumed.communicate(timeout=120)
    assert resumed.returncode == 0
    assert f"{16 - len(done)} graded" in said.splitlines()[-1]
    assert {s: found[0] for s, found in tiny.results().items()} == {
        f"{name}{n}": points for name, points in (("right", [2, 3]), ("slip", [0, 1.5])) for n in range(8)
    }


def test_what_was_sanitised_and_not_recorded_is_not_taken_for_graded(tmp_path):
    tiny = made(tmp_path / "class", {"right": RIGHT})
    Grader(class_api(tiny.folder), NAME).begin("right0")
    assert tiny.grade() == {"right0": "graded"}
    assert tiny.grade() == {"right0": "skipped"}


def test_who_hands_in_again_is_graded_again(tmp_path):
    tiny = made(tmp_path / "class", {"slip": EXTERNAL_GRADIENT})
    stamp = tiny.submission("slip0") / "timestamp.txt"
    stamp.write_text("2026-11-02 10:00:00 UTC")
    assert tiny.grade() == {"slip0": "graded"}
    assert tiny.grade() == {"slip0": "skipped"}
    tiny.hand_in("slip0", RIGHT)
    stamp.write_text("2026-11-02 11:00:00 UTC")
    assert tiny.grade() == {"slip0": "graded"}
    assert tiny.points("slip0") == [2, 3]


def test_there_must_be_a_run_to_resume(tmp_path):
    tiny = made(tmp_path / "class", {"right": RIGHT})
    with pytest.raises(ClassError, match="no run to resume"):
        list(grade(tiny.folder, NAME, resume=True))


def test_a_second_run_on_the_same_class_is_refused(tmp_path):
    tiny = made(tmp_path / "class", {"right": RIGHT}, times=2)
    first = grade(tiny.folder, NAME)
    next(first)
    with pytest.raises(ClassError, match="Another run"):
        list(grade(tiny.folder, NAME))
    assert len(list(first)) == 1


def test_a_finished_run_repeated_gives_the_same_grades(undisturbed):
    before = undisturbed.results()
    undisturbed.grade(force=True)
    assert undisturbed.results() == before


def test_a_submission_of_huge_files_is_refused(tmp_path):
    tiny = made(tmp_path / "class", {"right": RIGHT})
    with open(tiny.submission("right0") / "data.bin", "wb") as file:
        file.truncate(60_000_000)
    assert tiny.grade() == {"right0": "could not be graded"}
    reason = tiny.autograded("right0").metadata.autograder["could_not_grade"]
    assert "more than 50 MB" in reason


def test_the_worker_is_sent_nothing_of_the_class(tmp_path):
    """No path, no seed, no expected value, no student's name."""
    tiny = made(tmp_path / "secret-place", {"right": RIGHT})
    running = Grader(class_api(tiny.folder), NAME).begin("right0")
    cases = running.files.pop(f"{NAME}.record.json").decode()
    sent = json.dumps([running.job.notebook, running.job.config, sorted(running.files), cases])
    stored = json.loads((tiny.folder / "records" / f"{NAME}.json").read_text())
    assert [word for word in ("secret-place", "right0", "db_url", str(stored["seed"])) if word in sent] == []
    assert {tuple(c["expected"] + c["slips"]) for c in json.loads(cases)["checks"].values()} == {()}
    assert all(check["expected"] for check in stored["record"]["checks"].values())


@contextlib.contextmanager
def cluster(folder: Path, workers: int):
    """Start a Dask scheduler on loopback, and workers that share neither memory nor folder; yields its address."""
    address_file = folder / "scheduler.json"
    started = [
        start(
            folder,
            "dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(address_file),
        )
    ]
    try:
        wait_until(address_file.exists)
        wait_until(lambda: address_file.read_text().endswith("}"))
        address = json.loads(address_file.read_text())["address"]
        for number in range(workers):
            own = folder / f"worker{number}"
            own.mkdir()
            started.append(start(own, "dask_worker", address, "--nthreads", "4", "--no-dashboard"))
        if workers:
            from distributed import Client

            with Client(address) as client:
                client.wait_for_workers(workers, timeout=60)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(timeout=30)


def start(folder: Path, program: str, *words: str) -> subprocess.Popen:
    with open(folder / f"{program}.log", "w") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{program}", *words], cwd=folder, stdout=log, stderr=log
        )


def workers_of(pid: int) -> list[psutil.Process]:
    """Dask's worker processes among the children of a process."""
    return [p for p in psutil.Process(pid).children() if "spawn_main" in " ".join(p.cmdline())]


def left_of(tiny: TinyClass) -> list[str]:
    """Processes that still have the class's folder or a temporary folder of a submission open."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if str(tiny.folder) in " ".join(process.cmdline()):
                found.append(f"{process.pid} {process.name()}")
    return found


def wait_until(condition, seconds: float = 60) -> None:
    """Return when it holds; a test that waits for ever fails."""
    never = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        never.wait(0.05)
    raise AssertionError("it never came about")
