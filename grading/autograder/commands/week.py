"""Process an assignment once submissions are in: import or collect, grade, report, return feedback, export.

Runs the commands with these names in order, prints each before it runs, and finally lists what needs your attention.
Finished work is not repeated, so you can run it again whenever something changes.
"""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ClassError
from ..views.words import local
from . import by_hand, export, feedback, grade, import_submissions
from .listing import show_list

if TYPE_CHECKING:
    from ..views.report import Report, Row


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument(
        "archive",
        nargs="?",
        type=Path,
        help="a platform's archive (default: collect from an exchange)",
    )
    command.add_argument("--worksheet", type=Path, metavar="FILE", help="Moodle's grading worksheet")
    command.add_argument("--gradebook", type=Path, metavar="FILE", help="Canvas's exported gradebook")
    command.add_argument("--column", metavar="COLUMN", help="the assignment's column in Canvas's gradebook")
    command.add_argument("--late-at", metavar="DATE", help="see import-submissions")
    command.add_argument("--update", action="store_true", help="replace existing submissions that differ")
    command.add_argument("--scheduler", metavar="ADDRESS", help="see grade")
    command.add_argument("--no-sandbox", action="store_true", help="see grade")
    command.add_argument("--dry-run", action="store_true", help="say what would be done, without changing anything")


def run(args: argparse.Namespace) -> int:
    """Run the commands; return 1 if one of them left a problem to fix."""
    from nbgrader.api import Gradebook

    from ..gradebook import find_assignment
    from ..settings import open_class
    from ..term import by_hand as decisions
    from ..term import sent
    from ..views.report import gather
    from ..views.seen import unseen

    if args.worksheet and args.gradebook:
        raise ClassError("--worksheet is for Moodle and --gradebook for Canvas; use only one of them.")
    codes = [_submissions(args)]
    if args.dry_run:
        return max(codes[0], _dry_run(args))
    name, course = args.assignment, open_class(args.folder).coursedir
    with Gradebook(course.db_url, course.course_id) as book:
        due = find_assignment(book, name).duedate
    print(f"\n{name} is due {local(due)}." if due else f"\n{name} has no due date.")
    options = ["--scheduler", args.scheduler] * bool(args.scheduler) + ["--no-sandbox"] * args.no_sandbox
    codes.append(_command(args, grade, name, *options))
    if codes[-1]:
        return codes[-1]
    platforms = sorted({one.platform for one in sent.read(course, name).values()})
    only = platforms[0] if len(platforms) == 1 else ""
    platform = "moodle" if args.worksheet else "canvas" if args.gradebook else only
    codes.append(_command(args, feedback, name, *(["--zip", "--platform", platform] if platform in platforms else [])))
    if platform:
        into = args.worksheet or args.gradebook
        words = ["--platform", platform, "-o", str(sent.folder(course) / f"{name}.grades.csv")]
        words += ["--into", str(into)] * bool(into) + ["--column", args.column] * bool(args.column)
        codes.append(_command(args, export, *words, name))
    elif platforms:
        print("Submissions came from both platforms. To write files for one, pass its --gradebook or --worksheet.")
    print("\nNeeds your attention:")
    report = gather(course, name)
    _needs_a_look(report, unseen(course, report), by_hand.in_words(decisions.listed(course, name)))
    return max(codes)


def _command(args: argparse.Namespace, module, *words: str) -> int:
    """Print and run another command as if it had been typed; return its exit code."""
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    print(f"\n$ autograder {shlex.join([name, *words])}", flush=True)
    parser = argparse.ArgumentParser(prog=f"python -m autograder {name}")
    module.add_arguments(parser)
    return module.run(parser.parse_args(words, argparse.Namespace(folder=args.folder))) or 0


def _submissions(args: argparse.Namespace) -> int:
    """Import the archive, or collect from the exchange if there is one; else do nothing. Return the exit code."""
    from ..run import return_feedback as returned
    from ..settings import open_class

    if args.archive:
        words = [args.assignment, str(args.archive)]
        words += ["--worksheet", str(args.worksheet)] * bool(args.worksheet)
        words += ["--late-at", args.late_at] * bool(args.late_at)
        words += ["--update"] * args.update + ["--dry-run"] * args.dry_run
        return _command(args, import_submissions, *words)
    api = open_class(args.folder)
    if returned.exchange(api) is None:
        print("No archive was given and there is no exchange: using the existing submissions.")
        return 0
    print(f"\n$ nbgrader collect {args.assignment} --update", flush=True)
    if not args.dry_run:
        said = api.collect(args.assignment)
        print(said.get("log", ""), end="")
        if not said["success"]:
            raise ClassError(
                f"Submissions could not be collected from the exchange:\n{said.get('log') or said.get('error')}"
            )
    return 0


def _dry_run(args: argparse.Namespace) -> int:
    """Print what would be graded and written; return the exit code."""
    from ..settings import open_class
    from ..steps.due import due

    api = open_class(args.folder)
    name, course = args.assignment, api.coursedir
    with api.gradebook as book:
        found = due(course, book.find_assignment(name))
    print(f"\n$ autograder grade {name}")
    show_list("Would be graded, besides imported ones", [f"{student}: {why}" for student, why in found.items()])
    print(f"\n$ autograder feedback {name}\n$ autograder export {name}\nNothing was changed.")
    return 0


def _needs_a_look(report: "Report", flagged: list["Row"], by_hand: list[str]) -> None:
    """Print what only a person can decide, or "nothing".

    flagged: the rows with flags that nobody has seen. by_hand: the manual points that need a decision.
    """
    from ..steps.outcome import Status
    from ..views.renderings import to_do

    rows = {status: [row for row in report.rows if row.status == status] for status in Status}
    found = {
        "Could not be graded": [f"{row.student}: {row.reason}" for row in rows[Status.UNGRADABLE]],
        "Need a manual grade": [row.student for row in rows[Status.NEEDS_MANUAL] if not by_hand],
        f"Points set manually for an earlier submission (autograder by-hand {report.assignment})": by_hand,
        f"Number of flags (see the report; to mark them as seen: autograder report {report.assignment} --seen)": [
            f"{row.student}: {len(row.flags)}" for row in flagged
        ],
        "To do": to_do(report),
    }
    for title, lines in found.items():
        show_list(title, lines)
    if not any(found.values()):
        print("nothing")
