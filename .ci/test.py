"""Run all tests, part by part, and print how long each part took.

With names of parts as arguments, run only those: make test PARTS="browser nbval"
"""

import os
import subprocess
import sys
import time
from pathlib import Path

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
NOTHING_RAN = 5  # pytest's exit code


def parts() -> dict[str, list[str]]:
    """Return pytest's arguments for each part, in the order in which they run."""
    chosen = {}
    for test in TESTS:
        room = test.split("/")[0]
        chosen[room] = [test, "-m", "not browser", "--timeout=600", *SPREAD.get(room, PARALLEL)]
    chosen["browser"] = [*TESTS, "-m", "browser", "--timeout=300", *SHARED]
    editions = [sorted(ROOT.glob(f"{room}/chapters/*/*.ipynb")) for room in ("solutions", "course") if room in ROOMS]
    notebooks = [str(path.relative_to(ROOT)) for edition in editions for path in edition]
    chosen["nbval"] = [*NBVAL, *PARALLEL, *notebooks] if all(editions) else []
    return chosen


def run_part(name: str, arguments: list[str]) -> tuple[str, float]:
    """Run one part; return its verdict and its seconds."""
    print(f"\n=== {name}", flush=True)
    if not arguments:
        return "FAILED: there are no notebooks to run", 0.0
    env = {**os.environ, "OMP_NUM_THREADS": "1"}  # processes share the cores already
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *arguments], cwd=ROOT, env=env, check=False)
    failure = "FAILED: no test ran" if done.returncode == NOTHING_RAN else "FAILED"
    return "passed" if done.returncode == 0 else failure, time.monotonic() - started


def main(names: list[str]) -> int:
    """Run the named parts, all without names; return 1 if one failed."""
    known = parts()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no part {', '.join(unknown)}; the parts are {', '.join(known)}.")
        return 2
    results = {name: run_part(name, known[name]) for name in names or known}
    print(f"\n{'part':<16}{'seconds':>8}  result")
    for name, (verdict, seconds) in results.items():
        print(f"{name:<16}{seconds:>8.1f}  {verdict}")
    print(f"{'all':<16}{sum(seconds for _, seconds in results.values()):>8.1f}")
    return 0 if all(verdict == "passed" for verdict, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
