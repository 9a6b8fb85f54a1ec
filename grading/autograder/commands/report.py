"""Print the table and write the report of an assignment again, for example after manual grading."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .listing import show_list

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

    from ..views.report import Report


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("--seen", action="store_true", help="mark the flags as seen; week lists only new ones")


def run(args: argparse.Namespace) -> None:
    """Print the table, write the files and mark flags as seen if asked to."""
    from ..views import seen

    course, report = show(args.folder, args.assignment)
    if args.seen:
        seen.mark(course, report)
        show_list("Flags marked as seen", [row.student for row in report.rows if row.flags])


def show(folder: Path, name: str) -> tuple["CourseDirectory", "Report"]:
    """Print the table and write the files; return the class and the report."""
    from ..settings import open_class
    from ..views.renderings import table, write
    from ..views.report import gather

    course = open_class(folder).coursedir
    report = gather(course, name)
    print(table(report))
    for path in write(course, report):
        print(path)
    return course, report
