"""Write grades in the form that a learning platform imports. Who has no grade has an empty cell, and is named."""

import argparse
import os
from pathlib import Path

from gradlab import atomic

from ..errors import ClassError
from ..term.archives import PLATFORMS
from .listing import show_list

HELP = "write grades in the form that a learning platform imports"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignments", nargs="+", metavar="ASSIGNMENT", help="a chapter's name")
    command.add_argument("--platform", choices=sorted(PLATFORMS), required=True, help="whose form")
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the CSV file to write")
    command.add_argument(
        "--into", type=Path, metavar="FILE", help="a copy of Canvas's exported gradebook, or Moodle's grading worksheet"
    )
    command.add_argument("--column", metavar="COLUMN", help="the assignment's column in Canvas's exported gradebook")
    command.add_argument(
        "--stale", action="store_true", help="with the scores of submissions that must be graded again, as they are"
    )
    command.add_argument("--anonymous", action="store_true", help="ids without a name: for sharing, not for importing")


def run(args: argparse.Namespace) -> int:
    """Write the file, and print who is not in it; returns the exit code."""
    from ..settings import class_api
    from ..term import grades

    names = list(dict.fromkeys(args.assignments))
    if args.anonymous and args.into:
        raise ClassError("--into takes names and ids from the platform; leave it out with --anonymous.")
    if args.column and (not args.into or len(names) > 1 or args.platform != "canvas"):
        raise ClassError("--column names the column of one assignment in Canvas's file after --into.")
    if args.into and args.platform == "moodle" and len(names) > 1:
        raise ClassError("A worksheet of Moodle's is that of one assignment; name one.")
    if args.into and args.output.exists() and os.path.samefile(args.into, args.output):
        raise ClassError("-o names the file that --into reads; write to another one.")
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
    show_list("In the platform's file, but not in the class; not in the new file, or as they were", made.unknown)
    for name, without in found.without().items():
        show_list(f"{name}: without a grade", without)
    return 0
