"""Let one student hand in later. Penalties of what was graded follow."""

import argparse

from ..term.written import NONE, read_date
from .due import show_dates

HELP = "let one student hand in later"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("student", help="the student's id")
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("date", help=f"until when: as for due; {NONE} takes the extension back")


def run(args: argparse.Namespace) -> int:
    """Set the student's date, and print what follows; returns the exit code."""
    from ..term import dates

    until = read_date(args.date)
    return show_dates(args.assignment, dates.extend(args.folder, args.student, args.assignment, until))
