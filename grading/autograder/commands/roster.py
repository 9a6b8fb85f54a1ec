"""Bring the gradebook's students up to date with a table.

A CSV file of Moodle's participants, Canvas's gradebook, or your own, whose columns are id, first_name, last_name,
email, lms_user_id. All of it is imported, or nothing; nobody is removed.
"""

import argparse
from pathlib import Path

from ..steps.files import readable
from .listing import show_list

HELP = "bring the gradebook's students up to date with a table"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("file", type=Path, help="the CSV file, in whatever form it was saved")
    command.add_argument(
        "--id", default="", metavar="COLUMN", help="the column with the ids under which students hand in"
    )
    command.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")


def run(args: argparse.Namespace) -> int:
    """Import the table, and print what that has changed; returns the exit code."""
    from ..run.journal import only_run
    from ..settings import class_api
    from ..term.roster import read_roster, write_roster

    roster = read_roster(args.file, args.id)
    with only_run(args.folder):
        changes = write_roster(class_api(args.folder).coursedir, roster, args.dry_run)
    used = ", ".join(f"{name} from {readable(column)}" for name, column in roster.used.items())
    count = len(roster.entries)
    print(f"{count} student{'s' * (count != 1)} in {args.file}: {used}.")
    if roster.encoding == "cp1252":
        print("It is not UTF-8 and was read as Windows-1252. Look at the umlauts.")
    show_list("Not used", roster.unused, ", ")
    show_list("No students", roster.passed_over)
    show_list("Added", changes.added, ", ")
    show_list("Changed", [f"{student}: {', '.join(said)}" for student, said in changes.changed.items()])
    print(f"Unchanged: {len(changes.unchanged)}")
    show_list("In the gradebook, but not in the file (autograder drop leaves them out)", changes.absent, ", ")
    show_list("In the file, but dropped (autograder drop --undo takes them back)", changes.dropped, ", ")
    if args.dry_run:
        print("Nothing was changed.")
    return 0
