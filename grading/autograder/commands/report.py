"""Print the table and write the report of an assignment again, for example after manual grading."""

import argparse


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")


def run(args: argparse.Namespace) -> None:
    """Print the table and write the files."""
    from ..settings import open_class
    from ..views.renderings import table, write
    from ..views.report import gather

    course = open_class(args.folder).coursedir
    report = gather(course, args.assignment)
    print(table(report))
    for path in write(course, report):
        print(path)
