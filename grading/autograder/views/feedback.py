"""The page that goes back to a student."""

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades

from ..steps.ungradable import reason_of, saved_reason


class FeedbackExporter(HTMLExporter):
    """The page of templates/course_feedback; a class of its own, because HTMLExporter is Formgrader's."""


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
