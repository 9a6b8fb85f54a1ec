"""One hundred good submissions of chapter 02, from the command to exported grades, beside plain nbgrader, in one run.

    python grading/bench/grading_bench.py [--submissions 100]

Plain is `nbgrader autograde` with nbgrader's own steps and Jupyter's own kernel. Processor time is that of all
processes of a command, kernels included; what the exercises themselves need is measured by running their cells in a
process that has imported torch. Memory is the proportional set size: what processes share counts in part.
"""

import argparse
import csv
import ctypes
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

import nbformat
import psutil

from authoring.places import SOURCES
from autograder.run.grade import grade
from autograder.run.submission import Grader
from autograder.settings import class_api

NAME = "02_external_gradients"
BECOME_SUBREAPER = 36  # of prctl: processes whose parent ended become children of this one
SAMPLE_S = 1.0

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
    """Fill the released notebook with the solutions, and hand it in under `count` names."""
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


def measured(words: list, folder: Path) -> tuple[float, float]:
    """Run a command; return its seconds and the processor time of all its processes, also of those that it left."""
    before, started = os.times(), time.monotonic()
    with open(folder / "log.txt", "a") as log:
        process = subprocess.Popen(list(map(str, words)), cwd=folder, stdout=log, stderr=log)
        code = process.wait()
    seconds = time.monotonic() - started
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    if code:
        raise SystemExit(f"{words} failed:\n{(folder / 'log.txt').read_text()[-2000:]}")
    after = os.times()
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def scores(folder: Path) -> dict[str, float]:
    with open(folder / "grades.csv", newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def exercises_need(folder: Path) -> float:
    """Processor time of the setup, answer and check cells, in a process that has imported torch, at the second run."""
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
    """Grade all once more in this process; return the time of each phase, and the memory of what ran."""
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

    for name in ("begin", "record"):
        timed(name)
    started, ends = time.monotonic(), []
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
        "start": ends[0] - started,
        "rate": (len(ends) - 1) / (ends[-1] - ends[0]),
        "spent": spent,
        "execute": [n["metadata"]["autograder"]["seconds"] for n in nb],
        "memory": memory,
    }


def sample(memory: list[dict], done: threading.Event) -> None:
    """Note, again and again, how many kernels run and what they and the fork server need, in MiB."""
    while not done.wait(SAMPLE_S):
        servers = [p for p in psutil.Process().children(recursive=True) if is_forked_from_no_other(p)]
        for server in servers:
            keepers = children(server)  # one for each kernel
            kernels = [kernel for keeper in keepers for kernel in children(keeper)]
            running = sum(map(pss_mib, keepers + kernels))
            memory.append({"kernels": len(kernels), "running": running, "server": pss_mib(server)})


def is_forked_from_no_other(process: psutil.Process) -> bool:
    try:
        return "forkserver.py" in str(process.cmdline()) and "forkserver.py" not in str(process.parent().cmdline())
    except (psutil.Error, AttributeError):  # it has ended, or its parent has
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
    count = parser.parse_args().submissions
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as parent:
        plain, ours = Path(parent, "plain"), Path(parent, "ours")
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
            results[name] = (graded[0] + exported[0], graded[1] + exported[1], scores(folder))

        print(f"{count} good submissions of {NAME}, from the command to exported grades, {os.cpu_count()} cores")
        print(f"{'':22}{'seconds':>9}{'a minute':>10}{'processor s each':>18}")
        for name, (seconds, processor, _) in results.items():
            print(f"{name:22}{seconds:9.1f}{60 * count / seconds:10.1f}{processor / count:18.3f}")
        (slow, slow_cpu, theirs), (fast, fast_cpu, found) = results.values()
        need = exercises_need(ours)
        print(f"ratio: {slow / fast:.1f} × the submissions a minute, {slow_cpu / fast_cpu:.1f} × less processor time")
        print(f"scores are {'identical' if theirs == found else 'NOT IDENTICAL'}: {sorted(set(found.values()))}")
        rest = fast_cpu / count - need
        print(f"of the processor time, {need:.3f} s are what the exercise cells need; the rest: {rest:.3f}")
        report(phases(root))


def report(found: dict) -> None:
    """Print the table of the phases and the memory."""
    spent = found["spent"]
    print(f"\nphase, of one submission{'seconds':>12}{'processor s':>14}")
    for label, name in (("sanitise, one by one", "begin"), ("record, one by one", "record")):
        own = statistics.mean(spent[f"{name}, processor"])
        print(f"{label:24}{statistics.mean(spent[name]):12.3f}{own:14.3f}")
    print(f"{'execute, many at once':24}{statistics.mean(found['execute']):12.3f}")
    print(f"start, until the first grade: {found['start']:.1f} s; then {found['rate']:.1f} submissions a second")
    busy = [m for m in found["memory"] if m["kernels"]]
    each = statistics.mean(m["running"] / m["kernels"] for m in busy)
    print(
        f"memory of a running submission: {each:.0f} MiB, up to {max(m['kernels'] for m in busy)} at once; "
        f"of the fork server: {max(m['server'] for m in busy):.0f} MiB"
    )


if __name__ == "__main__":
    main()
