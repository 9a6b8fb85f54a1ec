"""Generate an assignment, set its due date, and release it as an archive and in nbgrader's exchange if there is one.

An assignment is generated only once; use `update` to bring it up to date with the course.
"""

import argparse

from gradlab.words import N_, _

from .due import FORM, read_date, show_dates


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help=_("a chapter's name"))
    command.add_argument("--due", metavar="DATE", help=_("the due date: {form}", form=_(FORM)))


def run(args: argparse.Namespace) -> None:
    """Release the assignment and print where it is."""
    from ..settings import open_class
    from ..term import dates, release

    name, api = args.assignment, open_class(args.folder)
    due = read_date(args.due) if args.due else None
    is_new = release.generate(api, name)
    print(_(N_("{name} was generated.") if is_new else N_("{name} was already generated."), name=name))
    if args.due:
        show_dates(name, dates.set_due(args.folder, name, due))
    if release.put_into_exchange(api, name):
        print(_("Students can fetch it from the exchange."))
    print(_("To distribute it in any other way: {file}", file=release.pack(api, name)))
