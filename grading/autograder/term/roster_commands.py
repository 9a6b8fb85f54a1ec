"""The commands for the roster, for due dates, and for the ways from and to learning platforms."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from .. import atomic
from ..errors import ClassError
from ..run.journal import only_run
from ..settings import class_api
from ..steps.files import readable
from . import archives, dates, drop, grades, submissions
from .roster import read_roster, write_roster

PLATFORMS = sorted(archives.PLATFORMS)


def add(commands: argparse._SubParsersAction, anywhere: argparse.ArgumentParser) -> None:
    """Add the commands to those of the command line; anywhere: the options that each command has."""

    def command(name: str, help: str, more: str = "") -> argparse.ArgumentParser:
        text = f"{help[0].upper()}{help[1:]}. {more}".strip()
        return commands.add_parser(name, parents=[anywhere], help=help, description=text)

    one = command(
        "roster",
        "bring the gradebook's students up to date with a table",
        "A CSV file of Moodle's participants, Canvas's gradebook, or your own, whose columns are id, first_name, "
        "last_name, email, lms_user_id. All of it is imported, or nothing; nobody is removed.",
    )
    one.add_argument("file", type=Path, help="the CSV file, in whatever form it was saved")
    one.add_argument("--id", default="", metavar="COLUMN", help="the column with the ids under which students hand in")
    one.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")

    one = command("due", "set when an assignment is due", "Penalties of what was graded follow.")
    one.add_argument("assignment", help="a chapter's name")
    one.add_argument("date", help=f"{dates.FORM}; or {dates.NONE}")

    one = command("extend", "let one student hand in later", "Penalties of what was graded follow.")
    one.add_argument("student", help="the student's id")
    one.add_argument("assignment", help="a chapter's name")
    one.add_argument("date", help=f"until when: as for due; {dates.NONE} takes the extension back")

    one = command(
        "drop",
        "leave a student out of grading, feedback, reports and exports",
        "However often submissions are collected, until --undo. Submissions and grades stay where they are.",
    )
    one.add_argument("student", help="the student's id")
    one.add_argument("--remove-grades", action="store_true", help="remove grades, graded notebooks and feedback pages")
    one.add_argument("--undo", action="store_true", help="take the student back into the class")

    one = command(
        "import-submissions",
        "take the submissions of an assignment from a learning platform's archive",
        "Each is put where nbgrader collects it, under the id of its student in the roster.",
    )
    one.add_argument("assignment", help="a chapter's name")
    one.add_argument("archive", type=Path, help="the zip file, as the platform gives it")
    one.add_argument("--platform", choices=PLATFORMS, default="", help="whose archive it is (default: by its names)")
    one.add_argument(
        "--worksheet", type=Path, metavar="FILE", help="Moodle's grading worksheet, which says who is who, and when"
    )
    one.add_argument("--update", action="store_true", help="replace other submissions that are there")
    one.add_argument("--late-at", metavar="DATE", help="when what Canvas marks LATE counts as handed in")

    one = command(
        "export",
        "write grades in the form that a learning platform imports",
        "Who has no grade has an empty cell, and is named.",
    )
    one.add_argument("assignments", nargs="+", metavar="ASSIGNMENT", help="a chapter's name")
    one.add_argument("--platform", choices=PLATFORMS, required=True, help="whose form")
    one.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the CSV file to write")
    one.add_argument(
        "--into", type=Path, metavar="FILE", help="a copy of Canvas's exported gradebook, or Moodle's grading worksheet"
    )
    one.add_argument("--column", metavar="COLUMN", help="the assignment's column in Canvas's exported gradebook")
    one.add_argument("--anonymous", action="store_true", help="ids without a name, for sharing instead of importing")


def _roster(args: argparse.Namespace) -> int:
    roster = read_roster(args.file, args.id)
    with only_run(args.folder):
        changes = write_roster(class_api(args.folder).coursedir, roster, args.dry_run)
    used = ", ".join(f"{name} from {readable(column)}" for name, column in roster.used.items())
    count = len(roster.entries)
    print(f"{count} student{'s' * (count != 1)} in {args.file}: {used}.")
    if roster.encoding == "cp1252":
        print("It is not UTF-8 and was read as Windows-1252. Look at the umlauts.")
    _list("Not used", roster.unused, ", ")
    _list("No students", roster.passed_over)
    _list("Added", changes.added, ", ")
    _list("Changed", [f"{student}: {', '.join(said)}" for student, said in changes.changed.items()])
    print(f"Unchanged: {len(changes.unchanged)}")
    _list("In the gradebook, but not in the file (autograder drop leaves them out)", changes.absent, ", ")
    _list("In the file, but dropped (autograder drop --undo takes them back)", changes.dropped, ", ")
    if args.dry_run:
        print("Nothing was changed.")
    return 0


def _due(args: argparse.Namespace) -> int:
    return _told(args.assignment, dates.set_due(args.folder, args.assignment, dates.read_date(args.date)))


def _extend(args: argparse.Namespace) -> int:
    until = dates.read_date(args.date)
    return _told(args.assignment, dates.extend(args.folder, args.student, args.assignment, until))


def _told(name: str, found: dates.Dates) -> int:
    print(f"{name} is due {dates.local(found.due) if found.due else 'at no time'}.")
    _list("Extended", [f"{s} until {dates.local(date)}" for s, date in sorted(found.extended.items())])
    _list("No longer extended", found.ended, ", ")
    _list("Other penalties", [f"{s}: {old:g} -> {new:g} points" for s, (old, new) in found.penalties.items()])
    if found.penalties:
        print(f"Their feedback pages still say the old ones: autograder feedback {name}")
    return 0


def _drop(args: argparse.Namespace) -> int:
    if args.undo:
        drop.undo(args.folder, args.student)
        print(f"{args.student} is in the class again. What they handed in is graded by the next run.")
        return 0
    left = drop.drop(args.folder, args.student, args.remove_grades)
    print(f"{args.student} is left out from now on. Back again: autograder drop {args.student} --undo")
    _list("Grades were removed, submissions are kept", left.removed, ", ")
    _list("Grades stay in the gradebook, where Formgrader shows them", left.kept, ", ")
    return 0


def _import(args: argparse.Namespace) -> int:
    late_at = dates.read_date(args.late_at) if args.late_at else None
    found = submissions.import_submissions(
        args.folder, args.assignment, args.archive, args.platform, args.worksheet, args.update, late_at
    )
    done = found.done
    for state in (submissions.NEW, submissions.REPLACED, submissions.UNCHANGED):
        print(f"{state.capitalize()}: {sum(one.state == state for one in done)}")
    _list("Renamed, or chosen", [f"{one.who}: {one.said}" for one in done if one.said and not _refused(one)])
    kept = [one.who for one in done if one.state == submissions.KEPT]
    _list("Another submission is there already (--update replaces it)", kept, ", ")
    _list("Not imported", [f"{one.who}: {one.said}" for one in done if one.state == submissions.REFUSED])
    _list("Members of the archive that are no file of a student's", [readable(name)[:200] for name in found.others])
    if found.by_name:
        print("People were found by their full names alone, and no times: Moodle's worksheet has both (--worksheet).")
    late = [one.who for one in done if one.late and not _refused(one)]
    if not late_at:
        _list("Late, but Canvas does not say when, so they count as in time (--late-at DATE)", late, ", ")
    return 1 if any(map(_refused, done)) else 0


def _refused(one: submissions.Imported) -> bool:
    return one.state == submissions.REFUSED


def _export(args: argparse.Namespace) -> int:
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
    found = grades.read_grades(course, names)
    if args.anonymous:
        made = grades.anonymous(found, args.folder)
    elif args.platform == "canvas":
        columns = {names[0]: args.column} if args.column else {}
        made = grades.fill_gradebook(found, columns, args.into) if args.into else grades.canvas(found)
    else:
        made = grades.fill_worksheet(found, names[0], args.into) if args.into else grades.moodle(found)
    atomic.write_text(args.output, made.text(), mode=0o600)
    print(args.output)
    _list("Not in the file", made.left_out)
    _list("In the platform's file, but not in the class; as they were", made.unknown)
    for name, without in found.without().items():
        _list(f"{name}: without a grade", without)
    return 0


def _list(title: str, items: list[str], between: str = "") -> None:
    """Print a title and what there is below it; nothing if there is nothing."""
    if items:
        print(f"{title}: {between.join(map(readable, items))}" if between else "\n  ".join([f"{title}:", *items]))


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "roster": _roster,
    "due": _due,
    "extend": _extend,
    "drop": _drop,
    "import-submissions": _import,
    "export": _export,
}
