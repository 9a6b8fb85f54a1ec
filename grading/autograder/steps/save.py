"""The saving step: scores go into the gradebook, and the notebook says so."""

from dataclasses import replace

from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

from . import outcome


class SaveGrades(SaveAutoGrades):
    """Write scores to the gradebook; from then on the notebook's outcome is that they are saved."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Let nbgrader save the scores."""
        nb, resources = super().preprocess(nb, resources)
        outcome.write(nb, replace(outcome.read(nb), saved=True))
        return nb, resources
