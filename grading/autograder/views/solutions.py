"""The solutions of an assignment as a page that needs nothing else, to be handed out after the due date."""

import re
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from authoring.cells import tags
from gradlab import atomic

from ..errors import ClassError
from ..gradebook import find_assignment
from .submission import NotebookPages

_MARKS = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)


def as_shown(nb: NotebookNode) -> NotebookNode:
    """Take from a solved notebook what only authors need: reference cells, and the marks around solutions."""
    nb.cells = [cell for cell in nb.cells if "reference" not in tags(cell)]
    for cell in nb.cells:
        cell.source = _MARKS.sub("", cell.source)
    return nb


def write(course: CourseDirectory, name: str, force: bool = False) -> Path:
    """Write the page into the class's folder `solutions`; returns it.

    Raises ClassError before the last due date, extensions included, or where none is set, unless `force`; and if there
    is no solved notebook.
    """
    require_over(course, name, force)
    source = Path(course.format_path(course.source_directory, ".", name)) / f"{name}.ipynb"
    if not source.exists():
        raise ClassError(f"There is no solved notebook {source}.")
    page = Path(course.root, "solutions", f"{name}.html")
    page.parent.mkdir(exist_ok=True)
    shown = as_shown(nbformat.read(source, as_version=4))
    atomic.write_text(page, NotebookPages(course, "course_solutions").render(source, nb=shown))
    return page


def require_over(course: CourseDirectory, name: str, force: bool = False, now: datetime | None = None) -> None:
    """Raise ClassError if the gradebook has no such assignment, or somebody may still hand it in, unless `force`."""
    now = now or datetime.now(UTC).replace(tzinfo=None)  # nbgrader keeps times in UTC, and without saying so
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assignment = find_assignment(gradebook, name)
        due = assignment.duedate
        extended = [(due + one.extension, one.student.id) for one in assignment.submissions if due and one.extension]
    if force:
        return
    if due is None:
        raise ClassError(f"{name} has no due date, so it may still be handed in. Set one, or use --force.")
    last, whose = max([(due, ""), *extended])
    if now < last:
        extension = f", by the extension of {whose}" if whose else ""
        raise ClassError(f"{name} may be handed in until {last:%Y-%m-%d %H:%M} UTC{extension}. Wait, or use --force.")
