"""Generate an assignment, set its due date, and release it: as an archive, and in nbgrader's exchange if there is one.

An assignment that has been generated is not generated again; update brings it up to the course.
"""

import argparse

from ..term.written import FORM, NONE, read_date
from .due import show_dates

HELP = "generate an assignment, set its due date, and release it"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("--due", metavar="DATE", help=f"when it is due: {FORM}; or {NONE}")


def run(args: argparse.Namespace) -> int:
    """Release it, and print where it is; returns the exit code."""
    from ..settings import open_class
    from ..term import dates, release

    name, api = args.assignment, open_class(args.folder)
    due = read_date(args.due) if args.due else None
    print(f"{name} was generated{'' if release.generate(api, name) else ' before'}.")
    if args.due:
        show_dates(name, dates.set_due(args.folder, name, due))
    if release.put_into_exchange(api, name):
        print("It is in the exchange, where students fetch it.")
    print(f"To give out by any other way: {release.pack(api, name)}")
    return 0
