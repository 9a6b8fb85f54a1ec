"""Find the submissions that must be graded, because they have no grade or something changed since.

Grading, reports, exports and feedback all use this module, so none of them treats an outdated grade as current.
"""

from pathlib import Path

from nbgrader.api import Assignment
from nbgrader.coursedir import CourseDirectory

from gradlab.words import N_, _

from ..dropped import dropped
from ..errors import ClassError
from . import outcome, receipt
from .answer_key import version_now
from .files import composed, is_there, known_as, readable

UNGRADED = N_("the submission has no grade yet")
CHANGED = N_("graded before checks or points changed")


def submitted(course: CourseDirectory, name: str) -> list[str]:
    """Return the folder names of all students who submitted an assignment and were not dropped."""
    folder = Path(course.root, course.submitted_directory)
    if not folder.exists():
        return []
    out = dropped(course)
    return sorted(path.name for path in folder.iterdir() if known_as(path.name) not in out and is_there(path / name))


def compose_names(course: CourseDirectory) -> None:
    """Rename the folders of `submitted/` whose names are not in composed form, as after a copy from macOS.

    Raises ClassError if a student then has two folders.
    """
    top = Path(course.root, course.submitted_directory)
    for folder in sorted(top.iterdir()) if top.exists() else []:
        target = folder.with_name(composed(folder.name))
        if target.name == folder.name or not folder.is_dir() or folder.is_symlink():
            continue
        if target.exists() and not target.samefile(folder):
            names = {"student": readable(target.name), "one": ascii(folder.name), "other": ascii(target.name)}
            raise ClassError(_("{student} has two folders, {one} and {other}. Leave only the second one.", **names))
        folder.rename(target)


def why_due(course: CourseDirectory, name: str, student: str, version: str) -> str:
    """Return why a submission must be graded; "" if its grade is current.

    student: the folder's name. version: the assignment's current version; "" if unknown.
    """
    folder = Path(course.format_path(course.submitted_directory, student, name))
    autograded = Path(course.format_path(course.autograded_directory, known_as(student), name))
    stored = outcome.of(autograded / f"{name}.ipynb")
    if not stored.saved or stored.handed_in != receipt.fingerprint(folder, course.ignore):
        return UNGRADED
    return CHANGED if version and stored.graded_by not in ("", version) else ""


def graded_before(course: CourseDirectory, name: str) -> int:
    """Return how many submissions have a grade that a new version of the assignment would make outdated."""
    return sum(why_due(course, name, student, "another") == CHANGED for student in submitted(course, name))


def due(course: CourseDirectory, assignment: Assignment) -> dict[str, str]:
    """Return why each due submission must be graded, by the student's gradebook id.

    Empty for an assignment that is not from the course: its notebook is not named like the assignment.
    """
    name = assignment.name
    notebook = next((notebook for notebook in assignment.notebooks if notebook.name == name), None)
    if notebook is None:
        return {}
    version = version_now(course, name, {cell.name: cell.max_score for cell in notebook.grade_cells})
    reasons = {known_as(student): why_due(course, name, student, version) for student in submitted(course, name)}
    return {student: why for student, why in reasons.items() if why}
