"""Set an assignment's due date, for everyone or for one student, and recompute the penalties of graded submissions."""

import argparse
from datetime import datetime
from typing import TYPE_CHECKING

from gradlab.words import _

from ..steps.files import composed
from ..term.written import FORM, NONE, read_date
from ..views.words import local
from .listing import show_list

if TYPE_CHECKING:
    from ..term.dates import Dates


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help=_("a chapter's name"))
    command.add_argument(
        "date", help=_("{form}; or {none}, which removes the date or the extension", form=_(FORM), none=NONE)
    )
    command.add_argument("--student", type=composed, help=_("extend only this student's due date"))


def run(args: argparse.Namespace) -> None:
    """Set the date in the gradebook and print its effects."""
    from ..term import dates

    date = read_date(args.date)
    if args.student:
        show_dates(args.assignment, dates.extend(args.folder, args.student, args.assignment, date))
    else:
        show_dates(args.assignment, dates.set_due(args.folder, args.assignment, date))


def show_dates(name: str, dates: "Dates") -> None:
    """Print an assignment's due date, its extensions and the changed penalties."""
    from ..views.changes import counted

    print(due_date(name, dates.due))
    show_list(_("Extended"), until(dict(sorted(dates.extended.items()))))
    show_list(_("No longer extended"), dates.ended, ", ")
    show_list(_("Changed penalties"), [f"{s}: {old:g} -> {counted(new)}" for s, (old, new) in dates.penalties.items()])
    if dates.penalties:
        print(
            _(
                "These students' feedback pages show the old penalties. To update them: {command}",
                command=f"autograder feedback {name}",
            )
        )


def due_date(name: str, due: datetime | None) -> str:
    """Return a sentence about an assignment's due date."""
    if due is None:
        return _("{assignment} has no due date.", assignment=name)
    return _("{assignment} is due {date}.", assignment=name, date=local(due))


def until(extended: dict[str, datetime]) -> list[str]:
    """Return a line for each student with an extension."""
    return [_("{student} until {date}", student=student, date=local(date)) for student, date in extended.items()]
