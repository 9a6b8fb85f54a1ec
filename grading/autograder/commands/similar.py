"""List submissions that are alike where they should be somebody's own: for a look, and no verdict."""

import argparse
from pathlib import Path

HELP = "list submissions that are alike, for a look"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument(
        "--earlier",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="an earlier class to compare with",
    )


def run(args: argparse.Namespace) -> int:
    """Print the pairs and write the page; returns the exit code."""
    from ..settings import open_class
    from ..views import similar

    course = open_class(args.folder).coursedir
    found = similar.gather_similar(course, args.assignment, args.earlier)
    print(similar.table(found))
    print(similar.write(course, found))
    return 0
