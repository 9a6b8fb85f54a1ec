"""Run all benchmarks in turn, or only those whose path contains one of the words given as arguments."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(words: list[str]) -> int:
    """Run the benchmarks whose path contains one of `words`, or all; return 1 if one failed, 2 if none matches."""
    known = sorted(
        str(path.relative_to(ROOT))
        for room in ("course", "solutions", "grading")
        for path in ROOT.glob(f"{room}/bench/*.py")
    )
    chosen = [path for path in known if not words or any(word in path for word in words)]
    if not chosen:
        print(f"No benchmark matches {', '.join(words)}. Benchmarks: {', '.join(known)}.")
        return 2
    failed = 0
    for path in chosen:
        print(f"\n=== {path}", flush=True)
        failed |= subprocess.run([sys.executable, path], cwd=ROOT, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
