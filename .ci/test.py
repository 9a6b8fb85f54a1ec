"""Run all tests, part by part, and print how long each part took.

With names of parts as arguments, run only those: make test PARTS="browser nbval"
Two parts at a time run beside one another; the output of each comes when it has ended.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from kernels import kernels

ROOT = Path(__file__).resolve().parents[1]
ROOMS = [room for room in ["course", "solutions", "grading"] if (ROOT / room).exists()]
TESTS = [f"{room}/tests" for room in ROOMS if (ROOT / room / "tests").exists()]
PARALLEL = ["-n", "auto", "--dist", "loadfile"]  # a notebook's cells belong in one process, as do a file's tests
NBVAL = ["--nbval", "--nbval-sanitize-with=.ci/nbval.cfg", *PARALLEL]
SPREAD = {
    "solutions": ["-n", "auto", "--dist", "worksteal"],  # tests that share little
    "grading": [*PARALLEL, "--no-loadscope-reorder"],  # else the longest files, which have few tests, come last
}
SHARED = ["-n", "auto", "--dist", "loadgroup"]  # every browser test by itself, but for those that share a fixture
BESIDE = ["course", "browser", "nbval", "nbval-solved"]  # parts that run beside the others, and take as long as they
FORKED = ["browser", "nbval-solved"]  # parts whose kernels are forked; the student edition meets kernels as students do
NOTHING_RAN = 5  # pytest's exit code


def parts() -> dict[str, list[str]]:
    """Return pytest's arguments for each part, in the order in which they run."""
    chosen = {}
    for test in TESTS:
        room = test.split("/")[0]
        chosen[room] = [test, "-m", "not browser", "--timeout=600", *SPREAD.get(room, PARALLEL)]
    chosen["browser"] = [*TESTS, "-m", "browser", "--timeout=300", *SHARED]
    chosen["nbval"] = [*NBVAL, "--nbval-current-env", *notebooks("course")]
    if "solutions" in ROOMS:
        chosen["nbval-solved"] = [*NBVAL, *notebooks("solutions")]
    return chosen


def notebooks(room: str) -> list[str]:
    """Return the chapters of a room; raises SystemExit if there is none."""
    found = sorted(ROOT.glob(f"{room}/chapters/*/*.ipynb"))
    if not found:
        sys.exit(f"There are no notebooks in {room}/chapters.")
    return [str(path.relative_to(ROOT)) for path in found]


class Result(NamedTuple):
    """How a part ended."""

    verdict: str
    seconds: float
    processor: float  # seconds, of all its processes


def run_part(name: str, arguments: list[str], more: dict[str, str], output=None) -> Result:
    """Run one part with `more` in its environment; what it prints goes to the file `output`, or to the terminal."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", **more}  # processes share the cores already
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    running = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=output and subprocess.STDOUT)
    _, status, used = os.wait4(running.pid, 0)
    code = running.returncode = os.waitstatus_to_exitcode(status)
    failure = "FAILED: no test ran" if code == NOTHING_RAN else "FAILED"
    verdict = "passed" if code == 0 else failure
    return Result(verdict, time.monotonic() - started, used.ru_utime + used.ru_stime)


def run_parts(chosen: dict[str, list[str]]) -> dict[str, Result]:
    """Run the chosen parts, one after the other, those of BESIDE beside the others."""
    lanes = [[name for name in chosen if (name in BESIDE) == beside] for beside in (True, False)]
    results = {}
    needed = not set(FORKED).isdisjoint(chosen)
    with kernels() if needed else contextlib.nullcontext("") as folder:
        forked = {"JUPYTER_PATH": folder, "GRADLAB_TEST_KERNELS": folder} if folder else {}

        def run_lane(names: list[str]) -> None:
            for name in names:
                with tempfile.TemporaryFile("w+") if len(chosen) > 1 else contextlib.nullcontext() as output:
                    results[name] = run_part(name, chosen[name], forked if name in FORKED else {}, output)
                    if output:
                        output.seek(0)
                        print(f"\n=== {name}\n{output.read()}", flush=True)

        with ThreadPoolExecutor() as pool:
            list(pool.map(run_lane, lanes))
    return {name: results[name] for name in chosen}


def main(names: list[str]) -> int:
    """Run the named parts, all without names; return 1 if one failed."""
    known = parts()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no part {', '.join(unknown)}; the parts are {', '.join(known)}.")
        return 2
    started = time.monotonic()
    print(f"Running {', '.join(names or known)}.", flush=True)
    results = run_parts({name: known[name] for name in names or known})
    print(f"\n{'part':<12}{'seconds':>8}{'processor s':>13}  result")
    for name, result in results.items():
        print(f"{name:<12}{result.seconds:>8.1f}{result.processor:>13.1f}  {result.verdict}")
    processor = sum(result.processor for result in results.values())
    print(f"{'all':<12}{time.monotonic() - started:>8.1f}{processor:>13.1f}")
    return 0 if all(result.verdict == "passed" for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
