"""Write a page with everything that led to the grade of one submission, and print its summary."""

import argparse

from ..steps.files import composed


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("student", type=composed, help="the student's id in the gradebook")
    command.add_argument("assignment", help="a chapter's name")


def run(args: argparse.Namespace) -> None:
    """Write the page and print its summary."""
    from ..settings import open_class
    from ..views import appeal

    course = open_class(args.folder).coursedir
    page, facts = appeal.write(course, args.assignment, args.student)
    width = max(len(label) for label, _ in facts)
    for label, said in facts:
        print(f"{label:{width}}  {said}")
    print(page)
