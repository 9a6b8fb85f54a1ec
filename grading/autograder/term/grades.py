"""Write grades in the formats that learning platforms import; a missing grade is an empty cell, never a zero."""

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
from ..views.export import grade_rows
from ..views.table import as_text, is_formula
from .people import Match, People, each_once
from .tables import Row, key_of, read_table
from .worksheet import GRADE, WITHOUT_TEXT, Worksheet

POINTS_POSSIBLE = "    Points Possible"  # exactly as Canvas writes and expects it
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
MOODLE, ID_NUMBER = ["First name", "Last name", "Email address"], "ID number"
KEY = "anonymous.key"


@dataclass(frozen=True)
class Grades:
    """The grades of a class. points: maximum by assignment. rows: see `export.grade_row`, by assignment and student.

    dropped: students who are excluded here, but may still be on the platform.
    """

    students: list[Student]
    points: dict[str, float]
    rows: dict[str, dict[str, dict]]
    dropped: list[Student] = field(default_factory=list)

    @property
    def people(self) -> People:
        """All students who may appear in a platform's file."""
        return People([*self.students, *self.dropped])

    def cell(self, name: str, student: str) -> str:
        """Return a student's score, rounded to two decimals as Canvas does; "" if there is none."""
        row = self.rows[name][student]
        return number(row["score"]) if row["status"] == Status.GRADED else ""

    def without(self) -> dict[str, list[str]]:
        """Return, by assignment, a line for each student without a grade, with the reason."""
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
    """A file for a platform. left_out: students not in it, with reasons. unknown: rows that match no student."""

    table: list[list[str]]
    left_out: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the file as CSV; cells that a spreadsheet would read as formulas get a leading '."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([map(as_text_kept, row) for row in self.table])
        return file.getvalue()


def read_grades(course: CourseDirectory, names: list[str], stale: bool = False) -> Grades:
    """Read the grades of assignments from the gradebook; raise ClassError if one of them is missing.

    stale: include the old scores of submissions that must be graded again.
    """
    gradebook.require(course)
    with Gradebook(course.db_url, course.course_id) as book:
        students = enrolled(book, course)
        points, rows = {}, {}
        for name in names:
            assignment = gradebook.find_assignment(book, name)
            points[name] = assignment.max_score
            rows[name] = grade_rows(book, course, assignment, stale)
        dropped = sorted(
            (student for student in book.students if student not in students), key=lambda student: student.id
        )
        book.db.expunge_all()
        return Grades(students, points, rows, dropped)


def canvas(grades: Grades) -> Export:
    """Write a gradebook for Canvas, for students with a Canvas number in the roster; Canvas would match others by name.

    Columns and the row of points follow lib/gradebook_importer.rb (row_has_student_headers?, process_pp). If a
    column's name does not end with Canvas's assignment number, Canvas asks for the assignment.
    """
    export = Export([[*CANVAS, *grades.rows], [POINTS_POSSIBLE, "", "", "", "", *map(number, grades.points.values())]])
    for student in grades.students:
        if not (student.lms_user_id or "").isascii() or not (student.lms_user_id or "").isdigit():
            export.left_out.append(f"{readable(student.id)}: the roster has no Canvas number as platform id")
            continue
        who = ", ".join(filter(None, [student.last_name, student.first_name])) or student.id
        cells = [grades.cell(name, student.id) for name in grades.rows]
        export.table.append([who, student.lms_user_id, "", student.id, "", *cells])
    return export


def moodle(grades: Grades) -> Export:
    """Write a table for Moodle's grade import, for students with their own e-mail address.

    Moodle assigns a row without an address to the previous row's student (load_data.php, map_user_data_with_value), so
    such rows are left out. The column ID number appears only if every student has one.
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
    export.left_out = [f"{readable(student)}: no e-mail address that identifies them in Moodle" for student in left_out]
    return export


def anonymous(grades: Grades, folder: Path) -> Export:
    """Replace names and addresses with ids for sharing; a student's id is the same in all exports of the class.

    Ids can be traced to students only with the file `anonymous.key` in the class folder, which is created if missing.
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
    """Fill Moodle's grading worksheet of an assignment; students without a grade here keep their existing entry.

    Moodle matches rows by Identifier. Columns with feedback or students' text are left out, so they stay unchanged.
    Raises ClassError if the maximum points differ: Moodle would read 9 of 9 as 9 of 100, and silently skip greater
    values.
    """
    sheet, people = Worksheet(path), grades.people
    columns = [column for column in sheet.table.columns if key_of(column) in WITHOUT_TEXT]
    export, there = Export([columns]), set()
    everybody = _still_here(grades, [sheet.find(row, people) for row in sheet.table.rows])
    for row, match in zip(sheet.table.rows, everybody, strict=True):
        _require_points(sheet.get(row, "maximum grade"), grades.points[name], name, "Maximum grade")
        cells = dict(row.cells)
        if match.student:
            there.add(match.student)
            cells[sheet.column[GRADE]] = grades.cell(name, match.student) or sheet.get(row, GRADE)
        else:
            export.unknown.append(f"line {row.line}: {match.why}")
        export.table.append([cells.get(column, "") for column in columns])
    export.left_out = [f"{readable(s.id)}: not in {path}" for s in grades.students if s.id not in there]
    return export


def fill_gradebook(grades: Grades, columns: dict[str, str], path: Path) -> Export:
    """Fill Canvas's exported gradebook, reduced to the students and these assignments.

    Students without a grade here keep their existing entry, and excused ones (EX) stay excused. columns: column names
    that differ from the assignment's name, by assignment. Canvas's titles with their numbers are kept, so no assignment
    is created twice. Raises ClassError if a column is missing or its points differ.
    """
    table = read_table(path)
    where = {key_of(column): column for column in table.columns}
    if not {"id", "section"} <= where.keys():
        raise ClassError(f"{path} is not a Canvas gradebook: it lacks the columns ID and Section.")
    table.require_once({*map(key_of, CANVAS)})
    chosen = {name: _column(table.columns, columns.get(name, name), path) for name in grades.rows}
    kept = table.columns[: table.columns.index(where["section"]) + 1]
    export, there = Export([[*kept, *chosen.values()]]), set()
    people = grades.people
    everybody = _still_here(grades, [_in_gradebook(row, where, people) for row in table.rows])
    for row, match in zip(table.rows, everybody, strict=True):
        first = row.get(kept[0])
        cells = [row.get(column) for column in chosen.values()]
        if not row.get(where["id"]):  # Canvas's own rows: points, and hidden grades
            if key_of(first) == key_of(POINTS_POSSIBLE):
                for name, points in zip(chosen, cells, strict=True):
                    _require_points(points, grades.points[name], name, "Points Possible")
                first = POINTS_POSSIBLE
            export.table.append([first, *(row.get(column) for column in kept[1:]), *cells])
            continue
        if match.student:
            there.add(match.student)
            cells = [
                old if old.upper() == "EX" else grades.cell(name, match.student) or old
                for name, old in zip(chosen, cells, strict=True)
            ]
            export.table.append([first, *(row.get(column) for column in kept[1:]), *cells])
        elif key_of(first) != "student, test":
            export.unknown.append(f"line {row.line}: {readable(first)[:100]}: {match.why}")
    export.left_out = [f"{readable(s.id)}: not in {path}" for s in grades.students if s.id not in there]
    return export


def _still_here(grades: Grades, matches: list[Match]) -> list[Match]:
    """Return the matches, in order; duplicate and dropped students are replaced with a reason."""
    out = {student.id for student in grades.dropped}
    gone = {student: Match("", f"{student} was dropped from the class") for student in out}
    return [gone.get(match.student, match) for match in each_once(matches)]


def _in_gradebook(row: Row, where: dict[str, str], people: People) -> Match:
    """Match a row of Canvas's gradebook to a student; `where` maps normalized column names to the file's."""
    login = row.get(where.get("sis login id", ""))
    return people.find(number=row.get(where["id"]), user=login, email=login)


def as_text_kept(cell: str) -> str:
    """Return a cell's text protected against formulas; negative numbers and Canvas's Points Possible are unchanged."""
    return cell if cell == POINTS_POSSIBLE or re.fullmatch(r"-?\d+(\.\d+)?|-", cell) else str(as_text(cell))


def number(points: float) -> str:
    """Format points with at most two decimals, without trailing zeros."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _column(columns: Iterable[str], name: str, path: Path) -> str:
    """Return an assignment's column; Canvas usually appends a number to its name (Assignment#title_with_id)."""
    exact = [column for column in columns if column == name]
    titled = exact or [column for column in columns if re.sub(r"\s*\(\d+\)$", "", column) == name]
    if len(titled) == 1:
        return titled[0]
    there = ", ".join(readable(column) for column in columns if re.search(r"\(\d+\)$", column))
    raise ClassError(
        f"{path} has {'more than one' if titled else 'no'} column {readable(name)}. Choose one with --column; columns "
        f"of assignments: {there or 'none'}."
    )


def _require_points(there: str, points: float, name: str, called: str) -> None:
    text = there.replace(",", ".") or number(points)
    try:
        same = abs(float(text) - points) < 0.005
    except ValueError:
        same = False
    if not same:
        raise ClassError(
            f"{name} has {number(points)} points here, but the platform's {called} is {readable(there)}. Set it to "
            f"{number(points)} there and download the file again; otherwise the platform would misread or skip grades."
        )
