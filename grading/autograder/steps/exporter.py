"""How nbgrader converts a submission: with the steps of `settings`; where one fails, the reason takes its place."""

from collections.abc import Callable
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import temp_attrs

from ..errors import SubmissionError
from . import outcome, receipt
from .faults import no_notebook, reason_for
from .files import known_as, readable, unfit


class SubmissionExporter(NotebookExporter):
    """Convert a submission with nbgrader's steps; of one that could not be graded, the reason is all that is left.

    Errors that are not the submission's fault pass through.
    """

    def __init__(self, **kwargs):
        """Called by nbgrader's converter before it begins with the first submission."""
        super().__init__(**kwargs)
        if type(self.parent) is Autograde:  # by command or button: there is no earlier place to look
            self.parent.init_assignment = self._looking_first(self.parent.init_assignment)

    def _looking_first(self, begin: Callable[[str, str], None]) -> Callable[[str, str], None]:
        """Wrap the step in which nbgrader copies a submission's files, whatever they are: an unfit one is not begun."""

        def look(assignment: str, student: str) -> None:
            course = self.parent.coursedir
            submitted = Path(course.format_path(course.submitted_directory, student, assignment))
            try:
                reason = unfit(submitted, assignment)
                if reason:
                    raise SubmissionError(reason)
                begin(assignment, student)
            except NbGraderException:
                raise
            except Exception as error:
                reason = reason_for(error, submitted)
                self.log.warning("%s: %s", known_as(student), readable(reason))
                outcome.give_up(course, known_as(student), assignment, reason, submitted)
                self.parent.notebooks = []  # nothing of it is converted

        return look

    def from_filename(self, filename: str, resources: dict | None = None, **kwargs) -> tuple[str, dict]:
        """Called by nbgrader's Autograde once to sanitise and once to execute and save."""
        names, course = resources["nbgrader"], self.parent.coursedir
        submitted = Path(course.format_path(course.submitted_directory, names["student"], names["assignment"]))
        self._is_submission = Path(filename).parent == submitted
        try:
            if self._is_submission:
                self._handed_in = receipt.fingerprint(submitted, course.ignore)
                receipt.keep(submitted, self._autograded(names))
            return super().from_filename(filename, resources, **kwargs)
        except Exception as error:
            malformed = self._is_submission and isinstance(error, AttributeError | KeyError | TypeError)
            reason = no_notebook(error) if malformed else reason_for(error, submitted)
            self.log.warning("%s: %s", known_as(names["student"]), readable(reason))
            nb = outcome.could_not_grade(course, known_as(names["student"]), names["assignment"], reason, submitted)
            return self._as_it_is(nb, resources)

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **kwargs) -> tuple[str, dict]:
        """Called by nbconvert with what it read; a submission may not bring an outcome of its own."""
        if self._is_submission:
            outcome.write(nb, outcome.NotebookOutcome(handed_in=self._handed_in))
        if outcome.read(nb).could_not_grade:
            return self._as_it_is(nb, resources)
        return super().from_notebook_node(nb, resources, **kwargs)

    def _as_it_is(self, nb: NotebookNode, resources: dict) -> tuple[str, dict]:
        with temp_attrs(self, _preprocessors=[lambda nb, resources: (nb, resources)]):  # it cannot do with none
            return super().from_notebook_node(nb, resources)

    def _autograded(self, names: dict) -> Path:
        course = self.parent.coursedir
        return Path(course.format_path(course.autograded_directory, names["student"], names["assignment"]))
