"""Moodle's grading worksheet: the one file that says who stands behind the numbers of an assignment.

Moodle numbers the people of each assignment anew (get_uniqueid_for_user): the number in a folder of the archive of
submissions is that of the worksheet's Identifier ("Participant 12345"), and of nothing else. The columns are those of
mod/assign/gradingtable.php, in English: Identifier, Full name, what the site shows of people's identity (ID number,
Username, Email address), Status, Grade, Maximum grade, Last modified (submission), Last modified (grade), Feedback
comments. Under anonymous marking only Identifier says who it is, and that is nobody a roster knows.
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
WITHOUT_TEXT |= {"maximum grade", "grade can be changed", "last modified (submission)"}  # of what people wrote
TIMES = ["%A, %d %B %Y, %I:%M %p", "%d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M"]  # Moodle's strftimedaydatetime


class Worksheet:
    """A grading worksheet as it was downloaded; raises ClassError if the file is something else."""

    def __init__(self, path: Path):
        self.table = read_table(path)
        if self.table.problems:
            raise ClassError(f"{path}: {'; '.join(self.table.problems[:5])}. Download the worksheet again.")
        self.column = {key_of(column): column for column in self.table.columns}
        missing = [name for name in (IDENTIFIER, GRADE, MODIFIED) if name not in self.column]
        if missing:
            raise ClassError(
                f"{path} is no grading worksheet: the column {missing[0].capitalize()} is missing. Its columns: "
                f"{', '.join(map(readable, self.table.columns))}. In Moodle, set your language to English, then take "
                "Submissions > Actions > Download grading worksheet (Feedback types > Offline grading worksheet)."
            )
        self.rows = {number: row for row in self.table.rows if (number := _number(row.get(self.column[IDENTIFIER])))}

    def find(self, row: Row, people: People) -> Found:
        """Who a row is: by ID number, username or e-mail address; by the full name if the site shows none of them."""
        strong = {"number": self.get(row, "id number"), "user": self.get(row, "username")}
        strong["email"] = self.get(row, "email address") or self.get(row, "email")
        return people.find(**strong) if any(strong.values()) else people.find(name=self.get(row, "full name"))

    def handed_in(self, row: Row) -> datetime | None:
        """When a row's submission was last changed, in UTC; None if it does not say so in English.

        Moodle writes it in the time zone of whoever downloads; it is taken to be that of this machine.
        """
        text = self.get(row, "last modified (submission)")
        for form in TIMES:
            with contextlib.suppress(ValueError):
                return datetime.strptime(text, form).astimezone(UTC)
        return None

    def get(self, row: Row, key: str) -> str:
        """The text in a column by its name in small letters; "" where there is none."""
        return row.get(self.column.get(key, ""))


def _number(identifier: str) -> str:
    """The number at the end of an Identifier."""
    found = re.search(r"\d+$", identifier)
    return found[0] if found else ""
