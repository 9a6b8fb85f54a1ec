"""Show the term so far, by student and by exercise, as a table, CSV files and a page."""

import argparse


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("--csv", action="store_true", help="print the students as CSV instead of the table")


def run(args: argparse.Namespace) -> None:
    """Write the files and print the table or the CSV."""
    from ..settings import open_class
    from ..views import term_overview

    course = open_class(args.folder).coursedir
    gathered = term_overview.gather_all(course)
    paths = term_overview.write(course, gathered)
    if args.csv:
        print(term_overview.as_csv(gathered), end="")
        return
    print(term_overview.table(gathered))
    for path in paths:
        print(path)
