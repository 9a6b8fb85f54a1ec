"""Run attacks and print a table: python -m attacks [WORDS]. Words select attacks whose name contains one of them."""

import sys
import tempfile
from pathlib import Path

from .exchange import ALL_DROPS, DROPS, OF_ACCOUNTS, run
from .harness import classes
from .table import ATTACKS


def main(words: list[str]) -> int:
    """Run the chosen attacks, or all; return 1 if one did not end as required."""
    names = [name for name in ATTACKS if not words or any(word in name for word in words)]
    faults = 0
    drops = [name for name in ALL_DROPS if not words or any(word in name for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        left = []
        print(f"{'attack':64}  {'points':>12}  {'twin':>8}", flush=True)
        for hostile, chosen in classes(Path(folder), names):
            for name, *both, fault in hostile.run(chosen):
                faults += bool(fault)
                points, honest = (" ".join("-" if p is None else f"{p:g}" for p in one) for one in both)
                print(f"{name:64}  {points:>12}  {honest:>8}  {fault}", flush=True)
            left += hostile.leftovers()
        for name, fault in run(Path(folder), drops):
            faults += bool(fault)
            print(f"{name:64}  {fault}", flush=True)
    if len(ALL_DROPS) < len(DROPS):
        print(
            f"Not tried, because only root can: {', '.join(OF_ACCOUNTS)}. Try with unshare --map-root-user --map-auto."
        )
    print(
        f"{len(names) + len(drops)} attacks, {faults} not as they must end; left behind: {', '.join(left) or 'nothing'}"
    )
    return 1 if faults or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
