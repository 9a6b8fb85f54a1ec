"""Set an assignment's due date, and recompute the penalties of graded submissions."""

import argparse
from typing import TYPE_CHECKING

from ..term.written import FORM, NONE, read_date
from ..views.words import local
from .listing import show_list

if TYPE_CHECKING:
    from ..term.dates import Dates


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("date", help=f"{FORM}; or {NONE}")


def run(args: argparse.Namespace) -> None:
    """Set the date and print its effects."""
    from ..term import dates

    show_dates(args.assignment, dates.set_due(args.folder, args.assignment, read_date(args.date)))


def show_dates(name: str, found: "Dates") -> None:
    """Print an assignment's due date, its extensions and the changed penalties."""
    from ..views.changes import counted

    print(f"{name} is due {local(found.due)}." if found.due else f"{name} has no due date.")
    show_list("Extended", [f"{s} until {local(date)}" for s, date in sorted(found.extended.items())])
    show_list("No longer extended", found.ended, ", ")
    show_list("Changed penalties", [f"{s}: {old:g} -> {counted(new)}" for s, (old, new) in found.penalties.items()])
    if found.penalties:
        print(f"These students' feedback pages show the old penalties. To update them: autograder feedback {name}")
