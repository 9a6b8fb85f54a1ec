"""Read Moodle's grading worksheet, which maps an assignment's participant numbers to people.

Moodle assigns new numbers in each assignment (get_uniqueid_for_user): the number in an archive's folder names appears
elsewhere only in the worksheet's Identifier ("Participant 12345"). The columns are those of
mod/assign/gradingtable.php, in English: Identifier, Full name, the identity fields that the site shows (ID number,
Username, Email address), Status, Grade, Maximum grade, Last modified (submission), Last modified (grade), Feedback
comments. Under anonymous marking, only Identifier is filled in, and no roster contains it. Status joins its parts by
" - " (col_status): the state, how late the submission is, locks and grading, and last the end of an extension.
"""

import contextlib
import re
from datetime import UTC, datetime
from pathlib import Path

from gradlab.words import _

from ..errors import ClassError
from ..steps.files import YEARS
from .people import Match, People
from .tables import Row, read_table

IDENTIFIER, GRADE, MODIFIED = "identifier", "grade", "last modified (grade)"
SUBMITTED_AT = "last modified (submission)"
WITHOUT_TEXT = {IDENTIFIER, GRADE, MODIFIED, "full name", "id number", "username", "email address", "email", "status"}
WITHOUT_TEXT |= {"maximum grade", "grade can be changed", SUBMITTED_AT}  # no free text
EXTENDED = "Extension granted until: "

# A date in ISO form, or in Moodle's English, also of the United States. An hour with one digit and no AM or PM could be
# on either clock, and 03/04/2026 could be in March or in April, so both are not read.
ISO = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*")
CLOCK = re.compile(r" (\d\d:\d\d|\d{1,2}:\d\d [AP]M)$", re.IGNORECASE)
MOODLE = [f"%A, {day}, {time}" for day in ("%d %B %Y", "%B %d, %Y") for time in ("%I:%M %p", "%H:%M")]


class Worksheet:
    """A downloaded grading worksheet; raises ClassError if the file is not one. rows: by the numbers of Identifiers."""

    def __init__(self, path: Path):
        self.table = read_table(path)
        self.column = self.table.by_key
        missing = [name for name in (IDENTIFIER, GRADE, MODIFIED) if name not in self.column]
        if missing:
            lacks = _("{file} is not a grading worksheet: it has no column {column}.", file=path, column=missing[0])
            get = _("Set your language in Moodle to English, and download the grading worksheet.")
            raise ClassError(f"{lacks} {self.table.shown} {get}")
        identified = [(re.search(r"\d+$", self.get(row, IDENTIFIER)), row) for row in self.table.rows]
        self.rows = {number[0]: row for number, row in identified if number}

    def find(self, row: Row, people: People) -> Match:
        """Match a row to a student by ID number, username or e-mail address; by full name if these are empty."""
        strong = {"lms_user_id": self.get(row, "id number"), "id": self.get(row, "username")}
        strong["email"] = self.get(row, "email address") or self.get(row, "email")
        return people.find(**strong) if any(strong.values()) else people.find(name=self.get(row, "full name"))

    def is_draft(self, row: Row) -> bool:
        """Return whether a submission was saved, but not submitted."""
        return self.get(row, "status").startswith("Draft")

    def submitted_at(self, row: Row) -> datetime | None:
        """Return when a submission was last changed, in UTC; None if that is not stated, or unclear."""
        return read_moodle(self.get(row, SUBMITTED_AT))

    def extended_until(self, row: Row) -> datetime | None:
        """Return the end of an extension, in UTC; None if there is none, or it is unclear."""
        return read_moodle(self.get(row, "status").partition(EXTENDED)[2])

    def get(self, row: Row, key: str) -> str:
        """Return the text in a column, given by its normalized name; "" if the column is missing."""
        return row.get(self.column.get(key, ""))


def read_moodle(text: str) -> datetime | None:
    """Return the time, in UTC, that a text in these forms states; None for other forms, or if the weekday is wrong.

    Moodle writes dates in the downloading person's time zone, which is assumed to be this machine's.
    """
    text, stated = " ".join(text.split()), None
    if ISO.fullmatch(text):
        with contextlib.suppress(ValueError):
            stated = datetime.fromisoformat(text)
    for form in MOODLE if CLOCK.search(text) else ():
        with contextlib.suppress(ValueError):
            read = datetime.strptime(text, form)
            stated = read if text.startswith(f"{read:%A}") else None
    return stated.astimezone(UTC).replace(tzinfo=None) if stated and stated.year in YEARS else None
