"""Create a class in a separate folder, with its settings, its course id and a copy of the course's chapters.

Later changes to the course do not affect the class until you update it.
"""

import argparse
from pathlib import Path


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("place", type=Path, metavar="FOLDER", help="a new or empty folder")
    command.add_argument("--course-id", metavar="ID", help="nbgrader's id of the class (default: FOLDER's name)")
    command.add_argument("--exchange", type=Path, metavar="FOLDER", help="nbgrader's exchange, shared with students")


def run(args: argparse.Namespace) -> None:
    """Create the class and print what to do next."""
    from ..new_class import new_class

    print(new_class(args.place, args.course_id, args.exchange))
