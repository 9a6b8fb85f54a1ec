"""Run all tests, part by part, and print how long each part took.

With names of parts as arguments, run only those: make test PARTS="browser nbval"
The browser tests wait for pages most of the time: they run beside the other parts, and their output comes at the end.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROOMS = [room for room in ["course", "solutions", "grading"] if (ROOT / room).exists()]
TESTS = [f"{room}/tests" for room in ROOMS if (ROOT / room / "tests").exists()]
PARALLEL = ["-n", "auto", "--dist", "loadfile"]  # a notebook's cells belong in one process, as do a file's tests
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-sanitize-with=.ci/nbval.cfg"]
SPREAD = {
    "solutions": ["-n", "auto", "--dist", "worksteal"],  # tests that share little
    "grading": [*PARALLEL, "--no-loadscope-reorder"],  # else the longest files, which have few tests, come last
}
SHARED = ["-n", "auto", "--dist", "loadgroup"]  # every browser test by itself, but for those that share a fixture
BESIDE = "browser"  # the part that runs beside the others
NOTHING_RAN = 5  # pytest's exit code


def parts() -> dict[str, list[str]]:
    """Return pytest's arguments for each part, in the order in which they run."""
    chosen = {}
    for test in TESTS:
        room = test.split("/")[0]
        chosen[room] = [test, "-m", "not browser", "--timeout=600", *SPREAD.get(room, PARALLEL)]
    chosen[BESIDE] = [*TESTS, "-m", "browser", "--timeout=300", *SHARED]
    editions = [sorted(ROOT.glob(f"{room}/chapters/*/*.ipynb")) for room in ("solutions", "course") if room in ROOMS]
    notebooks = [str(path.relative_to(ROOT)) for edition in editions for path in edition]
    chosen["nbval"] = [*NBVAL, *PARALLEL, *notebooks] if all(editions) else []
    return chosen


class Result(NamedTuple):
    """How a part ended."""

    verdict: str
    seconds: float
    processor: float  # seconds, of all its processes


def run_part(name: str, arguments: list[str], output=None) -> Result:
    """Run one part; what it prints goes to the file `output`, or where this process's goes."""
    print(f"\n=== {name}", file=output, flush=True)
    if not arguments:
        return Result("FAILED: there are no notebooks to run", 0.0, 0.0)
    env = {**os.environ, "OMP_NUM_THREADS": "1"}  # processes share the cores already
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    running = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=output and subprocess.STDOUT)
    _, status, used = os.wait4(running.pid, 0)
    code = running.returncode = os.waitstatus_to_exitcode(status)
    failure = "FAILED: no test ran" if code == NOTHING_RAN else "FAILED"
    verdict = "passed" if code == 0 else failure
    return Result(verdict, time.monotonic() - started, used.ru_utime + used.ru_stime)


def run_parts(chosen: dict[str, list[str]]) -> dict[str, Result]:
    """Run the chosen parts one after the other, and beside them the one that waits most of the time."""
    if list(chosen) == [BESIDE]:
        return {BESIDE: run_part(BESIDE, chosen[BESIDE])}
    with ThreadPoolExecutor(1) as pool, tempfile.TemporaryFile("w+") as output:
        beside = pool.submit(run_part, BESIDE, chosen[BESIDE], output) if BESIDE in chosen else None
        results = {name: run_part(name, arguments) for name, arguments in chosen.items() if name != BESIDE}
        if beside:
            results[BESIDE] = beside.result()
            output.seek(0)
            shutil.copyfileobj(output, sys.stdout)
    return results


def main(names: list[str]) -> int:
    """Run the named parts, all without names; return 1 if one failed."""
    known = parts()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no part {', '.join(unknown)}; the parts are {', '.join(known)}.")
        return 2
    started = time.monotonic()
    results = run_parts({name: known[name] for name in names or known})
    print(f"\n{'part':<12}{'seconds':>8}{'processor s':>13}  result")
    for name, result in results.items():
        print(f"{name:<12}{result.seconds:>8.1f}{result.processor:>13.1f}  {result.verdict}")
    processor = sum(result.processor for result in results.values())
    print(f"{'all':<12}{time.monotonic() - started:>8.1f}{processor:>13.1f}")
    return 0 if all(result.verdict == "passed" for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
