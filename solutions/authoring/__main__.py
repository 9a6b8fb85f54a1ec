"""Build, check and validate the chapters."""

import argparse
import sys

from . import build
from .chapter import ChapterError, chapter_names, load_chapter
from .validate import validate

SEEDS, OTHER_SEEDS = 20, 200


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m authoring", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, help_text in (
        ("build", "execute the solved notebooks and make the student edition from them"),
        ("check", "name every committed file that is not what its source makes"),
        ("validate", "try slips, constants and other right answers on every check, and print a table"),
    ):
        command = commands.add_parser(name, help=help_text, description=help_text[0].upper() + help_text[1:] + ".")
        if name != "check":
            command.add_argument(
                "chapters", nargs="*", metavar="CHAPTER", help="as in solutions/chapters; default: all"
            )
        if name == "validate":
            command.add_argument("--seeds", type=int, default=SEEDS, help=f"for slips and constants (default {SEEDS})")
            command.add_argument(
                "--other-seeds", type=int, default=OTHER_SEEDS, help=f"for right answers (default {OTHER_SEEDS})"
            )
    args = parser.parse_args(argv)
    try:
        if args.command == "check":
            return _check()
        names = args.chapters or chapter_names()
        if args.command == "build":
            build.build(names)
            return 0
        return _validate(names, args.seeds, args.other_seeds)
    except ChapterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _check() -> int:
    found = build.stale()
    for line in found:
        print(line)
    print(
        f"{len(found)} stale files: run make notebooks, and commit what it makes." if found else "chapters: up to date"
    )
    return bool(found)


def _validate(names: list[str], seeds: int, other_seeds: int) -> int:
    faults = []
    print(
        f"{'check':8} {'slips':>5} {'rejected':>9} {'named':>9} {'right answers':>14} {'accepted':>9}"
        f" {'constants rejected':>19}"
    )
    for name in names:
        for check in load_chapter(name).checks.values():
            t = validate(check, range(100, 100 + seeds), range(100, 100 + other_seeds))
            faults += t.faults
            caught = t.constants - sum("cannot be right" in fault for fault in t.faults)
            print(
                f"{t.check_id:8} {t.slips:5} {t.rejected:4}/{t.tried:<4} {t.named:4}/{t.tried:<4} {1 + t.others:14}"
                f" {t.accepted:4}/{t.right:<4} {caught:14}/{t.constants:<4}",
                flush=True,
            )
    print(f"slips and constants on {seeds} seeds, right answers on {other_seeds}")
    for fault in faults:
        print(f"FAULT {fault}", file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
