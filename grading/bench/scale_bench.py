"""Measure how grading scales to thousands of submissions of chapter 02: speed, cost per submission, and growth.

    python grading/bench/scale_bench.py [--real 2000] [--stand-ins 20000] [--gradebook URL]

Stand-ins are eight workers that answer immediately, so that the grading process sets the pace by reading, sending and
writing. Real workers run the cells. Each tenth of a run ends with a line of numbers: submissions per second; processor
time per submission, resident memory and open files of the grading process, which includes Dask's scheduler; one
worker's memory; and the gradebook's size.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
from grading_bench import NAME, OURS, new_class

from autograder.run import grade as run
from autograder.run.grader import Grader, Outcome
from autograder.settings import class_api
from autograder.steps.autograde import autograde

WORKERS = 8
STAND_IN = "stand-in"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--real", type=int, default=2000, help="submissions whose cells run")
    parser.add_argument("--stand-ins", type=int, default=20_000, help="submissions that workers answer immediately")
    parser.add_argument("--gradebook", default="", help="the URL of an empty PostgreSQL database to use")
    args = parser.parse_args()
    database = f"get_config().CourseDirectory.db_url = {args.gradebook!r}\n" if args.gradebook else ""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "ours")
        root = new_class(folder, OURS + database, max(args.real, 1))
        os.chdir(folder)  # the class's settings are here
        if args.real:
            print(f"\n{args.real} submissions of {NAME}, {os.cpu_count()} cores")
            growth(root, args.real, run.grade(root, NAME))
        if args.stand_ins:
            print(f"\n{args.stand_ins} submissions of {NAME}, {WORKERS} workers that answer immediately")
            growth(root, args.stand_ins, answered_at_once(root, args.stand_ins))


def growth(root: Path, count: int, outcomes: Iterator[Outcome]) -> None:
    """Go through the outcomes of a run of `count` submissions; print speed, cost and memory after each tenth."""
    print(f"{'graded':>7}{'a second':>10}{'processor s each':>18}{'memory':>10}{'files':>7}", end="")
    print(f"{'a worker':>11}{'gradebook':>11}")
    process, step = psutil.Process(), max(1, count // 10)
    outcomes = (outcome for outcome in outcomes if outcome.status != "skipped")
    since, spent = time.monotonic(), time.process_time()
    for number, outcome in enumerate(outcomes, start=1):
        assert outcome.status == "graded", outcome
        if number % step == 0:
            rate, each = step / (time.monotonic() - since), (time.process_time() - spent) / step
            worker = next(p for p in process.children() if "spawn_main" in " ".join(p.cmdline()))
            book = root / "gradebook.db"
            print(
                f"{number:7}{rate:10.2f}{each:18.4f}{mib(process.memory_info().rss)}{process.num_fds():7}"
                f"{mib(worker.memory_info().rss):>11}{mib(book.stat().st_size if book.exists() else 0):>11}",
                flush=True,
            )
            for graded in (root / "submitted").glob(f"{STAND_IN}*"):  # to save disk space
                autograded = root / "autograded" / graded.name
                if (autograded / NAME / f"{NAME}.ipynb").exists():
                    shutil.rmtree(autograded)
            since, spent = time.monotonic(), time.process_time()


def mib(size: int) -> str:
    return f"{size / 2**20:6.0f} MiB"


def answered_at_once(root: Path, count: int) -> Iterator[Outcome]:
    """Add `count` submissions and return their outcomes, graded on workers that return the same answer for all."""
    model = next((root / "submitted").glob(f"*/{NAME}/{NAME}.ipynb")).read_bytes()
    students = [f"{STAND_IN}{number:06d}" for number in range(count)]
    for student in students:
        folder = root / "submitted" / student / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_bytes(model)
    grader = Grader(class_api(root), NAME)
    graded = autograde(grader.kit, grader.begin(students[0]))
    grader.kit = SimpleNamespace(files=grader.kit.files, graded=graded)
    run.autograde = lambda kit, handed_in, shared: kit.graded
    run.Grader = lambda api, name: grader
    return run.grade(root, NAME, workers=WORKERS, threads=1)


if __name__ == "__main__":
    main()
