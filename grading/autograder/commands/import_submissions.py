"""Take the submissions of an assignment from a learning platform's archive.

Each is put where nbgrader collects it, under the id of its student in the roster.
"""

import argparse
from pathlib import Path

from ..steps.files import readable
from ..term.archives import PLATFORMS
from ..term.written import read_date
from .listing import show_list

HELP = "take the submissions of an assignment from a learning platform's archive"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("archive", type=Path, help="the zip file, as the platform gives it")
    command.add_argument(
        "--platform", choices=sorted(PLATFORMS), default="", help="whose archive it is (default: by its names)"
    )
    command.add_argument(
        "--worksheet", type=Path, metavar="FILE", help="Moodle's grading worksheet, which says who is who, and when"
    )
    command.add_argument("--update", action="store_true", help="replace other submissions that are there")
    command.add_argument(
        "--late-at", metavar="DATE", help="when what Canvas marks LATE counts as handed in; or a table with the times"
    )
    command.add_argument("--dry-run", action="store_true", help="say what would be imported, and change nothing")


def run(args: argparse.Namespace) -> int:
    """Import the archive, and print what became of each submission; returns 1 if one was refused."""
    from ..term import submissions

    table = Path(args.late_at) if args.late_at and Path(args.late_at).is_file() else None
    late_at = table or (read_date(args.late_at) if args.late_at else None)
    found = submissions.import_submissions(
        args.folder, args.assignment, args.archive, args.platform, args.worksheet, args.update, late_at, args.dry_run
    )
    done = found.done
    refused = [one for one in done if one.state == submissions.REFUSED]
    imported = [one for one in done if one.state not in (submissions.REFUSED, submissions.PASSED_OVER)]
    for state in (submissions.NEW, submissions.REPLACED, submissions.UNCHANGED):
        print(f"{state.capitalize()}: {sum(one.state == state for one in done)}")
    show_list("Renamed, or chosen", [f"{one.who}: {one.said}" for one in imported if one.said])
    kept = [one.who for one in done if one.state == submissions.KEPT]
    show_list("Another submission is there already (--update replaces it)", kept, ", ")
    show_list("Grading will refuse", [f"{one.who}: {one.refusal}" for one in imported if one.refusal])
    show_list("Typed into Canvas; ask for the notebook as a file", found.typed, ", ")
    show_list("Passed over", [one.who for one in done if one.state == submissions.PASSED_OVER], ", ")
    show_list("Not imported", [f"{one.who}: {one.said}" for one in refused])
    show_list("Members of the archive that are no file of a student's", [readable(name)[:200] for name in found.others])
    if found.by_name:
        print("People were found by their full names alone, and no times: Moodle's worksheet has both (--worksheet).")
    late = [one.who for one in imported if one.untimed]
    show_list("Late, but Canvas does not say when, so they count as in time (--late-at DATE)", late, ", ")
    if args.dry_run:
        print("Nothing was changed.")
    return 1 if refused else 0
