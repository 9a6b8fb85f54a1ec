"""List groups of suspiciously similar submissions for you to review; the command decides nothing."""

import argparse
from pathlib import Path


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument(
        "--earlier",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="also compare with an earlier class; repeatable",
    )


def run(args: argparse.Namespace) -> None:
    """Print the groups and write the page."""
    from ..settings import open_class
    from ..views import similar

    course = open_class(args.folder).coursedir
    found = similar.gather_similar(course, args.assignment, args.earlier)
    print(similar.table(found))
    print(similar.write(course, found))
