"""Set an assignment's due date, for everyone or for one student, and recompute the penalties of graded submissions."""

import argparse
from typing import TYPE_CHECKING

from ..steps.files import composed
from ..term.written import FORM, NONE, read_date
from ..views.words import local
from .listing import show_list

if TYPE_CHECKING:
    from ..term.dates import Dates


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("date", help=f"{FORM}; or {NONE}, which removes the date or the extension")
    command.add_argument("--student", type=composed, help="extend only this student's due date")


def run(args: argparse.Namespace) -> None:
    """Set the date in the gradebook and print its effects."""
    from ..term import dates

    date = read_date(args.date)
    if args.student:
        show_dates(args.assignment, dates.extend(args.folder, args.student, args.assignment, date))
    else:
        show_dates(args.assignment, dates.set_due(args.folder, args.assignment, date))


def show_dates(name: str, dates: "Dates") -> None:
    """Print an assignment's due date, its extensions and the changed penalties."""
    from ..views.changes import counted

    print(f"{name} is due {local(dates.due)}." if dates.due else f"{name} has no due date.")
    show_list("Extended", [f"{s} until {local(date)}" for s, date in sorted(dates.extended.items())])
    show_list("No longer extended", dates.ended, ", ")
    show_list("Changed penalties", [f"{s}: {old:g} -> {counted(new)}" for s, (old, new) in dates.penalties.items()])
    if dates.penalties:
        print(f"These students' feedback pages show the old penalties. To update them: autograder feedback {name}")
