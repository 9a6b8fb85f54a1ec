"""Set an assignment's due date, for everyone or for one student, and recompute the penalties of graded submissions."""

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gradlab.words import N_, _

from ..errors import ClassError
from ..steps.files import composed, readable
from ..views.words import local
from . import show_list

if TYPE_CHECKING:
    from ..term.dates import Dates

FORM = N_('"2026-11-02 18:00", with a time zone "2026-11-02 18:00+01:00", "2026-11-02" for the end of the day, or none')


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help=_("a chapter's name"))
    command.add_argument("date", help=_("{form}; none removes the date or the extension", form=_(FORM)))
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

    say_due(name, dates.due)
    show_list(_("Extended until"), [f"{s}: {local(date)}" for s, date in sorted(dates.extended.items())])
    show_list(_("No longer extended"), dates.ended, ", ")
    show_list(_("Changed penalties"), [f"{s}: {old:g} -> {counted(new)}" for s, (old, new) in dates.penalties.items()])
    if dates.penalties:
        print(_("Their feedback pages show the old penalties until you run: autograder feedback {name}", name=name))


def say_due(name: str, due: datetime | None) -> None:
    """Print a sentence about an assignment's due date."""
    sentence = N_("{assignment} is due {date}.") if due else N_("{assignment} has no due date.")
    print(_(sentence, assignment=name, date=due and local(due)))


def read_date(text: str) -> datetime | None:
    """Parse a date into naive UTC, as nbgrader stores it; return None for "none".

    Without a time zone, this machine's applies; without a time, the date means the end of that day. Raises ClassError
    if the text is not a date.
    """
    text = text.strip()
    if text.casefold() == "none":
        return None
    try:
        date = datetime.fromisoformat(text)
        if len(text) <= len("2026-11-02"):
            date = date.replace(hour=23, minute=59, second=59)
        return date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        problem = _("{text!r} is not a date. Expected {form}.", text=readable(text), form=_(FORM))
        raise ClassError(problem) from None
