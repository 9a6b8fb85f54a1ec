"""Import the submissions of an assignment from a learning platform's archive.

Each submission goes into nbgrader's submitted folder, under its student's id in the roster.
"""

import argparse
from pathlib import Path

from gradlab.words import _

from ..steps.files import readable
from ..views.words import local
from . import show_list
from .due import read_date, show_dates


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help=_("a chapter's name"))
    command.add_argument("archive", type=Path, help=_("the zip file, as downloaded from the platform"))
    command.add_argument("--worksheet", type=Path, help=_("Moodle's grading worksheet, to identify students and times"))
    command.add_argument("--update", action="store_true", help=_("replace existing submissions that differ"))
    command.add_argument("--late-at", metavar="DATE", help=_("the submission time of files that Canvas marks LATE"))
    command.add_argument("--dry-run", action="store_true", help=_("say what would be imported, and change nothing"))


def run(args: argparse.Namespace) -> int:
    """Import the archive, and print the result for each submission; return 1 if any was not imported."""
    from ..term import submissions

    late_at = read_date(args.late_at) if args.late_at else None
    result = submissions.import_submissions(
        args.folder, args.assignment, args.archive, args.worksheet, args.update, late_at, args.dry_run
    )
    done = result.done
    refused = [f"{entry.who}: {entry.said}" for entry in done if entry.state == submissions.REFUSED]
    imported = [entry for entry in done if entry.state not in (submissions.REFUSED, submissions.PASSED_OVER)]
    for state in (submissions.NEW, submissions.REPLACED, submissions.UNCHANGED):
        print(f"{_(state).capitalize()}: {sum(entry.state == state for entry in done)}")
    show_list(_("Renamed or chosen among several"), [f"{entry.who}: {entry.said}" for entry in imported if entry.said])
    kept = [entry.who for entry in done if entry.state == submissions.KEPT]
    show_list(_("Kept a different submission that already exists (--update replaces it)"), kept, ", ")
    show_list(_("Will be refused by grading"), [f"{entry.who}: {entry.refusal}" for entry in imported if entry.refusal])
    ignored = [f"{entry.who}: {entry.said}" for entry in done if entry.state == submissions.PASSED_OVER]
    show_list(_("Ignored"), ignored)
    show_list(_("Not imported"), refused)
    show_list(_("Files in the archive that match no student"), [readable(other)[:200] for other in result.others])
    if result.by_name:
        print(_("Students were matched by full name only. For ids and times, add Moodle's --worksheet."))
    untimed = [f"{entry.who}: {entry.untimed}" for entry in imported if entry.untimed]
    show_list(_("Without a known time, so they count as on time (for Canvas, set one with --late-at DATE)"), untimed)
    extensions = [f"{student}: {local(date)}" for student, date in result.extensions.items()]
    show_list(_("Extended in the worksheet until"), extensions)
    if result.dates:
        show_dates(args.assignment, result.dates)
    if args.dry_run:
        print(_("Nothing was changed."))
    return 1 if refused else 0
