"""Show the course so far: students by assignments, and every exercise over the term; as table, CSV files and page."""

import argparse

HELP = "show all assignments: students with points, late, missing; exercises with slips"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("--csv", action="store_true", help="print the students as CSV in the place of the table")


def run(args: argparse.Namespace) -> int:
    """Write the files and print one of them; returns the exit code."""
    from ..settings import open_class
    from ..views import overview

    course = open_class(args.folder).coursedir
    gathered = overview.gather_all(course)
    paths = overview.write(course, gathered)
    if args.csv:
        print(overview.as_csv(gathered), end="")
        return 0
    print(overview.table(gathered))
    for path in paths:
        print(path)
    return 0
