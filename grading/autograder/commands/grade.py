"""Grade the collected submissions of an assignment that have no grade yet, and report on them."""

import argparse
from collections import Counter

from ..errors import ClassError
from . import by_hand, report
from .listing import show_list

HELP = "grade the collected submissions of an assignment, and report on them"
INTERRUPTED = 130  # the exit code of a command that was ended with Ctrl-C


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name, for instance 02_external_gradients")
    command.add_argument("--force", action="store_true", help="grade again what has been graded; manual scores stay")
    command.add_argument("--student", action="append", help="only this student; may be given several times")
    command.add_argument("--resume", action="store_true", help="go on with the last run, which was interrupted")
    command.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster to use: tcp://host:8786")
    command.add_argument("--workers", type=int, help="processes to start on this machine (default: one for two cores)")
    command.add_argument("--dashboard", action="store_true", help="show Dask's dashboard, and print its address")
    command.add_argument(
        "--no-sandbox",
        action="store_true",
        help="run submissions with all your rights: they can delete your files and write the gradebook",
    )


def run(args: argparse.Namespace) -> int:
    """Grade, report, and print how many ended in which way; returns the exit code."""
    from ..run.grade import grade
    from ..settings import class_api
    from ..steps.outcome import Status
    from ..term.by_hand import listed

    if args.resume and (args.force or args.student):
        raise ClassError("--resume goes on with the last run as it was begun; leave out --force and --student.")
    counts: Counter[str] = Counter()
    try:
        for outcome in grade(
            args.folder,
            args.assignment,
            args.force,
            args.student,
            sandbox=not args.no_sandbox,
            resume=args.resume,
            scheduler=args.scheduler,
            workers=args.workers,
            dashboard=args.dashboard,
        ):
            counts[outcome.status] += 1
    except KeyboardInterrupt:
        print(f"\nInterrupted after {_in_words(counts) or 'nothing'}. To go on: the same command with --resume.")
        return INTERRUPTED
    report.run(args)
    waiting = by_hand.in_words(listed(class_api(args.folder).coursedir, args.assignment))
    title = f"Set by hand before the new submission: autograder by-hand {args.assignment} --keep STUDENT, or --drop"
    show_list(title, waiting)
    if args.force:
        print(f"What that has changed: python -m autograder changes {args.assignment}")
    print(_in_words(counts) or "Nothing was left to do.")
    if counts[Status.SKIPPED]:
        print("Skipped were graded before; --force grades them again.")
    return 0


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
