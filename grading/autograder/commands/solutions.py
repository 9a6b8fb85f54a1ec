"""Write the solved chapter as a page to hand out, once nobody can hand in any more."""

import argparse

HELP = "write the solved chapter as a page, after the due date"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("--force", action="store_true", help="before the due date too, or where none is set")


def run(args: argparse.Namespace) -> int:
    """Write the page; returns the exit code."""
    from ..settings import open_class
    from ..views import solutions

    course = open_class(args.folder).coursedir
    print(solutions.write(course, args.assignment, args.force))
    return 0
