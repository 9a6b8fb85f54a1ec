"""What must be graded, and why: it has no grade yet, or was graded before something changed.

Grading, reports, exports and feedback all ask here, so none of them takes an old grade for a new one.
"""

from pathlib import Path

from nbgrader.api import Assignment
from nbgrader.coursedir import CourseDirectory

from ..dropped import dropped
from . import outcome, receipt
from .assignment import version_now
from .files import is_there, known_as

UNGRADED = "what was handed in has no grade yet"
CHANGED = "graded before checks or points changed"


def submitted(course: CourseDirectory, name: str) -> list[str]:
    """The names of the folders of all students who have submitted an assignment, without those who were dropped."""
    folder = Path(course.root, course.submitted_directory)
    if not folder.exists():
        return []
    out = dropped(course)
    return sorted(path.name for path in folder.iterdir() if path.name not in out and is_there(path / name))


def folder_of(course: CourseDirectory, name: str, student: str) -> Path:
    """The folder of a submission."""
    return Path(course.format_path(course.submitted_directory, student, name))


def why_due(course: CourseDirectory, name: str, student: str, version: str) -> str:
    """Why a submission must be graded; "" if it need not be.

    student: the name of its folder. version: that of the assignment, by which it would be graded now; "" if unknown.
    """
    folder = folder_of(course, name, student)
    autograded = Path(course.format_path(course.autograded_directory, known_as(student), name))
    found = outcome.of(autograded / f"{name}.ipynb")
    if found.handed_in:
        same = found.handed_in == receipt.fingerprint(folder, course.ignore)
    else:  # it was graded before fingerprints were kept
        now, then = receipt.timestamp(folder), receipt.timestamp(autograded)
        same = not (now and then and now > then)
    if not (found.saved and same):
        return UNGRADED
    return CHANGED if version and found.graded_by not in ("", version) else ""


def graded_before(course: CourseDirectory, name: str) -> int:
    """How many submissions have a grade by some version of the assignment, and would be graded again by another."""
    return sum(why_due(course, name, student, "another") == CHANGED for student in submitted(course, name))


def due(course: CourseDirectory, assignment: Assignment) -> dict[str, str]:
    """Of all students whose submissions must be graded, why; by the names that they have in the gradebook.

    Empty for an assignment that is none of the course's: its notebook has another name.
    """
    name = assignment.name
    notebook = next((one for one in assignment.notebooks if one.name == name), None)
    if notebook is None:
        return {}
    version = version_now(course, name, {cell.name: cell.max_score for cell in notebook.grade_cells})
    found = {known_as(student): why_due(course, name, student, version) for student in submitted(course, name)}
    return {student: why for student, why in found.items() if why}
