"""Process an assignment once submissions are in: import or collect, grade, report, return feedback, export.

Does what the commands with these names do, in order, and finally lists what needs your attention. Exports grades only
with --gradebook or --worksheet. Finished work is not repeated, so you can run it again whenever something changes.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gradlab.words import _

from ..errors import require_success
from . import import_submissions, show_list
from .due import say_due
from .export import export_grades
from .feedback import give_feedback
from .grade import grade_class

if TYPE_CHECKING:
    from ..views.report import Report


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help=_("a chapter's name"))
    archive = _("a platform's archive (default: collect from an exchange)")
    command.add_argument("archive", nargs="?", type=Path, help=archive)
    platform = command.add_mutually_exclusive_group()
    platform.add_argument("--worksheet", type=Path, help=_("Moodle's grading worksheet; exports grades into it"))
    platform.add_argument("--gradebook", type=Path, help=_("Canvas's gradebook; exports grades into it"))
    command.add_argument("--column", help=_("the assignment's column in Canvas's gradebook"))
    command.add_argument("--late-at", metavar="DATE", help=_("see {command}", command="import-submissions"))
    command.add_argument("--update", action="store_true", help=_("replace existing submissions that differ"))
    command.add_argument("--scheduler", metavar="ADDRESS", help=_("see {command}", command="grade"))
    command.add_argument("--no-sandbox", action="store_true", help=_("see {command}", command="grade"))
    command.set_defaults(dry_run=False)  # of import-submissions


def run(args: argparse.Namespace) -> int:
    """Take the steps; return 1 if one of them left a problem to fix, or the code of a run that was interrupted."""
    from nbgrader.api import Gradebook

    from ..gradebook import find_assignment
    from ..settings import open_class
    from ..term import by_hand, platforms
    from ..views.report import gather

    codes = [_submissions(args)]
    folder, name, course = args.folder, args.assignment, open_class(args.folder).coursedir
    with Gradebook(course.db_url, course.course_id) as book:
        due = find_assignment(book, name).duedate
    print()
    say_due(name, due)
    _begin(_("Grade"))
    codes.append(grade_class(folder, name, sandbox=not args.no_sandbox, scheduler=args.scheduler))
    if codes[-1]:
        return codes[-1]
    _begin(_("Return feedback"))
    codes.append(give_feedback(folder, name, pack=bool(platforms.read(course, name))))
    into = args.worksheet or args.gradebook
    _begin(_("Export grades"))
    if into:
        export_grades(folder, name, into, platforms.folder(course) / f"{name}.grades.csv", args.column)
    else:
        print(_("To export grades, add Canvas's --gradebook FILE or Moodle's --worksheet FILE."))
    _begin(_("Needs your attention"))
    _needs_a_look(gather(course, name), *by_hand.listed(course, name))
    return max(codes)


def _begin(step: str) -> None:
    print(f"\n{step}:", flush=True)


def _submissions(args: argparse.Namespace) -> int:
    """Import the archive, or collect from the exchange if there is one; else do nothing. Return the exit code."""
    from ..run import return_feedback as returned
    from ..settings import open_class

    name = args.assignment
    if args.archive:
        _begin(_("Import submissions"))
        return import_submissions.run(args)
    api = open_class(args.folder)
    if returned.exchange(api) is None:
        print(_("No archive was given and there is no exchange: using the existing submissions."))
        return 0
    _begin(_("Collect from the exchange"))
    said = api.collect(name)
    print(said.get("log", ""), end="")
    require_success(said, _("Submissions could not be collected from the exchange"))
    return 0


def _needs_a_look(report: "Report", to_decide: str, undecided: list[str]) -> None:
    """Print what only a person can decide, or "nothing". undecided: see `by_hand.listed`, with the title to_decide."""
    from ..steps.outcome import Status
    from ..views.renderings import to_do

    rows = {status: [row for row in report.rows if row.status == status] for status in Status}
    flags = [f"{row.student}: {len(row.flags)}" for row in report.rows if row.flags]
    sections = [
        (_("Could not be graded"), [f"{row.student}: {row.reason}" for row in rows[Status.UNGRADABLE]]),
        (_("Need a manual grade"), [row.student for row in rows[Status.NEEDS_MANUAL] if not undecided]),
        (to_decide, undecided),
        (_("Number of flags (see the report)"), flags),
        (_("To do"), to_do(report)),
    ]
    for title, lines in sections:
        show_list(title, lines)
    if not any(lines for title, lines in sections):
        print(_("nothing"))
