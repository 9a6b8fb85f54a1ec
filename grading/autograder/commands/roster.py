"""Update the gradebook's students from a CSV file.

Use Moodle's participants, Canvas's gradebook, or your own table with the columns id, first_name, last_name, email
and lms_user_id. Either every row is imported or none is, and nobody is removed.
"""

import argparse
from pathlib import Path

from ..steps.files import readable
from .listing import show_list


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, help="the CSV file, in UTF-8")
    command.add_argument(
        "--id", default="", metavar="COLUMN", help="the column with the ids under which students submit"
    )
    command.add_argument("--dry-run", action="store_true", help="say what would change, without changing anything")


def run(args: argparse.Namespace) -> None:
    """Import the table and print the changes."""
    from ..run.lock import only_run
    from ..settings import class_api
    from ..term.roster import read_roster, write_roster

    entries, columns = read_roster(args.file, args.id)
    with only_run(args.folder):
        changes = write_roster(class_api(args.folder).coursedir, entries, args.dry_run)
    used = ", ".join(f"{name} from {readable(column)}" for name, column in columns.items())
    count = len(entries)
    print(f"{count} student{'s' * (count != 1)} in {args.file}: {used}.")
    show_list("Added", changes.added, ", ")
    show_list("Changed", [f"{student}: {', '.join(said)}" for student, said in changes.changed.items()])
    show_list(
        "In the gradebook, but not in the file (to exclude them, add their ids to dropped.txt)", changes.absent, ", "
    )
    if args.dry_run:
        print("Nothing was changed.")
