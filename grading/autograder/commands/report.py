"""Print and write the report of an assignment, or of the whole term if you name no assignment.

Use it again after manual grading. The files are in the class's folder `reports`.
"""

import argparse
from pathlib import Path

from gradlab.words import _

from ..errors import ClassError
from ..steps.files import composed


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", nargs="?", help=_("a chapter's name (default: the overview of all)"))
    only = command.add_mutually_exclusive_group()
    only.add_argument("--student", type=composed, help=_("one student's points, with reasons and pages"))
    only.add_argument("--changes", action="store_true", help=_("what each run changed, even under manual points"))
    only.add_argument("--similar", action="store_true", help=_("pairs of similar submissions, for you to review"))


def run(args: argparse.Namespace) -> None:
    """Print what was asked for; raise ClassError if an option needs an assignment."""
    if args.assignment:
        _one(args)
    elif args.student or args.changes or args.similar:
        raise ClassError(_("This option needs an assignment's name: autograder report ASSIGNMENT …"))
    else:
        from ..settings import open_class
        from ..views import term_overview

        course = open_class(args.folder).coursedir
        reports = term_overview.gather_all(course)
        print(term_overview.text(reports), term_overview.write(course, reports), sep="\n")


def _one(args: argparse.Namespace) -> None:
    from ..settings import open_class
    from ..views import changes, renderings

    name, course = args.assignment, open_class(args.folder).coursedir
    if args.student:
        said = renderings.of_one(course, name, args.student)
    elif args.changes:
        said = changes.lines(course, name)
    elif args.similar:
        from ..views import similar  # it imports copydetect, which takes time

        said = similar.lines(course, name)
    else:
        show(args.folder, name)
        return
    print("\n".join(said))


def show(folder: Path, name: str) -> None:
    """Print the table, write the report's files, and print their paths."""
    from ..settings import open_class
    from ..views.renderings import table, write
    from ..views.report import gather

    course = open_class(folder).coursedir
    report = gather(course, name)
    print(table(report))
    for path in write(course, report):
        print(path)
