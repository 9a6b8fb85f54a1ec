"""Write grades in the format that a learning platform imports. Students without a grade get an empty cell."""

import argparse
import os
from pathlib import Path

from gradlab import atomic

from ..errors import ClassError
from ..term.archives import PLATFORMS
from .listing import show_list


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignments", nargs="+", metavar="ASSIGNMENT", help="a chapter's name")
    command.add_argument("--platform", choices=sorted(PLATFORMS), required=True, help="which platform's format")
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the CSV file to write")
    command.add_argument(
        "--into", type=Path, metavar="FILE", help="fill in a copy of Canvas's gradebook or Moodle's grading worksheet"
    )
    command.add_argument("--column", metavar="COLUMN", help="the assignment's column in Canvas's exported gradebook")
    command.add_argument(
        "--stale", action="store_true", help="include the old scores of submissions that must be graded again"
    )
    command.add_argument("--anonymous", action="store_true", help="replace names with ids, for sharing, not importing")


def run(args: argparse.Namespace) -> None:
    """Write the file and print which students are not in it."""
    from ..settings import class_api
    from ..term import grades

    names = list(dict.fromkeys(args.assignments))
    if args.anonymous and args.into:
        raise ClassError("--into copies the platform's names and ids; do not combine it with --anonymous.")
    if args.column and (not args.into or len(names) > 1 or args.platform != "canvas"):
        raise ClassError(
            "--column names one assignment's column in Canvas's gradebook; use it with --into and one assignment."
        )
    if args.into and args.platform == "moodle" and len(names) > 1:
        raise ClassError("A Moodle worksheet belongs to one assignment; name only one.")
    if args.into and args.output.exists() and os.path.samefile(args.into, args.output):
        raise ClassError("-o and --into name the same file; write to a different one.")
    course = class_api(args.folder).coursedir
    found = grades.read_grades(course, names, args.stale)
    if args.anonymous:
        made = grades.anonymous(found, args.folder)
    elif args.platform == "canvas":
        columns = {names[0]: args.column} if args.column else {}
        made = grades.fill_gradebook(found, columns, args.into) if args.into else grades.canvas(found)
    else:
        made = grades.fill_worksheet(found, names[0], args.into) if args.into else grades.moodle(found)
    atomic.write_text(args.output, made.text(), mode=0o600)
    print(args.output)
    show_list("Not in the file", made.left_out)
    show_list("In the platform's file, but not in the class (left out or unchanged in the new file)", made.unknown)
    for name, without in found.without().items():
        show_list(f"{name}: no grade", without)
