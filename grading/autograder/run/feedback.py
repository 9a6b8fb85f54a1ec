"""Return the feedback on an assignment: pages are made anew, and handed out where nbgrader's exchange can."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from tqdm import tqdm

from ..dropped import enrolled
from ..steps import receipt
from ..steps.files import known_as, readable
from .journal import only_run
from .submission import Grader


@dataclass(frozen=True)
class Returned:
    """What became of one student's feedback.

    page: the page that was made, None if there is none. why: it was not handed out, "" if it was. failed: by a fault
    that is to be mended, and not because there is nothing to hand out, or nowhere.
    """

    student: str
    page: Path | None = None
    why: str = ""
    failed: bool = False


def exchange(api: NbGraderAPI) -> Path | None:
    """The folder of nbgrader's exchange, None if the class has none."""
    root = Path(_release(api).root)
    return root if root.is_dir() else None


def feedback(api: NbGraderAPI, name: str) -> Iterator[Returned]:
    """Make the pages of all who have been graded, and hand out what the exchange takes; yields one for each student.

    All pages are made again, because what was set or written by hand since can be seen in no file. Raises ClassError if
    the class is not ready.
    """
    grader, course = Grader(api, name), api.coursedir
    with only_run(Path(course.root)):
        there = exchange(api) is not None
        submitted = {known_as(student): student for student in grader.submitted()}
        with Gradebook(course.db_url, course.course_id) as gradebook:
            students = sorted({student.id for student in enrolled(gradebook, course)} | set(submitted))
        for student in tqdm(students, desc="feedback", unit="page", disable=not sys.stderr.isatty()):
            if student not in submitted:
                yield Returned(readable(student), why="nothing was handed in.")
            elif why := grader.why_due(submitted[student]):
                yield Returned(readable(student), why=f"{why}; grade first.")
            else:
                yield _return(api, name, student, grader.folder_of(submitted[student]), there)


def _return(api: NbGraderAPI, name: str, student: str, submitted: Path, there: bool) -> Returned:
    course = api.coursedir
    autograded = Path(course.format_path(course.autograded_directory, student, name))
    if not (receipt.timestamp(autograded) and receipt.secret(autograded)):  # it was graded before receipts were kept
        receipt.keep(submitted, autograded)
    page = Path(course.format_path(course.feedback_directory, student, name)) / f"{name}.html"
    said = api.generate_feedback(name, student, force=True)
    if not (said["success"] and page.exists()):
        return Returned(readable(student), why=f"the page could not be made: {_last_line(said)}", failed=True)
    if not there:
        return Returned(readable(student), page, "there is no exchange.")
    if receipt.secret(submitted) != receipt.secret(autograded):
        return Returned(readable(student), page, "it was not handed in through the exchange.")
    said = api.release_feedback(name, student)
    if not said["success"]:
        return Returned(readable(student), page, f"the exchange did not take it: {_last_line(said)}", failed=True)
    return Returned(readable(student), page)


def _release(api: NbGraderAPI):
    return api.exchange.ReleaseFeedback(coursedir=api.coursedir, parent=api)


def _last_line(said: dict) -> str:
    lines = [line.strip() for line in said.get("log", said.get("error", "")).splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line and not line.startswith(("File", "["))]
    return readable((errors or lines or ["no reason was given"])[-1])[:300]
