"""Begin a class in a folder of its own, with its settings, its course id, and a copy of the course's chapters.

What changes in the course later concerns the class when you update it, not before.
"""

import argparse
from pathlib import Path

HELP = "begin a class, with a course id and a copy of the chapters of its own"
EXAMPLE = "postgresql+psycopg://grader@db.example.org/gradebook"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("place", type=Path, metavar="FOLDER", help="a folder that is new, or empty")
    command.add_argument("--course-id", metavar="ID", help="by which nbgrader knows the class (default: FOLDER's name)")
    command.add_argument("--gradebook", metavar="URL", default="", help=f"of a gradebook in PostgreSQL: {EXAMPLE}")
    command.add_argument("--exchange", type=Path, metavar="FOLDER", help="of nbgrader's exchange, which students reach")


def run(args: argparse.Namespace) -> int:
    """Begin the class, and print what is to be done next; returns the exit code."""
    from ..new_class import new_class

    print(new_class(args.place, args.course_id, args.exchange, args.gradebook))
    return 0
