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
LEFT_OUT_BY_MOODLE = str.maketrans({"_": " "} | dict.fromkeys("&<>\"`|':\\/", ""))  # as Moodle's clean_filename does


@dataclass(frozen=True)
class Match:
    """A match: a student's id, or "" and the reason why there is none."""

    student: str = ""
    why: str = ""


class People:
    """The students of a class, searchable by their data on a platform."""

    def __init__(self, students: Iterable[Student]):
        self._by: dict[str, dict[str, set[str]]] = {"number": {}, "email": {}, "name": {}, "id": {}}
        self._names: dict[str, tuple[str, str]] = {}
        for student in students:
            first, last = student.first_name or "", student.last_name or ""
            self._names[student.id] = (first, last)
            self._add("id", student.id, student.id)
            self._add("number", student.lms_user_id or "", student.id)
            self._add("email", student.email or "", student.id)
            for name in (f"{first} {last}", f"{last} {first}", f"{last}, {first}"):
                self._add("name", name if first or last else "", student.id)

    def find(self, number: str = "", user: str = "", email: str = "", name: str = "") -> Match:
        """Find a student by the first of these that any student has: platform number, id, e-mail address, name.

        If several students share that value, there is no match.
        """
        given = [("number", number), ("id", user), ("email", email), ("name", name)]
        for kind, value in given:
            students = self._by[kind].get(_form(kind, value), set())
            if len(students) == 1:
                return Match(min(students))
            if students:
                several = ", ".join(sorted(students))
                return Match("", _("{students} all have the {what}", students=several, what=_tried(kind, value)))
        tried = ", ".join(_tried(kind, value) for kind, value in given if value)
        if not tried:
            return Match("", _("it does not identify a student"))
        # Translators: {what} lists words and their values, such as "id anna, e-mail address x@example.org"
        return Match("", _("no student in the gradebook has the {what}", what=tried))

    def named(self, student: str, name: str) -> bool:
        """Return whether a platform's reduced name could be `student`'s; always True if the roster has no name."""
        first, last = self._names[student]
        names = [_letters(first + last), _letters(last + first)]
        return not names[0] or max(SequenceMatcher(None, _letters(name), known).ratio() for known in names) >= ALIKE

    def _add(self, kind: str, value: str, student: str) -> None:
        if _form(kind, value):
            self._by[kind].setdefault(_form(kind, value), set()).add(student)


def each_once(matches: list[Match]) -> list[Match]:
    """Return the matches; a student matched repeatedly is replaced with a reason: platforms list a student once."""
    count = Counter(match.student for match in matches if match.student)
    twice = {who: Match("", _("{student} would be listed twice", student=who)) for who, n in count.items() if n > 1}
    return [twice.get(match.student, match) for match in matches]


_WORDS = {"number": N_("platform id"), "id": N_("id"), "email": N_("e-mail address"), "name": N_("name")}


def _tried(kind: str, value: str) -> str:
    return f"{_(_WORDS[kind])} {readable(value)[:100]}"


def _letters(name: str) -> str:
    """Return a name's letters and digits in lower case, without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", name.casefold()) if c.isalnum())


def _form(kind: str, text: str) -> str:
    """Normalize text for comparison: lower case; for names, without the characters that Moodle removes."""
    text = composed(text.casefold())
    text = text.translate(LEFT_OUT_BY_MOODLE) if kind == "name" else text
    return " ".join(text.split())
