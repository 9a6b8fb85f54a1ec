"""Write grades in the format that a learning platform imports. Students without a grade get an empty cell."""

import argparse
import os
from pathlib import Path

from gradlab import atomic

from ..errors import ClassError
from ..term.archives import PLATFORMS
from .listing import show_list


def add_arguments(command: argparse.ArgumentParser) -> None:
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
    """Write the file; raise ClassError if options do not fit together."""
    names = list(dict.fromkeys(args.assignments))
    if args.anonymous and args.into:
        raise ClassError("--into copies the platform's names and ids; do not combine it with --anonymous.")
    if args.column and (not args.into or len(names) > 1 or args.platform != "canvas"):
        raise ClassError(
            "--column names one assignment's column in Canvas's gradebook; use it with --into and one assignment."
        )
    if args.into and args.platform == "moodle" and len(names) > 1:
        raise ClassError("A Moodle worksheet belongs to one assignment; name only one.")
    export_grades(args.folder, names, args.platform, args.output, args.into, args.column, args.stale, args.anonymous)


def export_grades(
    folder: Path,
    names: list[str],
    platform: str,
    output: Path,
    into: Path | None = None,
    column: str | None = None,
    stale: bool = False,
    anonymous: bool = False,
) -> None:
    """Write the file `output`, readable by its owner only, and print its path and which students are not in it.

    Raises ClassError, and writes nothing, if an assignment is unknown, if `into` does not fit the gradebook, or if it
    is the same file as `output`.
    """
    from ..settings import class_api
    from ..term import grades

    if into and output.exists() and os.path.samefile(into, output):
        raise ClassError("-o and --into name the same file; write to a different one.")
    class_grades = grades.read_grades(class_api(folder).coursedir, names, stale)
    if anonymous:
        made = grades.anonymous(class_grades, folder)
    elif platform == "canvas":
        columns = {names[0]: column} if column else {}
        made = grades.fill_gradebook(class_grades, columns, into) if into else grades.canvas(class_grades)
    else:
        made = grades.fill_worksheet(class_grades, names[0], into) if into else grades.moodle(class_grades)
    atomic.write_text(output, made.text(), mode=0o600)
    print(output)
    show_list("Not in the file", made.left_out)
    show_list("In the platform's file, but not in the class (left out or unchanged in the new file)", made.unknown)
    for name, without in class_grades.without().items():
        show_list(f"{name}: no grade", without)
