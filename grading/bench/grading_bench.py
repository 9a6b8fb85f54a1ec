"""Compare the grader with nbgrader on 100 correct submissions of chapter 02, from the command to exported grades.

    python grading/bench/grading_bench.py [--submissions 100] [--profile]

"Plain" is `nbgrader autograde` with nbgrader's own steps and Jupyter's default kernel. Processor time includes all
processes of a command and their kernels. The exercises' own share is measured by running their cells in a process that
has imported torch. Memory is the proportional set size: shared memory is divided among processes. With --profile, it
only grades one submission after another and prints the time of each part.
"""

import argparse
import csv
import ctypes
import functools
import inspect
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import nbformat
import psutil

from authoring.places import SOURCES
from autograder.run import grader as grader_module
from autograder.run.grade import grade
from autograder.run.grader import Grader
from autograder.settings import class_api
from autograder.steps import autograde, runs
from autograder.steps.clock import Reading
from autograder.steps.execute import Client

NAME = "02_external_gradients"
BECOME_SUBREAPER = 36  # for prctl: orphaned processes become children of this one
SAMPLE_S = 1.0
LOOK_S = 0.1  # how often to look for the first grade
PARTS = {  # parts of grading a submission, by function; nested parts are subtracted
    (Grader, "begin"): "read the submission",
    (autograde, "autograde"): "parse, sanitize, write verdicts",
    (runs, "judged"): "judge",
    (Client, "async_start_new_kernel"): "make the sandbox, fork the kernel",
    (Client, "async_start_new_kernel_client"): "connect, until the kernel answers",
    (Client, "async_execute_cell"): "run the cells, messages",
    (Client, "_async_cleanup_kernel"): "end the kernel",
    (Grader, "end"): "write gradebook and files",
}

PLAIN = """
from authoring.edition import GENERATE

c = get_config()
c.CourseDirectory.course_id = "plain"
c.CourseDirectory.root = {root!r}
c.GenerateAssignment.preprocessors = GENERATE  # the same student edition
"""
OURS = """
from autograder.settings import configure

configure(get_config(), {root!r})
"""


def is_answer(cell) -> bool:
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def hand_in(folder: Path, count: int) -> None:
    """Fill the released notebook with the solutions, and submit it for `count` students."""
    solved = nbformat.read(SOURCES / NAME / f"{NAME}.ipynb", as_version=4)
    right = {cell.metadata.nbgrader["grade_id"]: cell.source for cell in solved.cells if is_answer(cell)}
    nb = nbformat.read(folder / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    for cell in filter(is_answer, nb.cells):
        cell.source = right[cell.metadata.nbgrader["grade_id"]]
    for number in range(count):
        target = folder / "submitted" / f"student{number:04d}" / NAME
        shutil.copytree(folder / "release" / NAME, target)
        nbformat.write(nb, target / f"{NAME}.ipynb")


def new_class(folder: Path, settings: str, count: int) -> Path:
    root = folder / "class"
    root.mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(settings.format(root=str(root)))
    (root / "source").symlink_to(SOURCES)
    nbgrader(folder, "generate_assignment", NAME)
    hand_in(root, count)
    return root


def nbgrader(folder: Path, *words: str) -> None:
    measured([sys.executable, "-m", "nbgrader", *words], folder)


class Measured(NamedTuple):
    """A command's cost: seconds, processor time of all its processes, and seconds to the first autograded notebook.

    `first` is 0 if one existed before.
    """

    seconds: float
    processor: float
    first: float


def measured(words: list, folder: Path) -> Measured:
    """Run a command and measure it, including its orphaned processes."""
    before, started, first = os.times(), time.monotonic(), None
    with open(folder / "log.txt", "a") as log:
        process = subprocess.Popen(list(map(str, words)), cwd=folder, stdout=log, stderr=log)
        while (code := process.poll()) is None:
            if first is None and any((folder / "class").glob(f"autograded/*/{NAME}/{NAME}.ipynb")):
                first = time.monotonic() - started
            time.sleep(LOOK_S)
    seconds = time.monotonic() - started
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    if code:
        raise SystemExit(f"{words} failed:\n{(folder / 'log.txt').read_text()[-2000:]}")
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Measured(seconds, processor, first or 0.0)


def scores(folder: Path) -> dict[str, float]:
    with open(folder / "grades.csv", newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def exercises_need(folder: Path) -> float:
    """Return the processor time of a second run of setup, answer and check cells in a process that has torch loaded."""
    cells = nbformat.read(next((folder / "class" / "submitted").glob(f"*/*/{NAME}.ipynb")), as_version=4).cells
    setup = ["setup" in cell.metadata.get("tags", []) for cell in cells]
    sources = [
        c.source for c, s in zip(cells, setup, strict=True) if c.cell_type == "code" and (s or "nbgrader" in c.metadata)
    ]
    script = (
        "import sys, time, json\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\nsources = json.load(open(sys.argv[1]))\n"
        "for _ in range(2):\n    started = time.process_time()\n"
        "    for source in sources:\n        shell.run_cell(source)\n    took = time.process_time() - started\n"
        "open(sys.argv[2], 'w').write(str(took))\n"
    )
    (folder / "cells.json").write_text(json.dumps(sources))
    work = next((folder / "class" / "submitted").glob(f"*/{NAME}"))
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-c", script, folder / "cells.json", folder / "took.txt"]
    subprocess.run(words, cwd=work, env=env, check=True, capture_output=True)
    return float((folder / "took.txt").read_text())


def phases(root: Path) -> dict:
    """Grade everything again in this process; return the time of each phase and the memory used."""
    spent: dict[str, list[float]] = defaultdict(list)

    def timed(name: str):
        method = getattr(Grader, name)

        def wrapper(*args, **kwargs):
            wall, own = time.monotonic(), time.thread_time()
            try:
                return method(*args, **kwargs)
            finally:
                spent[name].append(time.monotonic() - wall)
                spent[f"{name}, processor"].append(time.thread_time() - own)

        setattr(Grader, name, wrapper)

    for name in ("begin", "end"):
        timed(name)
    ends: list[float] = []
    memory: list[dict] = []
    done = threading.Event()
    sampler = threading.Thread(target=lambda: sample(memory, done))
    sampler.start()
    for _ in grade(root, NAME, force=True):
        ends.append(time.monotonic())
    done.set()
    sampler.join()
    nb = [json.loads(path.read_text()) for path in root.glob(f"autograded/*/{NAME}/{NAME}.ipynb")]
    return {
        "rate": (len(ends) - 1) / (ends[-1] - ends[0]),
        "spent": spent,
        "execute": [n["metadata"]["autograder"]["seconds"] for n in nb],
        "memory": memory,
    }


def profile(root: Path) -> None:
    """Grade one submission after another in this process; print the seconds and processor time of each part."""
    wall, own, kernel = defaultdict(float), defaultdict(float), defaultdict(float)
    inside: list[str] = []

    def note(part: str, wall_s: float, own_s: float) -> None:
        for name, factor in [(part, 1), *((outer, -1) for outer in inside[-1:])]:
            wall[name] += factor * wall_s
            own[name] += factor * own_s

    def timed(owner, name: str, part: str) -> None:
        function = getattr(owner, name)

        @functools.wraps(function)
        async def later(client, *args, **kwargs):
            inside.append(part)
            used, started, before = kernel_s(client), time.monotonic(), time.process_time()
            try:
                return await function(client, *args, **kwargs)
            finally:
                inside.pop()
                note(part, time.monotonic() - started, time.process_time() - before)
                kernel[part] += max(0.0, kernel_s(client) - used)

        @functools.wraps(function)
        def at_once(*args, **kwargs):
            inside.append(part)
            started, before = time.monotonic(), time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                inside.pop()
                note(part, time.monotonic() - started, time.process_time() - before)

        setattr(owner, name, later if inspect.iscoroutinefunction(function) else at_once)

    for (owner, name), part in PARTS.items():
        timed(owner, name, part)
    grader = Grader(class_api(root), NAME)
    students = grader.choose(None)
    grader_module.autograde = autograde.autograde
    for number, student in enumerate([students[0], *students]):
        if number == 1:  # the first one started the fork server
            for spent in (wall, own, kernel):
                spent.clear()
            before = os.times()
        assert grader.grade_here(student).status == "graded"
    used = os.times()
    print(f"{len(students)} submissions of {NAME}, one after the other")
    print(f"{'part of one submission':36}{'seconds':>9}{'processor s':>13}{'of its kernel':>15}")
    for part in PARTS.values():
        each = (spent[part] / len(students) for spent in (wall, own, kernel))
        print("{:36}{:9.4f}{:13.4f}{:15.4f}".format(part, *each))
    total = (sum(spent.values()) / len(students) for spent in (wall, own, kernel))
    print("{:36}{:9.4f}{:13.4f}{:15.4f}".format("total", *total))
    ended = used.children_user + used.children_system - before.children_user - before.children_system
    print(f"ended child processes (bubblewrap): {ended / len(students):.4f} s of processor time per submission")


def kernel_s(client: Client) -> float:
    """Return the processor time of a client's kernel; 0 if it has none."""
    provisioner = client.km and client.km.provisioner
    return Reading.of(provisioner).cpu_s if getattr(provisioner, "inside", None) else 0.0


def sample(memory: list[dict], done: threading.Event) -> None:
    """Repeatedly record the number of kernels and the memory of kernels and fork server, in MiB."""
    while not done.wait(SAMPLE_S):
        servers = [p for p in psutil.Process().children(recursive=True) if is_forked_from_no_other(p)]
        for server in servers:
            keepers = children(server)  # one per kernel
            kernels = [kernel for keeper in keepers for kernel in children(keeper)]
            running = sum(map(pss_mib, keepers + kernels))
            memory.append({"kernels": len(kernels), "running": running, "server": pss_mib(server)})


def is_forked_from_no_other(process: psutil.Process) -> bool:
    try:
        return "forkserver.py" in str(process.cmdline()) and "forkserver.py" not in str(process.parent().cmdline())
    except (psutil.Error, AttributeError):  # it or its parent has ended
        return False


def children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children()
    except psutil.Error:
        return []


def pss_mib(process: psutil.Process) -> float:
    try:
        return process.memory_full_info().pss / 2**20
    except psutil.Error:
        return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--profile", action="store_true", help="only print the time of each part")
    args = parser.parse_args()
    count = args.submissions
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as parent:
        plain, ours = Path(parent, "plain"), Path(parent, "ours")
        if args.profile:
            profile(new_class(ours, OURS, count))
            return
        new_class(plain, PLAIN, count)
        root = new_class(ours, OURS, count)
        class_api(root)

        results = {}
        for name, folder, command in (
            ("nbgrader autograde", plain, ["-m", "nbgrader", "autograde", NAME]),
            ("autograder grade", ours, ["-m", "autograder", "--class", root, "grade", NAME]),
        ):
            graded = measured([sys.executable, *command], folder)
            exported = measured([sys.executable, "-m", "nbgrader", "export"], folder)
            spent = graded.seconds + exported.seconds, graded.processor + exported.processor
            results[name] = (*spent, graded.first, scores(folder))
        words = ["-m", "autograder", "--class", root, "grade", NAME, "--force", "--student", "student0000"]
        alone = measured([sys.executable, *words], ours)

        print(f"{count} correct submissions of {NAME}, from the command to exported grades, {os.cpu_count()} cores")
        print(f"{'':22}{'seconds':>9}{'a minute':>10}{'processor s each':>18}")
        for name, (seconds, processor, _, _) in results.items():
            print(f"{name:22}{seconds:9.1f}{60 * count / seconds:10.1f}{processor / count:18.3f}")
        (slow, slow_cpu, _, theirs), (fast, fast_cpu, first, found) = results.values()
        need = exercises_need(ours)
        print(f"ratio: {slow / fast:.1f} × the submissions a minute, {slow_cpu / fast_cpu:.1f} × less processor time")
        print(f"scores are {'identical' if theirs == found else 'NOT IDENTICAL'}: {sorted(set(found.values()))}")
        rest = fast_cpu / count - need
        print(f"processor time: {need:.3f} s for the exercise cells themselves, {rest:.3f} s for everything else")
        print(f"from our command to the first grade: {first:.1f} s; one submission, with report: {alone.seconds:.1f} s")
        report(phases(root))


def report(found: dict) -> None:
    """Print the times and the memory that `phases` returned."""
    spent = found["spent"]
    print(f"\nphase of one submission {'seconds':>12}{'processor s':>14}")
    for label, name in (("read, one by one", "begin"), ("record, one by one", "end")):
        own = statistics.mean(spent[f"{name}, processor"])
        print(f"{label:24}{statistics.mean(spent[name]):12.3f}{own:14.3f}")
    print(f"{'execute, in parallel':24}{statistics.mean(found['execute']):12.3f}")
    print(f"from the first grade to the last: {found['rate']:.1f} submissions a second")
    busy = [m for m in found["memory"] if m["kernels"]]
    each = statistics.mean(m["running"] / m["kernels"] for m in busy)
    print(
        f"memory: {each:.0f} MiB per running submission, up to {max(m['kernels'] for m in busy)} in parallel; "
        f"the fork server used {max(m['server'] for m in busy):.0f} MiB"
    )


if __name__ == "__main__":
    main()
