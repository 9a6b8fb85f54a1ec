"""Submissions that could not be graded: a state of its own with a reason, never a zero."""

from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveAutoGrades

from .assignment import ClassError

COMMENT = "Could not be graded: "


class SubmissionError(Exception):
    """This submission cannot be graded; the message is the reason, written for its student."""


def reason_of(nb: NotebookNode) -> str:
    """Why this notebook could not be graded; "" if it could."""
    return nb.metadata.get("autograder", {}).get("could_not_grade", "")


def ungradable_notebook(course: CourseDirectory, assignment: str, notebook: str, reason: str) -> NotebookNode:
    """The released notebook, marked with the reason, to stand in for a submission that cannot be read or run."""
    released = Path(course.format_path(course.release_directory, ".", assignment)) / f"{notebook}.ipynb"
    if not released.exists():
        raise ClassError(f"{released} is missing: nbgrader generate_assignment {assignment}")
    nb = nbformat.read(released, as_version=4)
    nb.metadata["autograder"] = {"could_not_grade": reason}
    return nb


class SubmissionExporter(NotebookExporter):
    """Convert a submission with nbgrader's steps; where that fails, the reason is recorded in its place.

    ClassError passes through: it concerns the class and not the submission.
    """

    def from_filename(self, filename: str, resources: dict | None = None, **kwargs) -> tuple[str, dict]:
        """Called by nbgrader's Autograde once to sanitise and once to execute and record."""
        names = dict(resources["nbgrader"])
        try:
            return super().from_filename(filename, resources, **kwargs)
        except ClassError:
            raise
        except Exception as error:
            self.log.warning("%s: %s", names["student"], error, exc_info=True)
            reason = _in_words(error)
            nb = ungradable_notebook(self.parent.coursedir, names["assignment"], names["notebook"], reason)
            return super().from_notebook_node(nb, {**resources, "nbgrader": names}, **kwargs)


def _in_words(error: Exception) -> str:
    if isinstance(error, SubmissionError):
        return str(error)
    if isinstance(error, nbformat.reader.NotJSONError):
        return "the notebook file is not valid JSON; it was probably cut off or edited by hand."
    if isinstance(error, nbformat.ValidationError | UnicodeDecodeError | AttributeError | KeyError | TypeError):
        return (
            f"the file is not a notebook that Jupyter can read ({type(error).__name__}: {str(error).splitlines()[0]})."
        )
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


class SaveGrades(SaveAutoGrades):
    """Write scores to the gradebook; of a submission that could not be graded, the need of a manual grade and why."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Let nbgrader save the scores, or save that there are none."""
        reason = reason_of(nb)
        if not reason:
            return super().preprocess(nb, resources)
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            save_reason(gradebook, names["assignment"], names["notebook"], names["student"], reason)
        return nb, resources


def save_reason(gradebook: Gradebook, assignment: str, notebook: str, student: str, reason: str) -> None:
    """Mark every grade of a submission as needing a manual grade, with the reason as comment; manual scores stay."""
    submitted = gradebook.find_submission_notebook(notebook, assignment, student)
    for grade in submitted.grades:
        grade.auto_score = None
        grade.needs_manual_grade = True
    for comment in submitted.comments:
        comment.auto_comment = COMMENT + reason
    gradebook.db.commit()


def saved_reason(submitted) -> str:
    """The reason that `save_reason` wrote for a submitted notebook; "" if it was graded, or has been by hand since."""
    if not any(grade.auto_score is None and grade.manual_score is None for grade in submitted.grades):
        return ""
    comments = [comment.auto_comment or "" for comment in submitted.comments]
    return next((text.removeprefix(COMMENT) for text in comments if text.startswith(COMMENT)), "")
