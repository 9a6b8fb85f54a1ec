"""Match people in a learning platform's files to students of the class."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from nbgrader.api import Student

from gradlab.words import N_, _

from ..steps.files import composed, readable

ALIKE = 0.6  # minimum similarity of names, 0 to 1; allows for middle names and letters that a platform replaces
FIELDS = {"lms_user_id": N_("platform id"), "id": N_("id"), "email": N_("e-mail address"), "name": N_("name")}
LEFT_OUT_BY_MOODLE = str.maketrans({"_": " "} | dict.fromkeys("&<>\"`|':\\/", ""))  # as Moodle's clean_filename does


@dataclass(frozen=True)
class Match:
    """A match: a student's id, or "" and the reason why there is none."""

    student: str = ""
    why: str = ""


class People:
    """The students of a class, searchable by their data on a platform."""

    def __init__(self, students: Iterable[Student]):
        self._by: dict[tuple[str, str], set[str]] = {}
        self._names: dict[str, tuple[str, str]] = {}
        for student in students:
            first, last = self._names[student.id] = (student.first_name or "", student.last_name or "")
            has = [(field, getattr(student, field) or "") for field in FIELDS if field != "name"]
            names = (f"{first} {last}", f"{last} {first}", f"{last}, {first}") if first or last else ()
            has += [("name", name) for name in names]
            for field, value in has:
                self._by.setdefault((field, _form(field, value)), set()).add(student.id)

    def find(self, **given: str) -> Match:
        """Find a student by the first of the given FIELDS whose value any student has.

        If several students share that value, there is no match.
        """
        stated = {field: value for field, value in given.items() if _form(field, value)}
        for field, value in stated.items():
            students = sorted(self._by.get((field, _form(field, value)), ()))
            if len(students) == 1:
                return Match(students[0])
            if students:
                shared = _tried(field, value)
                return Match("", _("{students} all have the {what}", students=", ".join(students), what=shared))
        if not stated:
            return Match("", _("it does not identify a student"))
        tried = ", ".join(_tried(field, value) for field, value in stated.items())
        # Translators: {what} lists words and their values, such as "id anna, e-mail address x@example.org"
        return Match("", _("no student in the gradebook has the {what}", what=tried))

    def named(self, student: str, name: str) -> bool:
        """Return whether a platform's reduced name could be `student`'s; always True if the roster has no name."""
        first, last = self._names[student]
        names = [_letters(first + last), _letters(last + first)]
        return not names[0] or max(SequenceMatcher(None, _letters(name), known).ratio() for known in names) >= ALIKE


def each_once(matches: list[Match]) -> list[Match]:
    """Return the matches; a student matched repeatedly is replaced with a reason: platforms list a student once."""
    count = Counter(match.student for match in matches if match.student)
    twice = {who: Match("", _("{student} would be listed twice", student=who)) for who, n in count.items() if n > 1}
    return [twice.get(match.student, match) for match in matches]


def _tried(field: str, value: str) -> str:
    return f"{_(FIELDS[field])} {readable(value)[:100]}"


def _letters(name: str) -> str:
    """Return a name's letters and digits in lower case, without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", name.casefold()) if c.isalnum())


def _form(field: str, text: str) -> str:
    """Normalize text for comparison: lower case; for names, without the characters that Moodle removes."""
    text = composed(text.casefold())
    text = text.translate(LEFT_OUT_BY_MOODLE) if field == "name" else text
    return " ".join(text.split())
