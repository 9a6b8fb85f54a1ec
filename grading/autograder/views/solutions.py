"""Write an assignment's solutions as a self-contained page, for students after the due date."""

import re
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from authoring.cells import tags
from gradlab import atomic

from ..dropped import dropped
from ..errors import ClassError
from ..gradebook import find_assignment
from .submission_page import NotebookPages
from .words import local

_MARKS = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)


def as_shown(nb: NotebookNode) -> NotebookNode:
    """Remove reference cells and solution markers from a solved notebook in place, and return it."""
    nb.cells = [cell for cell in nb.cells if "reference" not in tags(cell)]
    for cell in nb.cells:
        cell.source = _MARKS.sub("", cell.source)
    return nb


def write(course: CourseDirectory, name: str, force: bool = False) -> Path:
    """Write the page of an assignment's solutions into the class's folder `solutions`; return its path.

    Raises ClassError if the solved notebook is missing, and, without `force`, if no due date is set or the last one,
    including extensions, has not passed.
    """
    require_over(course, name, force)
    source = Path(course.format_path(course.source_directory, ".", name)) / f"{name}.ipynb"
    if not source.exists():
        raise ClassError(f"The solved notebook {source} is missing.")
    page = Path(course.root, "solutions", f"{name}.html")
    page.parent.mkdir(exist_ok=True)
    shown = as_shown(nbformat.read(source, as_version=4))
    atomic.write_text(page, NotebookPages(course, "course_solutions").render(source, nb=shown))
    return page


def require_over(course: CourseDirectory, name: str, force: bool = False) -> None:
    """Raise ClassError if the assignment is unknown or, without `force`, if a student can still submit it."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assignment = find_assignment(gradebook, name)
        due = assignment.duedate
        here = [one for one in assignment.submissions if one.student.id not in dropped(course)]
        extended = [(due + one.extension, one.student.id) for one in here if due and one.extension]
    if force:
        return
    if due is None:
        raise ClassError(f"{name} has no due date, so it can still be submitted. Set one, or use --force.")
    last, whose = max([(due, ""), *extended])
    if datetime.now(UTC).replace(tzinfo=None) < last:  # nbgrader stores times as naive UTC
        extension = f", because {whose} has an extension" if whose else ""
        raise ClassError(f"{name} can be submitted until {local(last)}{extension}. Wait, or use --force.")
