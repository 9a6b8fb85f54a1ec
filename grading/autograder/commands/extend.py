"""Give one student a later due date, and recompute their penalty."""

import argparse

from ..steps.files import composed
from ..term.written import NONE, read_date
from .due import show_dates


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("student", type=composed, help="the student's id")
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("date", help=f"the new due date, in the format of `due`; {NONE} removes the extension")


def run(args: argparse.Namespace) -> None:
    """Set the student's date and print its effects."""
    from ..term import dates

    until = read_date(args.date)
    show_dates(args.assignment, dates.extend(args.folder, args.student, args.assignment, until))
