"""Fill grades into the file that a learning platform exported; without a grade here, an entry there stays."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab.words import N_, _

from .. import gradebook
from ..errors import ClassError
from ..steps.files import readable
from ..steps.outcome import Status
from ..views.export import each_grade
from ..views.table import as_csv, as_text
from .people import Match, People, each_once
from .roster import TEST_STUDENT
from .tables import Row, Table, key_of, read_table
from .worksheet import GRADE, IDENTIFIER, WITHOUT_TEXT, Worksheet

POINTS_POSSIBLE = "    Points Possible"  # exactly as Canvas writes and expects it


@dataclass(frozen=True)
class Grades:
    """The grades of a class in one assignment. points: its maximum. rows: see `export.grade_row`, by student.

    people: all students who may appear in a platform's file, even dropped ones.
    """

    name: str
    points: float
    rows: dict[str, dict]
    people: People

    def cell(self, student: str) -> str:
        """Return a student's score, rounded to two decimals as Canvas does; "" if there is none."""
        row = self.rows[student]
        return number(row["score"]) if row["status"] == Status.GRADED else ""

    def without(self) -> list[str]:
        """Return a line for each student without a grade, with the reason."""
        rows = [(student, row) for student, row in self.rows.items() if row["status"] != Status.GRADED]
        return [f"{student}: {_(row['status'])}" + f" ({row['reason']})" * bool(row["reason"]) for student, row in rows]


@dataclass(frozen=True)
class Export:
    """A file for a platform. left_out: students not in it. unknown: rows that match no student, with the reason."""

    table: list[list[str]]
    left_out: list[str]
    unknown: list[str]

    def text(self) -> str:
        """Return the file as CSV; cells that a spreadsheet would read as formulas get a leading '."""
        return as_csv(self.table, as_text_kept)


def read_grades(course: CourseDirectory, name: str) -> Grades:
    """Read the grades of an assignment from the gradebook; raise ClassError if it has none by this name."""
    gradebook.require(course)
    with Gradebook(course.db_url, course.course_id) as book:
        assignment = gradebook.find_assignment(book, name)
        rows = {student.id: row for student, _submission, row in each_grade(book, course, assignment)}
        return Grades(name, assignment.max_score, rows, People(book.students))


def fill(grades: Grades, path: Path, column: str | None = None) -> Export:
    """Fill in Canvas's exported gradebook or Moodle's grading worksheet, whichever the file is.

    Students without a grade here keep their existing entry, and rows that match no student are left out. column: of the
    assignment in Canvas's gradebook, if it does not have the assignment's name. Raises ClassError if the file is
    neither, or if the maximum points differ: Moodle would read 9 of 9 as 9 of 100, and silently skip greater values.
    """
    table = read_table(path)
    if IDENTIFIER in table.by_key:
        return _fill_worksheet(grades, Worksheet(path))
    if {"id", "section"} <= table.by_key.keys():
        return _fill_gradebook(grades, table, column or grades.name)
    neither = _("{file} is neither Canvas's gradebook nor Moodle's grading worksheet in English.", file=path)
    raise ClassError(f"{neither} {table.shown}")


def _fill_worksheet(grades: Grades, sheet: Worksheet) -> Export:
    """Fill Moodle's grading worksheet, which Moodle matches by Identifier.

    Columns with feedback or students' text are left out, so they stay unchanged.
    """
    for row in sheet.table.rows:
        _require_points(sheet.get(row, "maximum grade"), grades, "Maximum grade")
    columns = [column for column in sheet.table.columns if key_of(column) in WITHOUT_TEXT]
    return _fill(grades, sheet.table.rows, columns, sheet.column[GRADE], sheet.find)


def _fill_gradebook(grades: Grades, table: Table, column: str) -> Export:
    """Fill Canvas's exported gradebook, reduced to the students and this assignment.

    Excused students (EX) stay excused. Canvas's title with its number is kept, so no assignment is created twice.
    """
    where = table.by_key
    columns = [*table.columns[: table.columns.index(where["section"]) + 1], _column(table, column)]
    own = [[row.get(name) for name in columns] for row in table.rows if not row.get(where["id"])]
    for cells in own:  # Canvas's own rows: points, and hidden grades
        if key_of(cells[0]) == key_of(POINTS_POSSIBLE):
            _require_points(cells[-1], grades, "Points Possible")
            cells[0] = POINTS_POSSIBLE

    def find(row: Row, people: People) -> Match:
        login = row.get(where.get("sis login id", ""))
        return people.find(lms_user_id=row.get(where["id"]), id=login, email=login)

    students = [row for row in table.rows if row.get(where["id"])]
    export = _fill(grades, students, columns, columns[-1], find)
    return replace(export, table=[columns, *own, *export.table[1:]])


def _fill(
    grades: Grades, rows: list[Row], columns: list[str], column: str, find: Callable[[Row, People], Match]
) -> Export:
    """Fill a column of students' rows, reduced to some columns, the first of which names the student."""
    matches = each_once([find(row, grades.people) for row in rows])
    table, unknown = [columns], []
    for row, match in zip(rows, matches, strict=True):
        cells = {name: row.get(name) for name in columns}
        if match.student in grades.rows:
            if cells[column].upper() != "EX":
                cells[column] = grades.cell(match.student) or cells[column]
            table.append([cells[name] for name in columns])  # names may repeat
        elif match.student or key_of(cells[columns[0]]) != TEST_STUDENT:
            why = match.why or _("{student} was dropped from the class", student=match.student)
            problem = f"{readable(cells[columns[0]])[:100]}: {why}"
            unknown.append(_("line {line}: {problem}", line=row.line, problem=problem))
    there = {match.student for match in matches}
    return Export(table, [student for student in grades.rows if student not in there], unknown)


def as_text_kept(cell: str) -> str:
    """Return a cell's text protected against formulas; negative numbers and Canvas's Points Possible are unchanged."""
    return cell if cell == POINTS_POSSIBLE or re.fullmatch(r"-?\d+(\.\d+)?|-", cell) else str(as_text(cell))


def number(points: float) -> str:
    """Format points with at most two decimals, without trailing zeros."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _column(table: Table, name: str) -> str:
    """Return an assignment's column; Canvas usually appends a number to its name (Assignment#title_with_id)."""
    exact = [column for column in table.columns if column == name]
    titled = exact or [column for column in table.columns if re.sub(r"\s*\(\d+\)$", "", column) == name]
    if len(titled) == 1:
        return titled[0]
    there = ", ".join(readable(column) for column in table.columns if re.search(r"\(\d+\)$", column))
    problem = N_("{file} has more than one column {column}.") if titled else N_("{file} has no column {column}.")
    problem, choose = _(problem, file=table.path, column=readable(name)), _("Choose one with --column.")
    shown = _("Columns of assignments: {columns}.", columns=there) if there else table.shown
    raise ClassError(f"{problem} {choose} {shown}")


def _require_points(there: str, grades: Grades, called: str) -> None:
    """Raise ClassError if the platform's maximum points are different."""
    points = number(grades.points)
    try:
        same = abs(float(there.replace(",", ".") or points) - grades.points) < 0.005
    except ValueError:
        same = False
    if not same:
        differ = _("{column} is {other} there, but {points} here.", column=called, other=readable(there), points=points)
        change = _("Set it to {points} on the platform and download the file again.", points=points)
        raise ClassError(f"{differ} {change}")
