"""Who somebody in a learning platform's file is in the class: one student, or nobody, and why."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from nbgrader.api import Student

from ..steps.files import readable

ALIKE = 0.6  # of two names, from 0 to 1: a second first name or a letter that a platform replaces may be different
LEFT_OUT_BY_MOODLE = str.maketrans({"_": " "} | dict.fromkeys("&<>\"`|':\\/", ""))  # clean_filename of a full name


@dataclass(frozen=True)
class Found:
    """The id of a student, or "" and why there is none."""

    student: str = ""
    why: str = ""


class People:
    """The students of a class, to be found by what a platform knows of them."""

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

    def find(self, number: str = "", user: str = "", email: str = "", name: str = "") -> Found:
        """Find a student by the first of these that anybody has: the platform's number, the id, the e-mail, the name.

        More than one with the same is nobody.
        """
        tried = [("number", number), ("id", user), ("email", email), ("name", name)]
        for kind, value in tried:
            students = self._by[kind].get(_form(kind, value), set())
            if len(students) == 1:
                return Found(min(students))
            if students:
                return Found("", f"{' and '.join(sorted(students))} have the {_WORDS[kind]} {readable(value)[:100]}")
        told = ", ".join(f"{_WORDS[kind]} {readable(value)[:100]}" for kind, value in tried if value)
        return Found("", f"nobody in the gradebook has the {told}" if told else "it names nobody")

    def named(self, student: str, name: str) -> bool:
        """Whether a name, of which a platform has left letters alone, can be that of a student; one without has any."""
        first, last = self._names[student]
        names = [_letters(first + last), _letters(last + first)]
        return not names[0] or max(SequenceMatcher(None, _letters(name), one).ratio() for one in names) >= ALIKE

    def _add(self, kind: str, value: str, student: str) -> None:
        if _form(kind, value):
            self._by[kind].setdefault(_form(kind, value), set()).add(student)


def each_once(found: list[Found]) -> list[Found]:
    """What was found, but whoever is found twice is nobody: a platform has no student twice."""
    count = Counter(one.student for one in found if one.student)
    return [Found("", f"{one.student} would be there twice") if count[one.student] > 1 else one for one in found]


_WORDS = {"number": "platform's id", "id": "id", "email": "e-mail address", "name": "name"}


def _letters(name: str) -> str:
    """The letters of a name, without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", name.casefold()) if c.isalnum())


def _form(kind: str, text: str) -> str:
    """The form in which texts are compared: small letters; names without what Moodle leaves out of file names."""
    text = text.casefold().translate(LEFT_OUT_BY_MOODLE) if kind == "name" else text.casefold()
    return " ".join(text.split())
