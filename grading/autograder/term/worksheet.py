"""Read Moodle's grading worksheet, which maps an assignment's participant numbers to people.

Moodle assigns new numbers in each assignment (get_uniqueid_for_user): the number in an archive's folder names appears
elsewhere only in the worksheet's Identifier ("Participant 12345"). The columns are those of
mod/assign/gradingtable.php, in English: Identifier, Full name, the identity fields that the site shows (ID number,
Username, Email address), Status, Grade, Maximum grade, Last modified (submission), Last modified (grade), Feedback
comments. Under anonymous marking, only Identifier is filled in, and no roster contains it.
"""

import contextlib
import re
from datetime import UTC, datetime
from pathlib import Path

from ..errors import ClassError
from ..steps.files import readable
from .people import Found, People
from .tables import Row, key_of, read_table

IDENTIFIER, GRADE, MODIFIED = "identifier", "grade", "last modified (grade)"
WITHOUT_TEXT = {IDENTIFIER, GRADE, MODIFIED, "full name", "id number", "username", "email address", "email", "status"}
WITHOUT_TEXT |= {"maximum grade", "grade can be changed", "last modified (submission)"}  # no free text
TIMES = ["%A, %d %B %Y, %I:%M %p", "%d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M"]  # Moodle's strftimedaydatetime


class Worksheet:
    """A downloaded grading worksheet; raises ClassError if the file is not one."""

    def __init__(self, path: Path):
        self.table = read_table(path)
        if self.table.problems:
            raise ClassError(f"{path}: {'; '.join(self.table.problems[:5])}. Download the worksheet again.")
        self.column = {key_of(column): column for column in self.table.columns}
        missing = [name for name in (IDENTIFIER, GRADE, MODIFIED) if name not in self.column]
        if missing:
            raise ClassError(
                f"{path} is not a grading worksheet: the column {missing[0].capitalize()} is missing. Its columns: "
                f"{', '.join(map(readable, self.table.columns))}. In Moodle, set your language to English, then choose "
                "Submissions > Actions > Download grading worksheet (Feedback types > Offline grading worksheet)."
            )
        self.rows = {number: row for row in self.table.rows if (number := _number(row.get(self.column[IDENTIFIER])))}

    def find(self, row: Row, people: People) -> Found:
        """Match a row to a student by ID number, username or e-mail address; by full name if these are empty."""
        strong = {"number": self.get(row, "id number"), "user": self.get(row, "username")}
        strong["email"] = self.get(row, "email address") or self.get(row, "email")
        return people.find(**strong) if any(strong.values()) else people.find(name=self.get(row, "full name"))

    def submitted_at(self, row: Row) -> datetime | None:
        """Return when a row's submission was last changed, in UTC; None if there is no date in English.

        Moodle writes dates in the downloading person's time zone, which is assumed to be this machine's.
        """
        text = self.get(row, "last modified (submission)")
        for form in TIMES:
            with contextlib.suppress(ValueError):
                return datetime.strptime(text, form).astimezone(UTC)
        return None

    def get(self, row: Row, key: str) -> str:
        """Return the text in a column, given by its normalized name; "" if the column is missing."""
        return row.get(self.column.get(key, ""))


def _number(identifier: str) -> str:
    """Return the number at the end of an Identifier; "" if there is none."""
    found = re.search(r"\d+$", identifier)
    return found[0] if found else ""
