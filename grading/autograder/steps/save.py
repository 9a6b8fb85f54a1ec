"""The saving step: scores go into the gradebook, and the notebook says so."""

from dataclasses import replace

from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

from . import outcome


class SaveGrades(SaveAutoGrades):
    """Write scores to the gradebook; from then on the notebook's outcome is that they are saved."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Let nbgrader save the scores."""
        self._again = outcome.read(nb).again
        nb, resources = super().preprocess(nb, resources)
        outcome.write(nb, replace(outcome.read(nb), saved=True))
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: dict) -> None:
        """Save one score. Points given by hand wait to be confirmed, but only if they were given to another submission.

        nbgrader lets them wait each time.
        """
        names = resources["nbgrader"]
        grade_id = cell.metadata.nbgrader["grade_id"]
        grade = self.gradebook.find_grade(grade_id, names["notebook"], names["assignment"], names["student"])
        waited = grade.needs_manual_grade
        super()._add_score(cell, resources)
        if outcome.by_hand(grade):
            grade.needs_manual_grade = waited or not self._again
            self.gradebook.db.commit()
