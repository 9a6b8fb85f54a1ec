"""Grades in the forms that learning platforms import; whoever has no grade has an empty cell there, never a zero."""

import csv
import hashlib
import hmac
import io
import re
import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook, Student
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

from .. import gradebook
from ..dropped import enrolled
from ..errors import ClassError
from ..steps.files import readable
from ..steps.outcome import Status
from ..views.export import as_text, grade_rows, is_formula
from .people import Found, People, each_once
from .tables import Row, key_of, read_table
from .worksheet import GRADE, WITHOUT_TEXT, Worksheet

POINTS_POSSIBLE = "    Points Possible"  # as Canvas writes it, and looks for it
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
MOODLE, ID_NUMBER = ["First name", "Last name", "Email address"], "ID number"
KEY = "anonymous.key"


@dataclass(frozen=True)
class Grades:
    """The grades of a class: its students, and for each assignment its points and a row for each student.

    dropped: those who are left out; a platform may still have them.
    """

    students: list[Student]
    points: dict[str, float]
    rows: dict[str, dict[str, dict]]
    dropped: list[Student] = field(default_factory=list)

    @property
    def people(self) -> People:
        """All whom a platform's file may name."""
        return People([*self.students, *self.dropped])

    def cell(self, name: str, student: str) -> str:
        """The score of a student as platforms read it, to two decimals as Canvas does; "" if there is none."""
        row = self.rows[name][student]
        return number(row["score"]) if row["status"] == Status.GRADED else ""

    def without(self) -> dict[str, list[str]]:
        """Of each assignment who has no grade, and why."""
        return {
            name: [
                f"{readable(student)}: {row['status']}" + (f" ({readable(row['reason'])})" if row["reason"] else "")
                for student, row in rows.items()
                if row["status"] != Status.GRADED
            ]
            for name, rows in self.rows.items()
        }


@dataclass
class Export:
    """A file for a platform, and who is not in it, by reason; `unknown` are rows of the platform's of nobody here."""

    table: list[list[str]]
    left_out: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The file as CSV; what a spreadsheet would take for a formula has a ' before it."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([map(as_text_kept, row) for row in self.table])
        return file.getvalue()


def read_grades(course: CourseDirectory, names: list[str], stale: bool = False) -> Grades:
    """Read the grades of assignments from the gradebook; raises ClassError if it has no such assignment.

    stale: take the scores of submissions that must be graded again, too.
    """
    gradebook.require(course)
    with Gradebook(course.db_url, course.course_id) as book:
        students = enrolled(book, course)
        points, rows = {}, {}
        for name in names:
            assignment = gradebook.find_assignment(book, name)
            points[name] = assignment.max_score
            rows[name] = grade_rows(book, course, assignment, stale)
        dropped = sorted((one for one in book.students if one not in students), key=lambda one: one.id)
        book.db.expunge_all()
        return Grades(students, points, rows, dropped)


def canvas(grades: Grades) -> Export:
    """Canvas's gradebook import, for who has Canvas's number as platform's id; Canvas would take others by their name.

    Columns and the row of points as of lib/gradebook_importer.rb (row_has_student_headers?, process_pp). Canvas asks
    whose assignment a column is that has no number of Canvas's behind its name.
    """
    export = Export([[*CANVAS, *grades.rows], [POINTS_POSSIBLE, "", "", "", "", *map(number, grades.points.values())]])
    for student in grades.students:
        if not (student.lms_user_id or "").isascii() or not (student.lms_user_id or "").isdigit():
            export.left_out.append(f"{readable(student.id)}: no number of Canvas's as platform's id in the roster")
            continue
        who = ", ".join(filter(None, [student.last_name, student.first_name])) or student.id
        cells = [grades.cell(name, student.id) for name in grades.rows]
        export.table.append([who, student.lms_user_id, "", student.id, "", *cells])
    return export


def moodle(grades: Grades) -> Export:
    """Moodle's grade import, for who has an e-mail address: map Email address, and each assignment.

    Moodle gives the grades of a row without the address to the student of the row before (load_data.php,
    map_user_data_with_value), so there are no such rows; nor a column ID number that is not filled in every row.
    """
    shared = Counter((student.email or "").casefold() for student in grades.students)
    own = [student for student in grades.students if student.email and shared[student.email.casefold()] == 1]
    there = [student for student in own if not is_formula(student.email)]
    numbered = all(student.lms_user_id and not is_formula(student.lms_user_id) for student in there)
    export = Export([[*MOODLE, *([ID_NUMBER] if numbered else []), *grades.rows]])
    for student in there:
        who = [student.first_name or "", student.last_name or "", student.email]
        cells = [grades.cell(name, student.id) for name in grades.rows]
        export.table.append([*who, *([student.lms_user_id] if numbered else []), *cells])
    left_out = [student.id for student in grades.students if student not in there]
    export.left_out = [f"{readable(student)}: no e-mail address that Moodle can go by" for student in left_out]
    return export


def anonymous(grades: Grades, folder: Path) -> Export:
    """Grades to be shared: an id instead of names and addresses, the same in all exports of this class.

    Who has the file `anonymous.key` of the class folder can tell whose an id is; nobody else can.
    """
    path = Path(folder, KEY)
    if not path.exists():
        atomic.write_text(path, secrets.token_hex(32) + "\n", mode=0o600)
    key = path.read_text(encoding="utf-8").strip().encode()
    rows = []
    for student in grades.students:
        digest = hmac.new(key, student.id.encode(), hashlib.sha256).hexdigest()
        rows.append([f"anonymous-{digest[:12]}", *(grades.cell(name, student.id) for name in grades.rows)])
    return Export([["Student", *grades.rows], ["points", *map(number, grades.points.values())], *sorted(rows)])


def fill_worksheet(grades: Grades, name: str, path: Path) -> Export:
    """Moodle's grading worksheet of an assignment with the grades in it; who has none here keeps what stands there.

    Moodle finds people by Identifier. Columns of feedback and of what students wrote are left out, and so untouched.
    Raises ClassError if another number of points can be reached there: Moodle would take 9 of 9 for 9 of 100, and
    leaves out without a word what is above.
    """
    sheet, people = Worksheet(path), grades.people
    columns = [column for column in sheet.table.columns if key_of(column) in WITHOUT_TEXT]
    export, there = Export([columns]), set()
    everybody = _still_here(grades, [sheet.find(row, people) for row in sheet.table.rows])
    for row, found in zip(sheet.table.rows, everybody, strict=True):
        _require_points(sheet.get(row, "maximum grade"), grades.points[name], name, "Maximum grade")
        cells = dict(row.cells)
        if found.student:
            there.add(found.student)
            cells[sheet.column[GRADE]] = grades.cell(name, found.student) or sheet.get(row, GRADE)
        else:
            export.unknown.append(f"line {row.line}: {found.why}")
        export.table.append([cells.get(column, "") for column in columns])
    export.left_out = [f"{readable(s.id)}: not in {path}" for s in grades.students if s.id not in there]
    return export


def fill_gradebook(grades: Grades, columns: dict[str, str], path: Path) -> Export:
    """Canvas's exported gradebook, cut down to the people and these assignments, with the grades in it.

    Who has no grade here keeps what stands there, and whom Canvas excuses (EX) stays excused. columns: of assignments
    whose column is called otherwise. Canvas's names and numbers stay, so no assignment is made anew. Raises
    ClassError if a column is missing, or if it has another number of points.
    """
    table = read_table(path)
    where = {key_of(column): column for column in table.columns}
    if not {"id", "section"} <= where.keys():
        raise ClassError(f"{path} is no gradebook of Canvas's: the columns ID and Section are missing.")
    chosen = {name: _column(table.columns, columns.get(name, name), path) for name in grades.rows}
    kept = table.columns[: table.columns.index(where["section"]) + 1]
    export, there = Export([[*kept, *chosen.values()]]), set()
    people = grades.people
    everybody = _still_here(grades, [_in_gradebook(row, where, people) for row in table.rows])
    for row, found in zip(table.rows, everybody, strict=True):
        first = row.get(kept[0])
        cells = [row.get(column) for column in chosen.values()]
        if not row.get(where["id"]):  # Canvas's own lines: the points, and which grades are hidden
            if key_of(first) == key_of(POINTS_POSSIBLE):
                for name, points in zip(chosen, cells, strict=True):
                    _require_points(points, grades.points[name], name, "Points Possible")
                first = POINTS_POSSIBLE
            export.table.append([first, *(row.get(column) for column in kept[1:]), *cells])
            continue
        if found.student:
            there.add(found.student)
            cells = [
                old if old.upper() == "EX" else grades.cell(name, found.student) or old
                for name, old in zip(chosen, cells, strict=True)
            ]
            export.table.append([first, *(row.get(column) for column in kept[1:]), *cells])
        elif key_of(first) != "student, test":
            export.unknown.append(f"line {row.line}: {readable(first)[:100]}: {found.why}")
    export.left_out = [f"{readable(s.id)}: not in {path}" for s in grades.students if s.id not in there]
    return export


def _still_here(grades: Grades, found: list[Found]) -> list[Found]:
    """What was found, each student once, and nobody who was dropped."""
    out = {student.id for student in grades.dropped}
    gone = {student: Found("", f"{student} was dropped from the class") for student in out}
    return [gone.get(one.student, one) for one in each_once(found)]


def _in_gradebook(row: Row, where: dict[str, str], people: People) -> Found:
    """Who a row of Canvas's gradebook is."""
    login = row.get(where.get("sis login id", ""))
    return people.find(number=row.get(where["id"]), user=login, email=login)


def as_text_kept(cell: str) -> str:
    """A cell without formulas; the blanks before Canvas's Points Possible stay, and so does a number below zero."""
    return cell if cell == POINTS_POSSIBLE or re.fullmatch(r"-?\d+(\.\d+)?|-", cell) else as_text(cell)


def number(points: float) -> str:
    """Points to two decimals, without a zero that says nothing."""
    return f"{round(points, 2):.2f}".rstrip("0").rstrip(".")


def _column(columns: Iterable[str], name: str, path: Path) -> str:
    """The column of an assignment: its name, and behind it Canvas's number (Assignment#title_with_id)."""
    exact = [column for column in columns if column == name]
    titled = exact or [column for column in columns if re.sub(r"\s*\(\d+\)$", "", column) == name]
    if len(titled) == 1:
        return titled[0]
    there = ", ".join(readable(column) for column in columns if re.search(r"\(\d+\)$", column))
    raise ClassError(
        f"{path} has {'more than one' if titled else 'no'} column {readable(name)}. Name the one that is meant with "
        f"--column; those of assignments: {there or 'none'}."
    )


def _require_points(there: str, here: float, name: str, called: str) -> None:
    text = there.replace(",", ".") or number(here)
    try:
        same = abs(float(text) - here) < 0.005
    except ValueError:
        same = False
    if not same:
        raise ClassError(
            f"{name} has {number(here)} points here, but the platform's {called} is {readable(there)}. Set it to "
            f"{number(here)} there, and download the file again; else grades would be taken for others, or left out."
        )
