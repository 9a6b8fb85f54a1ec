"""Fill an assignment's grades into the file that a learning platform exported, for you to import there.

The file is Canvas's gradebook or Moodle's grading worksheet. Students without a grade keep their existing entry.
"""

import argparse
import os
from pathlib import Path

from gradlab import atomic
from gradlab.words import _

from ..errors import ClassError
from . import show_list


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help=_("a chapter's name"))
    into = _("Canvas's gradebook or Moodle's grading worksheet")
    command.add_argument("--into", type=Path, required=True, metavar="FILE", help=into)
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=_("the CSV file to write"))
    command.add_argument("--column", help=_("the assignment's column in Canvas's gradebook"))


def run(args: argparse.Namespace) -> None:
    """Write the file; see `export_grades`."""
    export_grades(args.folder, args.assignment, args.into, args.output, args.column)


def export_grades(folder: Path, name: str, into: Path, output: Path, column: str | None = None) -> None:
    """Write the file `output`, readable by its owner only, and print its path and which students are not in it.

    Raises ClassError, and writes nothing, if the assignment is unknown, if `into` does not fit the gradebook, or if it
    is the same file as `output`.
    """
    from ..settings import class_api
    from ..term import grades

    if output.exists() and os.path.samefile(into, output):
        raise ClassError(_("-o and --into name the same file; write to a different one."))
    class_grades = grades.read_grades(class_api(folder).coursedir, name)
    made = grades.fill(class_grades, into, column)
    atomic.write_text(output, made.text(), mode=0o600)
    print(output)
    show_list(_("In the class, but not in {file}", file=into), made.left_out, ", ")
    show_list(_("In the platform's file, but not in the class (left out of the new file)"), made.unknown)
    show_list(_("{assignment}: no grade", assignment=name), class_grades.without())
