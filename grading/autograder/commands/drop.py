"""Exclude a student from grading, feedback, reports and exports, even if submissions are collected again.

--undo takes the student back. Submissions are kept, and so are grades unless you add --remove-grades.
"""

import argparse

from ..steps.files import composed
from .listing import show_list


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("student", type=composed, help="the student's id")
    command.add_argument(
        "--remove-grades", action="store_true", help="remove grades, graded notebooks and feedback pages"
    )
    command.add_argument("--undo", action="store_true", help="take the student back into the class")


def run(args: argparse.Namespace) -> None:
    """Drop the student or take them back, and print which grades remain."""
    from ..term import drop

    if args.undo:
        drop.undo(args.folder, args.student)
        print(f"{args.student} is back in the class. The next run grades their submissions.")
        return
    graded = drop.drop(args.folder, args.student, args.remove_grades)
    print(f"{args.student} is excluded from now on. To undo this: autograder drop {args.student} --undo")
    kept = "Grades kept in the gradebook, where Formgrader shows them"
    show_list("Grades removed, submissions kept" if args.remove_grades else kept, graded, ", ")
