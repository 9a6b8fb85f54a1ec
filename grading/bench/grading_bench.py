"""Compare the grader with nbgrader on 100 correct submissions of chapter 02, from the command to exported grades.

    python grading/bench/grading_bench.py [--submissions 100]

"Plain" is `nbgrader autograde` with nbgrader's own steps and Jupyter's default kernel. Processor time includes all
processes of a command and their kernels.
"""

import argparse
import csv
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbgrader.utils import is_solution

from authoring.places import SOURCES

NAME = "02_external_gradients"
BECOME_SUBREAPER = 36  # for prctl: orphaned processes become children of this one

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


def hand_in(folder: Path, count: int) -> None:
    """Fill the released notebook with the solutions, and submit it for `count` students."""
    solved = nbformat.read(SOURCES / NAME / f"{NAME}.ipynb", as_version=4)
    right = {cell.metadata.nbgrader["grade_id"]: cell.source for cell in solved.cells if is_solution(cell)}
    nb = nbformat.read(folder / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    for cell in filter(is_solution, nb.cells):
        cell.source = right[cell.metadata.nbgrader["grade_id"]]
    for number in range(count):
        target = folder / "submitted" / f"student{number:04d}" / NAME
        shutil.copytree(folder / "release" / NAME, target)
        nbformat.write(nb, target / f"{NAME}.ipynb")


def new_class(folder: Path, settings: str, count: int) -> Path:
    """Create a class with `count` submissions; return its folder."""
    root = folder / "class"
    root.mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(settings.format(root=str(root)))
    (root / "source").symlink_to(SOURCES)
    measured(folder, "nbgrader", "generate_assignment", NAME)
    hand_in(root, count)
    return root


def measured(folder: Path, *words: str) -> tuple[float, float]:
    """Run a Python module as a command; return its duration in seconds and its processes' total processor time."""
    before, started = os.times(), time.monotonic()
    with open(folder / "log.txt", "a") as log:
        done = subprocess.run([sys.executable, "-m", *words], cwd=folder, stdout=log, stderr=log, check=False)
    seconds = time.monotonic() - started
    while True:  # until no orphan is left
        try:
            os.wait()
        except ChildProcessError:
            break
    if done.returncode:
        raise SystemExit(f"{words} failed:\n{(folder / 'log.txt').read_text()[-2000:]}")
    after = os.times()
    return seconds, sum(after[2:4]) - sum(before[2:4])


def scores(folder: Path) -> dict[str, float]:
    """Return the exported scores by student."""
    with open(folder / "grades.csv", newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=100)
    count = parser.parse_args().submissions
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as parent:
        plain, ours = Path(parent, "plain"), Path(parent, "ours")
        new_class(plain, PLAIN, count)
        root = new_class(ours, OURS, count)
        print(f"{count} correct submissions of {NAME}, from the command to exported grades, {os.cpu_count()} cores")
        print(f"{'':22}{'seconds':>9}{'a minute':>10}{'processor s each':>18}")
        results = []
        for name, folder, words in (
            ("nbgrader autograde", plain, ["nbgrader", "autograde", NAME]),
            ("autograder grade", ours, ["autograder", "--class", str(root), "grade", NAME]),
        ):
            graded, exported = measured(folder, *words), measured(folder, "nbgrader", "export")
            seconds, processor = map(sum, zip(graded, exported, strict=True))
            print(f"{name:22}{seconds:9.1f}{60 * count / seconds:10.1f}{processor / count:18.3f}")
            results.append((seconds, processor, scores(folder)))
        (slow, slow_cpu, their_scores), (fast, fast_cpu, our_scores) = results
        print(f"ratio: {slow / fast:.1f} × the submissions a minute, {slow_cpu / fast_cpu:.1f} × less processor time")
        same = "identical" if their_scores == our_scores else "NOT IDENTICAL"
        print(f"scores are {same}: {sorted(set(our_scores.values()))}")


if __name__ == "__main__":
    main()
