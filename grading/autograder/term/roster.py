"""Import the roster, from a learning platform's table or your own, into nbgrader's gradebook."""

from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook, Student
from nbgrader.coursedir import CourseDirectory

from gradlab.words import _

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError, did_you_mean
from ..steps.files import MAX_NAME, known_as, readable
from .tables import Row, Table, key_of, read_table

FIELDS = ("first_name", "last_name", "email", "lms_user_id")  # of nbgrader's Student, besides its id

# Column names for each field, best first. Moodle's are those of its participants and grade exports, in English and
# German (docs.moodle.org/en/Grade_export, docs.moodle.org/en/Enrolled_users).
COLUMNS = {
    "id": ["id", "student id", "username", "user name", "login id", "anmeldename", "id number", "id nummer"],
    "first_name": ["first name", "firstname", "given name", "vorname"],
    "last_name": ["last name", "lastname", "surname", "family name", "nachname"],
    "email": ["email", "email address", "e mail", "e mail address", "mail"]
    + ["e mail adresse"],  # codespell:ignore adresse
    "lms_user_id": ["lms user id", "platform id", "canvas id", "moodle id", "id number", "id nummer"],
    "name": ["name", "full name", "student name"],
}
# Column names in Canvas's exported gradebook (lib/gradebook_exporter.rb), whose ID is Canvas's user number
CANVAS = {
    "id": ["sis login id", "sis user id"],
    "first_name": ["firstname"],
    "last_name": ["lastname"],
    "email": ["email", "email address"],
    "lms_user_id": ["id"],
    "name": ["student"],
}
TEST_STUDENT = "student, test"  # Canvas's own, in each course
EXAMPLE = "id,first_name,last_name,email,lms_user_id"


@dataclass(frozen=True)
class Changes:
    """The changes that an import makes: students added, changed (how), or absent from the table."""

    added: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)


def read_roster(path: Path, id_column: str = "") -> tuple[dict[int, Student], dict[str, str]]:
    """Read the students of a table; return them by line, and the columns that were used, by field.

    id_column: the column with the ids under which students submit, if it does not have a known name. Raises ClassError,
    which lists every invalid line.
    """
    table = read_table(path)
    used = _fields(table, id_column)
    rows = [row for row in table.rows if not (_canvas(table) and _no_student(row))]
    students, problems, lines = {row.line: _student(row, used) for row in rows}, dict[int, str](), dict[str, int]()
    for line, student in students.items():
        before = lines.setdefault(student.id.casefold(), line)
        again = _("id {id} already appears on line {line}", id=readable(student.id), line=before)
        problems[line] = _unusable(student.id) or again * (before != line)
    _require_no(problems)
    if not students:
        raise ClassError(_("{file} contains no students; expected a header line and one line per student.", file=path))
    return students, used


def write_roster(course: CourseDirectory, stated: dict[int, Student], dry_run: bool = False) -> Changes:
    """Update the gradebook from a table's students, all or nothing; return the changes. dry_run: change nothing.

    Fields that are empty in the table stay unchanged, and nobody is removed. Raises ClassError if an id differs from a
    known one only in case: both would be in the class.
    """
    gradebook.require(course)
    with gradebook.needed(course), Gradebook(course.db_url, course.course_id) as book:
        known = {student.id: student for student in book.students}
        spelled = {student.casefold(): student for student in known}
        other = {line: spelled.get(new.id.casefold()) for line, new in stated.items() if new.id not in known}
        _require_no({line: _("the gradebook spells this id {id}", id=readable(s)) for line, s in other.items() if s})
        changes = Changes()
        for new in sorted(stated.values(), key=lambda student: student.id):
            student = known.get(new.id)
            if student is None:
                book.db.add(new)
                changes.added.append(new.id)
                continue
            for name in FIELDS:
                before, after = getattr(student, name), getattr(new, name)
                if after and after != before:
                    changes.changed.setdefault(new.id, []).append(f"{name} {before or '-'} -> {after}")
                    setattr(student, name, after)
        changes.absent.extend(sorted(known.keys() - {new.id for new in stated.values()} - dropped(course)))
        book.db.rollback() if dry_run else book.db.commit()
        return changes


def _canvas(table: Table) -> bool:
    return {"id", "sis login id"} <= table.by_key.keys()


def _fields(table: Table, id_column: str) -> dict[str, str]:
    """Return the column chosen for each field, by field name; raise ClassError if no column contains the ids."""
    by_key, names = table.by_key, CANVAS if _canvas(table) else COLUMNS
    there = {name: [by_key[key] for key in keys if key in by_key] for name, keys in names.items()}
    used = {name: matching[0] for name, matching in there.items() if matching}
    if id_column:
        if key_of(id_column) not in by_key:
            none = _("{file} has no column {column}.", file=table.path, column=readable(id_column))
            raise ClassError(f"{none}{did_you_mean(id_column, table.columns)} {table.shown}")
        used["id"] = by_key[key_of(id_column)]
    if "id" not in used:
        no_id = _("{file} has no known column of ids. Choose one with --id.", file=table.path)
        example = _("Or write a table that begins with {columns}.", columns=EXAMPLE)
        raise ClassError(f"{no_id} {table.shown} {example}")
    return used


def _no_student(row: Row) -> bool:
    """Return whether a row of Canvas's gradebook is not a student's: points, hidden grades, or the Test Student."""
    first = key_of(row.get("Student") or f"{row.get('LastName')}, {row.get('FirstName')}")
    return first.startswith("points possible") or first == TEST_STUDENT or not row.get("ID")


def _student(row: Row, used: dict[str, str]) -> Student:
    fields = {name: row.get(column) for name, column in used.items()}
    name = fields.pop("name", "")
    if name and not (fields.get("first_name") or fields.get("last_name")):
        last, comma, first = name.rpartition(",")
        first, last = (first, last) if comma else (name.rpartition(" ")[0], name.rpartition(" ")[2])
        fields |= {"first_name": first.strip(), "last_name": last.strip()}
    return Student(**{name: value for name, value in fields.items() if value or name == "id"})


def _unusable(student: str) -> str:
    """Return the reason why an id cannot be imported; "" if it can."""
    if not student:
        return _("the id is missing")
    if set("/\\,") & set(student) or student.startswith(".") or known_as(student) != student:
        form = _("at most {most} characters, no . at the start, and none of / \\ * ? [ ] ,", most=MAX_NAME)
        return _("{id!r} cannot be an id ({form})", id=readable(student)[:MAX_NAME], form=form)
    return ""


def _require_no(problems: dict[int, str]) -> None:
    """Raise ClassError with these problems by line; "" is none."""
    said = [_("line {line}: {problem}", line=line, problem=problem) for line, problem in problems.items() if problem]
    if said:
        raise ClassError("\n  ".join([_("Nothing was imported. Fix these lines, then import again:"), *said]))
