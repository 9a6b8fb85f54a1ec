"""Make the feedback pages that changed, and return them through nbgrader's exchange."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from tqdm import tqdm

from gradlab.words import _

from .. import gradebook
from ..dropped import enrolled
from ..steps import due, receipt
from ..steps.files import known_as, readable
from ..views.feedback_page import is_same, made_of
from .grader import Grader
from .lock import only_run


@dataclass(frozen=True)
class Returned:
    """The result of returning one student's feedback.

    page: the feedback page, None if there is none. why: the reason it was not returned, "" if it was. failed:
    whether the reason is a fault to fix, not a missing submission or exchange.
    """

    student: str
    page: Path | None = None
    why: str = ""
    failed: bool = False


def exchange(api: NbGraderAPI) -> Path | None:
    """Return the folder of nbgrader's exchange, None if the class has none."""
    root = Path(api.exchange.ReleaseFeedback(coursedir=api.coursedir, parent=api).root)
    return root if root.is_dir() else None


def return_feedback(api: NbGraderAPI, name: str) -> Iterator[Returned]:
    """Make the pages of all graded submissions and return them through the exchange; yield one result per student.

    Only pages whose content changed are made again. Raises ClassError if the class is not ready.
    """
    grader, course = Grader(api, name), api.coursedir
    with only_run(Path(course.root)), gradebook.one_engine():
        there = exchange(api) is not None
        submitted = {known_as(student): student for student in due.submitted(course, name)}
        with Gradebook(course.db_url, course.course_id) as book:
            students = sorted({student.id for student in enrolled(book, course)} | set(submitted))
        for student in tqdm(students, desc=_("feedback"), unit=_("page"), disable=not sys.stderr.isatty()):
            if student not in submitted:
                yield Returned(readable(student), why=_("nothing was submitted."))
            elif why := grader.why_due(submitted[student]):
                yield Returned(readable(student), why=_("{why}; grade first.", why=_(why)))
            else:
                yield _return(api, name, student, grader.folders.submitted(submitted[student]), there)


def _return(api: NbGraderAPI, name: str, student: str, submitted: Path, there: bool) -> Returned:
    course = api.coursedir
    autograded = Path(course.format_path(course.autograded_directory, student, name))
    if not (receipt.timestamp(autograded) and receipt.secret(autograded)):  # lost since the submission was graded
        receipt.keep(submitted, autograded)
    page = Path(course.format_path(course.feedback_directory, student, name)) / f"{name}.html"
    with Gradebook(course.db_url, course.course_id) as book:
        now = made_of(course, book.find_submission_notebook(name, name, student), autograded / f"{name}.ipynb")
    if not is_same(page, now):
        said = api.generate_feedback(name, student, force=True)
        if not (said["success"] and page.exists()):
            why = _("the page could not be made: {error}", error=_last_line(said))
            return Returned(readable(student), why=why, failed=True)
    if not there:
        return Returned(readable(student), page, _("there is no exchange."))
    for other in page.parent.glob("*.html"):
        if other != page:
            other.unlink()  # nbgrader copies the submission's files there, and would return each page
    if receipt.secret(submitted) != receipt.secret(autograded):
        return Returned(readable(student), page, _("it was not submitted through the exchange."))
    said = api.release_feedback(name, student)
    if not said["success"]:
        why = _("the exchange did not accept it: {error}", error=_last_line(said))
        return Returned(readable(student), page, why, failed=True)
    return Returned(readable(student), page)


def _last_line(said: dict) -> str:
    lines = [line.strip() for line in said.get("log", said.get("error", "")).splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line and not line.startswith(("File", "["))]
    return readable((errors or lines or [_("no reason was given")])[-1])[:300]
