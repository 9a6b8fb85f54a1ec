"""Write the solved chapter as a page for students, once nobody can submit anymore."""

import argparse


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("--force", action="store_true", help="write it even before the due date, or if none is set")


def run(args: argparse.Namespace) -> None:
    """Write the page."""
    from ..settings import open_class
    from ..views import solutions

    course = open_class(args.folder).coursedir
    print(solutions.write(course, args.assignment, args.force))
