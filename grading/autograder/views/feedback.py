"""The page that goes back to a student, and whether one that was made still shows the grade."""

import html
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor

from ..steps import outcome
from ..steps.outcome import NotebookOutcome
from .standing import full_name

HEAD = 10_000  # characters of a page in which it says what it shows
_SHOWS = re.compile(r'<meta[^>]*? content="(submission=[^"]*)"')  # nbconvert changes the order of attributes


class FeedbackExporter(HTMLExporter):
    """The page of templates/course_feedback; a class of its own, because HTMLExporter is Formgrader's."""


class GetGradesOrReason(GetGrades):
    """nbgrader's step that reads the scores; what has been graded by hand since is shown like any other."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Read the scores, which of them were set by hand, and whose they are.

        Takes the reason, which SafePage found, from the page where the gradebook has a score by now.
        """
        names, page = resources["nbgrader"], resources["autograder"]
        with Gradebook(names["db_url"]) as gradebook:
            submitted = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
            points = {grade.name: grade.score for grade in submitted.grades}
            shown = grade_shown(points, submitted.late_submission_penalty or 0.0, page["outcome"])
            page |= {"student": full_name(submitted.student) or names["student"], "shows": shown}
            page |= {"made": datetime.now().astimezone(), "version": page["outcome"].graded_by}
            by_hand = {grade.name for grade in submitted.grades if outcome.by_hand(grade)}
            if page["outcome"].could_not_grade and not outcome.reason_in_gradebook(submitted):
                page["outcome"] = NotebookOutcome()
        nb, resources = super().preprocess(nb, resources)
        for cell in nb.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") in by_hand:
                cell.metadata.nbgrader["by_hand"] = True
        return nb, resources


class LeaveOutOutputs(NbGraderPreprocessor):
    """Leave out what the submission printed and displayed while it was graded, where it had the graded cases at hand.

    They stay the same for who hands in again. Verdicts stay, and of an answer that raised an error, its last line.
    """

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        """Change the outputs of a cell that SafePage has made."""
        if cell.cell_type == "code" and not cell.metadata.get("verdicts"):
            is_answer = cell.metadata.get("nbgrader", {}).get("solution")
            errors = [output for output in cell.outputs if is_answer and output.output_type == "error"]
            cell.outputs = [new_output("error", traceback=[error.evalue]) for error in errors[:1]]
        return cell, resources


def grade_shown(points: Mapping[str, float], penalty: float, found: NotebookOutcome) -> str:
    """What a page states about the grade that it shows: submission, version, and the points of each cell."""
    cells = [f"{cell}={score:g}" for cell, score in sorted(points.items())]
    said = [f"submission={found.handed_in[:16]}", f"version={found.graded_by}", f"late={penalty:g}", *cells]
    return " ".join([*said, "could-not-be-graded"] if found.could_not_grade else said)


def is_outdated(page: Path, shown: str, autograded: Path) -> bool:
    """Whether a page that was made shows another grade than it would now; `shown` is what it would state.

    A page that states nothing was made before pages did: then the times of the files decide.
    """
    with page.open(encoding="utf-8", errors="replace") as file:
        states = _SHOWS.search(file.read(HEAD))
    if states is None:
        return page.stat().st_mtime < autograded.stat().st_mtime
    return html.unescape(states[1]) != shown
