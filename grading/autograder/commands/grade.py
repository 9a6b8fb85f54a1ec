"""Grade an assignment's collected submissions that have no current grade, and write the report."""

import argparse
import sys
from collections import Counter

from ..steps.files import composed
from . import by_hand, report
from .listing import show_list

INTERRUPTED = 130  # the exit code after Ctrl-C


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name, for instance 02_external_gradients")
    command.add_argument("--force", action="store_true", help="grade everything again; manual scores are kept")
    command.add_argument("--student", action="append", type=composed, help="grade only this student; repeatable")
    command.add_argument("--resume", action="store_true", help=argparse.SUPPRESS)  # no longer needed
    command.add_argument("--scheduler", metavar="ADDRESS", help="the Dask cluster to use, for example tcp://host:8786")
    command.add_argument("--workers", type=int, help="processes to start on this machine (default: one per two cores)")
    command.add_argument("--dashboard", action="store_true", help="serve Dask's dashboard and print its address")
    command.add_argument(
        "--no-sandbox",
        action="store_true",
        help="run submissions with your rights: they can delete your files and change the gradebook",
    )


def run(args: argparse.Namespace) -> int:
    """Grade, write the report, print the counts by status, and return the exit code."""
    from ..sandbox import machine
    from ..sandbox.provisioner import SERVER

    if not (args.no_sandbox or args.scheduler):
        machine.require()
        SERVER.begin()  # it imports torch while this process imports the rest
    from ..run.grade import grade
    from ..settings import class_api
    from ..steps.outcome import Status
    from ..term.by_hand import listed

    if args.resume:
        print("--resume is not needed: grade always continues what was interrupted.", file=sys.stderr)
    counts: Counter[str] = Counter()
    try:
        for outcome in grade(
            args.folder,
            args.assignment,
            args.force,
            args.student,
            sandbox=not args.no_sandbox,
            scheduler=args.scheduler,
            workers=args.workers,
            dashboard=args.dashboard,
        ):
            counts[outcome.status] += 1
    except KeyboardInterrupt:
        again = "grade again, without --force" if args.force else "grade again"
        print(f"\nInterrupted. Done so far: {_in_words(counts) or 'nothing'}. To continue, {again}.")
        return INTERRUPTED
    report.show(args.folder, args.assignment)
    waiting = by_hand.in_words(listed(class_api(args.folder).coursedir, args.assignment))
    title = (
        f"Points set manually for an earlier submission (autograder by-hand {args.assignment} --keep or --drop STUDENT)"
    )
    show_list(title, waiting)
    if args.force:
        print(f"To see what changed: python -m autograder changes {args.assignment}")
    print(_in_words(counts))
    if counts[Status.SKIPPED]:
        print("Skipped submissions already have a current grade; --force grades them again.")
    return 0


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
