"""Submissions that could not be graded: a state of its own with a reason, never a zero."""

import os
import shutil
import stat
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveAutoGrades
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ClassError, SubmissionError

MAX_FILES = 500
MAX_BYTES = 50_000_000
COMMENT = "Could not be graded: "


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


def unfit(folder: Path, name: str) -> str:
    """Why nbgrader must not even look at a submission: it follows links and copies what they point to."""
    if folder.is_symlink():
        return "the submission is a link."
    paths = [Path(parent, item) for parent, folders, files in os.walk(folder) for item in folders + files]
    if len(paths) > MAX_FILES:
        return f"there are more than {MAX_FILES} files in it."
    if sum(path.lstat().st_size for path in paths) > MAX_BYTES:
        return f"its files have more than {MAX_BYTES / 1e6:g} MB together."
    for path in paths:
        found = path.lstat()
        regular = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not (regular or stat.S_ISDIR(found.st_mode)):
            link = _readable(path.relative_to(folder))
            return f"{link} is a link or a special file; only regular files can be handed in."
    if not (folder / f"{name}.ipynb").exists():
        found = ", ".join(sorted(_readable(path.name) for path in folder.iterdir())) or "nothing"
        return f"there is no {name}.ipynb in it (found: {found})."
    return ""


def _readable(name: Path | str) -> str:
    return os.fsencode(name).decode(errors="backslashreplace")  # any bytes can be a name, and not all are text


class SubmissionExporter(NotebookExporter):
    """Convert a submission with nbgrader's steps; where that fails, the reason is recorded in its place.

    ClassError and errors of the gradebook pass through: they concern the class and not the submission.
    """

    def from_filename(self, filename: str, resources: dict | None = None, **kwargs) -> tuple[str, dict]:
        """Called by nbgrader's Autograde once to sanitise and once to execute and record."""
        names = dict(resources["nbgrader"])
        course = self.parent.coursedir
        submitted = course.format_path(course.submitted_directory, names["student"], names["assignment"])
        self._is_submission = Path(filename).parent == Path(course.root, submitted)
        try:
            if self._is_submission:
                self._refuse_unfit(Path(filename).parent, names)
            return super().from_filename(filename, resources, **kwargs)
        except (ClassError, SQLAlchemyError):
            raise
        except Exception as error:
            self.log.warning("%s: %s", names["student"], error, exc_info=True)
            reason = _in_words(error)
            nb = ungradable_notebook(self.parent.coursedir, names["assignment"], names["notebook"], reason)
            return super().from_notebook_node(nb, {**resources, "nbgrader": names}, **kwargs)

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **kwargs) -> tuple[str, dict]:
        """Called by nbconvert with what it read; a submission may not bring a mark of its own."""
        if self._is_submission:
            nb.metadata.pop("autograder", None)
        return super().from_notebook_node(nb, resources, **kwargs)

    def _refuse_unfit(self, folder: Path, names: dict) -> None:
        reason = unfit(folder, names["notebook"])
        if reason:
            course = self.parent.coursedir
            copies = Path(course.format_path(course.autograded_directory, names["student"], names["assignment"]))
            shutil.rmtree(copies, ignore_errors=True)  # what links pointed to is among them
            raise SubmissionError(reason)


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
    """Write scores to the gradebook; of a submission that could not be graded, the need of a manual grade and why.

    The notebook's metadata says from then on that they are saved.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Let nbgrader save the scores, or save that there are none."""
        reason = reason_of(nb)
        if reason:
            names = resources["nbgrader"]
            with Gradebook(names["db_url"]) as gradebook:
                save_reason(gradebook, names["assignment"], names["notebook"], names["student"], reason)
        else:
            nb, resources = super().preprocess(nb, resources)
        nb.metadata["autograder"]["saved"] = True
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
