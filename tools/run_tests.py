"""Run the tests part by part, and print each part's duration.

Parts run two at a time; each part's output, which names its slowest tests, is printed when it ends.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from authoring.chapter import chapter_names

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ["course", "solutions", "grading"]
TESTS = [f"{room}/tests" for room in ROOMS]
TOOLS = "tools/tests"
WALKS = "course/tests/test_chapters_in_lab.py"  # a student's walk through each chapter
PYTEST = ["-m", "pytest", "-q", "-n", "auto", "--durations=5"]
TOGETHER = ["--dist", "loadfile"]  # a notebook's cells belong in one process, as do a file's tests
APART = ["--dist", "worksteal"]  # tests that share little
BROWSER = ["--dist", "loadgroup", "--timeout=900"]  # each test separately, except those that share a fixture
NBVAL = [*PYTEST, *TOGETHER, "--nbval", "--nbval-sanitize-with=tools/nbval.cfg", "--nbval-kernel-startup-timeout=600"]
WITH_KERNELS = ["tools/kernels.py", "with", sys.executable]
MORE = {"attacks": {"PYTHONPATH": str(ROOT / "grading/tests")}}  # extra environment variables of a part
ELSEWHERE = ["nbval", "nbval-solved", "records", "checks"]  # what may differ on a different kind of processor
# Imitates a processor older than any that runs torch: libraries choose kernels by instruction set, and the kernels
# determine the order of sums, and so a float's last bits. The rest differs between machines, too.
OTHER_PROCESSOR = {
    "ATEN_CPU_CAPABILITY": "default",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "MKL_CBWR": "COMPATIBLE",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "1",
    "TZ": "Asia/Kolkata",
    "COLUMNS": "40",
}
NOTHING_RAN = 5  # pytest's exit code


def parts(chapter: str = "") -> dict[str, list[str]]:
    """Return the Python arguments for each part of `make test`, the longest part first.

    With `chapter`, they run only the tests that concern it.
    """
    only = ["-k", chapter] if chapter else []
    pages = [WALKS] if chapter else TESTS
    few = "" if chapter else " and not exhaustive"
    return {
        # in file order; otherwise the longest files, which have few tests, come last
        "grading": [*PYTEST, "grading/tests", "-m", f"not browser{few}", "--timeout=900", *TOGETHER]
        + ["--no-loadscope-reorder", *only],
        "browser": [*WITH_KERNELS, *PYTEST, *pages, "-m", f"browser{few}", *BROWSER, *only],
        "solutions": [*PYTEST, "solutions/tests", "-m", f"not browser{few}", "--timeout=900", *APART, *only],
        "nbval": [*WITH_KERNELS, *NBVAL, "--nbval-current-env", *notebooks("course", chapter)],
        "course": [*PYTEST, "course/tests", TOOLS, "-m", f"not browser{few}", "--timeout=900", *TOGETHER, *only],
    }


def elsewhere() -> dict[str, list[str]]:
    """Return the parts that matter only on a different kind of processor: all records and all checks."""
    return {
        "records": ["-m", "authoring", "check", "--every"],
        "checks": ["-m", "authoring", "validate", "--seeds=2", "--other-seeds=3", "--mutant-seeds=0"],
    }


def rest() -> dict[str, list[str]]:
    """Return the parts that `make test-all` runs after `make test`: the exhaustive ones."""
    return {
        # slips tries what five_slips does, and more
        "exhaustive": [*WITH_KERNELS, *PYTEST, *TESTS, TOOLS, "-m", "exhaustive", "-k", "not five_slips", *BROWSER],
        "nbval-solved": [*NBVAL, *notebooks("solutions")],  # in kernels that start as students' kernels do
        "slips": ["-m", "authoring", "validate", "--seeds=2", "--other-seeds=6"],
        "attacks": ["-m", "attacks"],
        "another-processor": ["tools/run_tests.py", *ELSEWHERE, "--other-processor"],
    }


def notebooks(room: str, chapter: str = "") -> list[str]:
    """Return the paths of a room's notebooks, or only that of `chapter`; raise SystemExit if there is none."""
    paths = sorted(ROOT.glob(f"{room}/chapters/*/{chapter or '*'}.ipynb"))
    if not paths:
        sys.exit(f"There are no notebooks in {room}/chapters.")
    return [str(path.relative_to(ROOT)) for path in paths]


def run_part(arguments: list[str], env: dict[str, str], output=None) -> tuple[str, float]:
    """Run one part, with its output in the file `output` or else in the terminal; return its verdict and seconds."""
    started = time.monotonic()
    streams = {"stdout": output, "stderr": output and subprocess.STDOUT}
    code = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, check=False, **streams).returncode
    verdict = {0: "passed", NOTHING_RAN: "FAILED: no test ran"}.get(code, "FAILED")
    return verdict, time.monotonic() - started


def run_parts(chosen: dict[str, list[str]], other_processor: bool) -> dict[str, tuple[str, float]]:
    """Run the chosen parts in order, two at a time; return the verdict and the seconds of each, by name."""
    own = {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}  # processes already share the cores; no bars in outputs
    env = {**os.environ, **own, **(OTHER_PROCESSOR if other_processor else {})}

    def run_one(name: str) -> tuple[str, float]:
        with tempfile.TemporaryFile("w+") if len(chosen) > 1 else contextlib.nullcontext() as output:
            result = run_part(chosen[name], env | MORE.get(name, {}), output)
            if output:
                output.seek(0)
                print(f"\n=== {name}\n{output.read()}", flush=True)
        return result

    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(chosen, pool.map(run_one, chosen), strict=True))


def show(results: dict[str, tuple[str, float]], all_seconds: float) -> int:
    """Print a table of the parts; return 1 if one failed."""
    print(f"\n{'part':<18}{'seconds':>8}  result")
    for name, (verdict, seconds) in results.items():
        print(f"{name:<18}{seconds:>8.1f}  {verdict}")
    print(f"{'all':<18}{all_seconds:>8.1f}")
    return int(any(verdict != "passed" for verdict, _seconds in results.values()))


def main(words: list[str] | None = None) -> int:
    """Run the requested parts; return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python tools/run_tests.py", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(parts())}")
    parser.add_argument("--chapter", default="", help="run only what concerns one chapter, such as 08")
    parser.add_argument("--rest", action="store_true", help=f"run only the parts that take longer: {', '.join(rest())}")
    parser.add_argument("--other-processor", action="store_true", help="imitate a different kind of processor")
    asked = parser.parse_args(words)
    chapter = next((name for name in chapter_names() if asked.chapter and name.startswith(asked.chapter)), "")
    if asked.chapter and not chapter:
        parser.error(f"There is no chapter {asked.chapter}. Chapters: {', '.join(chapter_names())}.")
    if chapter and asked.rest:
        parser.error("--chapter works only with the parts of make test, not with --rest.")
    usual = rest() if asked.rest else parts(chapter)
    known = {**parts(), **rest(), **elsewhere(), **usual}
    if chapter:
        usual = known = {name: usual[name] for name in ("solutions", "browser", "nbval")}
        known["nbval-solved"] = [*WITH_KERNELS, *NBVAL, *notebooks("solutions", chapter)]
    if unknown := [name for name in asked.parts if name not in known]:
        parser.error(f"There is no part {', '.join(unknown)}. Parts: {', '.join(known)}.")
    started = time.monotonic()
    chosen = {name: known[name] for name in asked.parts or usual}
    print(f"Running {', '.join(chosen)}.", flush=True)
    return show(run_parts(chosen, asked.other_processor), time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())
