"""Show the course so far: students by assignments, and every exercise over the term; as table, CSV files and page."""

import argparse

from .. import gradebook
from ..settings import class_api
from ..views import overview

HELP = "show all assignments: students with points, late, missing; exercises with slips"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("--csv", action="store_true", help="print the students as CSV in the place of the table")


def run(args: argparse.Namespace) -> int:
    """Write the files and print one of them; returns the exit code."""
    course = class_api(args.folder).coursedir
    gradebook.require(course)
    gathered = overview.gather_all(course)
    paths = overview.write(course, gathered)
    if args.csv:
        print(overview.as_csv(gathered), end="")
        return 0
    print(overview.table(gathered))
    for path in paths:
        print(path)
    return 0
