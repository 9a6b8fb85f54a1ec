"""Leave a student out of grading, feedback, reports and exports, however often submissions are collected.

--undo ends that. Submissions and grades stay where they are.
"""

import argparse

from .listing import show_list

HELP = "leave a student out of grading, feedback, reports and exports"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("student", help="the student's id")
    command.add_argument(
        "--remove-grades", action="store_true", help="remove grades, graded notebooks and feedback pages"
    )
    command.add_argument("--undo", action="store_true", help="take the student back into the class")


def run(args: argparse.Namespace) -> int:
    """Drop the student or take them back, and print what that leaves; returns the exit code."""
    from ..term import drop

    if args.undo:
        drop.undo(args.folder, args.student)
        print(f"{args.student} is in the class again. What they handed in is graded by the next run.")
        return 0
    left = drop.drop(args.folder, args.student, args.remove_grades)
    print(f"{args.student} is left out from now on. Back again: autograder drop {args.student} --undo")
    show_list("Grades were removed, submissions are kept", left.removed, ", ")
    show_list("Grades stay in the gradebook, where Formgrader shows them", left.kept, ", ")
    return 0
