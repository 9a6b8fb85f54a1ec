"""The page that goes back to a student."""

from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades

from .ungradable import reason_of, saved_reason

_FORMGRADER = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"

TEMPLATE = "course_feedback"
TEMPLATE_FOLDERS = [str(Path(__file__).parent / "templates"), str(_FORMGRADER / "templates")]
INCLUDED = [  # what nbgrader's own template includes
    str(_FORMGRADER / "templates"),
    str(_FORMGRADER / "static" / "node_modules" / "bootstrap" / "dist" / "css"),
]


class FeedbackExporter(HTMLExporter):
    """nbgrader's feedback page; of a submission that could not be graded, the reason in place of a score.

    A class of its own, because nbgrader configures the template of HTMLExporter for itself.
    """


class GetGradesOrReason(GetGrades):
    """nbgrader's step that reads the scores; what has been graded by hand since is shown like any other."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Take the mark off a notebook that could not be graded where the gradebook has a score by now."""
        names = resources["nbgrader"]
        if reason_of(nb):
            with Gradebook(names["db_url"]) as gradebook:
                submitted = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
                if not saved_reason(submitted):
                    del nb.metadata["autograder"]
        return super().preprocess(nb, resources)
