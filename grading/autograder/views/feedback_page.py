"""Make the feedback page for a student, and check whether an existing page is up to date."""

import functools
import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_output
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor

from gradlab import ipynb, words

from ..steps import outcome
from ..steps.answer_key import stored_checks
from ..steps.judge import in_new_words
from ..steps.outcome import NotebookOutcome
from .theme import PageExporter
from .words import full_name

HEAD = 10_000  # characters at the start of a page that contain its metadata


class FeedbackExporter(PageExporter):
    """The exporter for templates/course_feedback, configured separately from HTMLExporter, which Formgrader uses."""

    parent: Any  # nbgrader's converter

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **options) -> tuple[Any, dict]:
        """Make the page, with the verdicts in the words that the class's record has now."""
        resources = dict(resources or {})
        in_new_words(nb, stored_checks(self.parent.coursedir, resources["nbgrader"]["assignment"]))
        return super().from_notebook_node(nb, resources, **options)


class GetGradesOrReason(GetGrades):
    """nbgrader's score-reading step, extended to read what the page's header shows."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Read the scores, which of them were set manually, which cells have comments, and the student's name.

        If the submission has since been graded manually, drop the reason that SafePage found.
        """
        names, page = resources["nbgrader"], resources["page"]
        with Gradebook(names["db_url"]) as gradebook:
            submitted = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
            page["student"] = full_name(submitted.student) or names["student"]
            page |= {"made": datetime.now().astimezone(), "version": page["outcome"].graded_by}
            path = Path(resources["metadata"]["path"], f"{names['notebook']}.ipynb")
            page["made_of"] = made_of(self.parent.parent.coursedir, submitted, path)
            by_hand = {grade.name for grade in submitted.grades if outcome.by_hand(grade)}
            commented = {comment.name for comment in submitted.comments if comment.manual_comment}
            if page["outcome"].could_not_grade and not outcome.reason_in_gradebook(submitted):
                page["outcome"] = NotebookOutcome()
        nb, resources = super().preprocess(nb, resources)
        nb.cells = _verdicts_below_answers(nb.cells)
        marks = [cell.metadata.nbgrader for cell in nb.cells if "nbgrader" in cell.metadata]
        for mark in (mark for mark in marks if mark.grade_id in by_hand):
            mark["by_hand"] = True
        resources["page"]["comments"] = [mark.grade_id for mark in marks if mark.grade_id in commented]
        return nb, resources


def _verdicts_below_answers(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Move each check directly below its answer, above the hints that stand between them."""
    ordered: list[NotebookNode] = []
    hints: list[NotebookNode] | None = None
    for cell in cells:
        marks = cell.metadata.get("nbgrader", {})
        if hints is not None and cell.cell_type == "markdown" and not marks:
            hints.append(cell)
            continue
        ordered += [cell, *(hints or [])] if marks.get("grade") else [*(hints or []), cell]
        hints = [] if marks.get("solution") else None
    return ordered + (hints or [])


class LeaveOutOutputs(NbGraderPreprocessor):
    """A preprocessor that removes a submission's outputs, because they could reveal the cases of checks.

    Cases stay the same if the student submits again. Verdicts, and the kind and line of an answer's error, are kept.
    """

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        """Remove outputs from a cell created by SafePage, in place."""
        if cell.cell_type == "code" and not cell.metadata.get("verdicts"):
            is_answer = cell.metadata.get("nbgrader", {}).get("solution")
            errors = [output for output in cell.outputs if is_answer and output.output_type == "error"]
            cell.outputs = [new_output("error", traceback=[error.evalue]) for error in errors[:1]]
        return cell, resources


def made_of(course: CourseDirectory, submitted: SubmittedNotebook, autograded: Path) -> str:
    """Return a feedback page's digest: of the autograded notebook, its words now, and its rows in the gradebook."""
    verdicts = in_new_words(from_dict(ipynb.read(autograded.read_bytes())), stored_checks(course, submitted.name))
    grades = [(g.name, g.auto_score, g.manual_score, g.extra_credit, g.max_score) for g in submitted.grades]
    comments = [(c.name, c.auto_comment, c.manual_comment) for c in submitted.comments]
    student = [full_name(submitted.student), submitted.student.id, submitted.late_submission_penalty]
    return digest(course, autograded, verdicts, *student, sorted(grades, key=str), sorted(comments, key=str))


def digest(course: CourseDirectory, autograded: Path, *shown: object) -> str:
    """Return a digest of all that a page shows except its date and title; a page is current while its digest matches.

    It covers the autograded notebook, what else is `shown`, the code and templates in this folder, and the catalogue.
    """
    parts = repr([_program(words.read(Path(course.root))), *shown])
    return hashlib.sha256(parts.encode() + autograded.read_bytes()).hexdigest()


@functools.cache
def _program(catalogue: bytes) -> str:
    folder = Path(__file__).parent
    texts = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".j2", ".css")]
    return hashlib.sha256(b"".join([*texts, catalogue])).hexdigest()


def is_same(page: Path, made_of: str) -> bool:
    """Return whether a page exists and was made from data with this digest."""
    if not page.is_file():
        return False
    with page.open(encoding="utf-8", errors="replace") as file:
        return f'<meta name="made-of" content="{made_of}">' in file.read(HEAD)
