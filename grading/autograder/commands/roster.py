"""Update the gradebook's students from a CSV file.

Use Moodle's participants, Canvas's gradebook, or your own table with the columns id, first_name, last_name, email
and lms_user_id. Either every row is imported or none is, and nobody is removed.
"""

import argparse
from pathlib import Path

from gradlab.words import _

from . import show_list


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, help=_("the CSV file, in UTF-8"))
    command.add_argument("--id", default="", metavar="COLUMN", help=_("the column with the ids of submissions"))
    command.add_argument("--dry-run", action="store_true", help=_("say what would change, without changing anything"))


def run(args: argparse.Namespace) -> None:
    """Import the table and print the changes."""
    from ..run.lock import only_run
    from ..settings import class_api
    from ..term.roster import read_roster, write_roster

    students, columns = read_roster(args.file, args.id)
    with only_run(args.folder):
        changes = write_roster(class_api(args.folder).coursedir, students, args.dry_run)
    print(_("Students in {file}: {number}", file=args.file, number=len(students)))
    show_list(_("Columns"), [f"{field}: {column}" for field, column in columns.items()], ", ")
    show_list(_("Added"), changes.added, ", ")
    show_list(_("Changed"), [f"{student}: {', '.join(said)}" for student, said in changes.changed.items()])
    show_list(_("Not in the file (to exclude them, add their ids to dropped.txt)"), changes.absent, ", ")
    if args.dry_run:
        print(_("Nothing was changed."))
