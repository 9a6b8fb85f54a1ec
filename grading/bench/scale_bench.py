"""Two thousand submissions of chapter 02 in one run: does anything grow? And are two workers faster than one?

    python grading/bench/scale_bench.py [--submissions 2000] [--compare 100]

After each tenth of the run: submissions a second in it, and of this process, which sanitises and records, and of the
worker, which runs cells: memory (resident) and open files.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import psutil
from grading_bench import NAME, OURS, new_class

from autograder.run.cluster import connect
from autograder.run.grade import grade, grade_on
from autograder.run.submission import Grader
from autograder.settings import class_api


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=2000)
    parser.add_argument("--compare", type=int, default=100, help="submissions for one worker and for two")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "ours")
        folder.mkdir()
        root = new_class(folder, OURS, max(args.submissions, args.compare))
        if args.submissions:
            growth(root, args.submissions)
        if args.compare:
            compare(root, args.compare)


def growth(root: Path, count: int) -> None:
    print(f"{count} submissions of {NAME} in one run, {os.cpu_count()} cores")
    print(f"{'graded':>7}{'a second':>10}{'this process':>16}{'files':>7}{'the worker':>14}{'files':>7}")
    since = time.monotonic()
    here = psutil.Process()
    step = max(1, count // 10)
    for number, outcome in enumerate(grade(root, NAME), start=1):
        assert outcome.status == "graded", outcome
        if number % step == 0:
            worker = next(p for p in here.children() if "spawn_main" in " ".join(p.cmdline()))
            print(
                f"{number:7}{step / (time.monotonic() - since):10.2f}{here.memory_info().rss / 2**20:12.0f} MiB"
                f"{here.num_fds():7}{worker.memory_info().rss / 2**20:10.0f} MiB{worker.num_fds():7}",
                flush=True,
            )
            since = time.monotonic()


def compare(root: Path, count: int) -> None:
    """Grade the same submissions on one worker and on two, after both have warmed up."""
    grader = Grader(class_api(root), NAME)
    students = grader.choose(None)[:count]
    print(f"\n{count} submissions, of two worker processes that share no memory beside one")
    rates = {}
    for workers in (1, 2):
        with connect(workers=workers, threads=4) as client:
            for _ in grade_on(client, grader, students[: 4 * workers]):
                pass
            started, before = time.monotonic(), time.process_time()
            for _ in grade_on(client, grader, students):
                pass
            took = time.monotonic() - started
        rates[workers] = count / took
        serial = (time.process_time() - before) / took
        print(
            f"{workers} worker{'s' * (workers > 1)}: {rates[workers]:.2f} a second; this process was busy {serial:.0%}"
        )
    print(f"ratio: {rates[2] / rates[1]:.2f}")


if __name__ == "__main__":
    main()
