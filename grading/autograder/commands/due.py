"""Set when an assignment is due. Penalties of what was graded follow."""

import argparse
from typing import TYPE_CHECKING

from ..term.written import FORM, NONE, local, read_date
from .listing import show_list

if TYPE_CHECKING:
    from ..term.dates import Dates

HELP = "set when an assignment is due"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("date", help=f"{FORM}; or {NONE}")


def run(args: argparse.Namespace) -> int:
    """Set the date, and print what follows; returns the exit code."""
    from ..term import dates

    return show_dates(args.assignment, dates.set_due(args.folder, args.assignment, read_date(args.date)))


def show_dates(name: str, found: "Dates") -> int:
    """Print when an assignment is due, for whom later, and which penalties have changed; returns the exit code."""
    from ..views.changes import counted

    print(f"{name} is due {local(found.due) if found.due else 'at no time'}.")
    show_list("Extended", [f"{s} until {local(date)}" for s, date in sorted(found.extended.items())])
    show_list("No longer extended", found.ended, ", ")
    show_list("Other penalties", [f"{s}: {old:g} -> {counted(new)}" for s, (old, new) in found.penalties.items()])
    if found.penalties:
        print(f"Their feedback pages still say the old ones: autograder feedback {name}")
    return 0
