"""The page that goes back to a student."""

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades

from ..steps import outcome


class FeedbackExporter(HTMLExporter):
    """The page of templates/course_feedback; a class of its own, because HTMLExporter is Formgrader's."""


class GetGradesOrReason(GetGrades):
    """nbgrader's step that reads the scores; what has been graded by hand since is shown like any other."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Take the reason, which SafePage found, from the page where the gradebook has a score by now."""
        names, page = resources["nbgrader"], resources["autograder"]
        if page["outcome"].could_not_grade:
            with Gradebook(names["db_url"]) as gradebook:
                submitted = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
                if not outcome.reason_in_gradebook(submitted):
                    page["outcome"] = outcome.NotebookOutcome()
        return super().preprocess(nb, resources)
