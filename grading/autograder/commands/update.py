"""Say what the course has changed since the class got its copy of the chapters, and bring the class up to it.

That is exercises, points, checks, and what would have to be graded again. With --apply, the class's copy, gradebook and
release are brought up to it.
"""

import argparse

from ..errors import ClassError

HELP = "say what the course has changed since the class got its copy, and bring the class up to it"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="only this chapter (default: all)")
    command.add_argument("--apply", action="store_true", help="make the changes; without it they are only told")
    command.add_argument("--lose-scores", action="store_true", help="make those too by which scores would be lost")


def run(args: argparse.Namespace) -> int:
    """Print the changes, and make them if asked to; returns the exit code."""
    from .. import update
    from ..settings import open_class

    api = open_class(args.folder)
    found, linked = update.changes(api.coursedir, args.assignments), update.is_linked(api.coursedir)
    print(update.in_words(api.coursedir, found))
    if not args.apply:
        if found or linked:
            print("Nothing has been changed. To make these changes: the same command with --apply.")
        return 0
    losing = [change.name for change in found if change.lost]
    if losing and not args.lose_scores:
        raise ClassError(
            f"Nothing has been changed, because scores would be lost in {', '.join(losing)}. Name the other chapters "
            "to update these only; or say --lose-scores, after a backup of the class."
        )
    update.apply(api, found)
    if found or linked:
        print("Done.")
    return 0
