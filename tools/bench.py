"""Run every benchmark of the rooms, one after the other; with words as arguments, those whose path has one of them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(words: list[str]) -> int:
    """Run the chosen benchmarks; return 1 if one failed."""
    known = sorted(
        str(path.relative_to(ROOT))
        for room in ("course", "solutions", "grading")
        for path in ROOT.glob(f"{room}/bench/*.py")
    )
    chosen = [path for path in known if not words or any(word in path for word in words)]
    if not chosen:
        print(f"No benchmark is named by {', '.join(words)}. There are: {', '.join(known)}.")
        return 2
    failed = 0
    for path in chosen:
        print(f"\n=== {path}", flush=True)
        failed |= subprocess.run([sys.executable, path], cwd=ROOT, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
