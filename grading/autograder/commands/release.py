"""Generate an assignment, set its due date, and release it as an archive and in nbgrader's exchange if there is one.

An assignment is generated only once; use `update` to bring it up to date with the course.
"""

import argparse

from ..term.written import FORM, NONE, read_date
from .due import show_dates


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("--due", metavar="DATE", help=f"the due date: {FORM}; or {NONE}")


def run(args: argparse.Namespace) -> None:
    """Release the assignment and print where it is."""
    from ..settings import open_class
    from ..term import dates, release

    name, api = args.assignment, open_class(args.folder)
    due = read_date(args.due) if args.due else None
    print(f"{name} was {'' if release.generate(api, name) else 'already '}generated.")
    if args.due:
        show_dates(name, dates.set_due(args.folder, name, due))
    if release.put_into_exchange(api, name):
        print("Students can fetch it from the exchange.")
    print(f"To distribute it in any other way: {release.pack(api, name)}")
