"""Convert submissions for nbgrader's own autograde command; if one fails, write the reason instead."""

import glob
from collections.abc import Iterator
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.utils import temp_attrs

from . import outcome, receipt
from .faults import no_notebook, reason_for
from .files import known_as, readable, unfit
from .save import could_not_grade, set_aside


class SubmissionExporter(NotebookExporter):
    """An exporter that runs the preprocessors on a submission; if it cannot be graded, it writes the reason instead.

    Errors that are not the submission's fault pass through.
    """

    def __init__(self, *args, **kwargs):
        """Set aside unacceptable submissions; called by nbgrader's Autograde before it reads any."""
        super().__init__(*args, **kwargs)
        self._graded = dict(self._outcomes())
        self._set_aside_unfit()

    def _outcomes(self) -> Iterator[tuple[Path, outcome.NotebookOutcome]]:
        """Yield each submission's folder and its earlier outcome, which nbgrader deletes before converting."""
        course = self.parent.coursedir
        for path in glob.glob(course.format_path(course.submitted_directory, course.student_id, course.assignment_id)):
            submitted = Path(path)
            name = submitted.name
            yield submitted, outcome.of(self._autograded(submitted.parent.name, name) / f"{name}.ipynb")

    def _set_aside_unfit(self) -> None:
        """Remove unacceptable submissions from nbgrader's list, and record the reason.

        nbgrader would follow links, and give no reason if no notebook has the right name.
        """
        course, converter = self.parent.coursedir, self.parent
        for submitted in self._graded:
            student, name = submitted.parent.name, submitted.name
            reason = unfit(submitted, name)
            if not reason or student in course.student_id_exclude.split(","):
                continue
            converter.assignments.pop(str(submitted), None)
            found = self._graded[submitted]
            if converter.force or not found.saved or found.handed_in != receipt.fingerprint(submitted, course.ignore):
                set_aside(course, student, name, reason, submitted)
            self.log.warning("%s: %s", known_as(student), readable(reason))

    def from_filename(self, filename: str, resources: dict | None = None, **kwargs) -> tuple[str, dict]:
        """Convert a notebook file; called by nbgrader's Autograde once to sanitize, and once to execute and save."""
        names, course = resources["nbgrader"], self.parent.coursedir
        submitted = Path(course.format_path(course.submitted_directory, names["student"], names["assignment"]))
        self._is_submission = Path(filename).parent == submitted
        try:
            if self._is_submission:
                fingerprint = receipt.fingerprint(submitted, course.ignore)
                before = self._graded.get(submitted, outcome.NotebookOutcome())
                self._outcome = outcome.NotebookOutcome(handed_in=fingerprint, again=before.is_of(fingerprint))
                receipt.keep(submitted, self._autograded(names["student"], names["assignment"]))
            return super().from_filename(filename, resources, **kwargs)
        except Exception as error:
            malformed = self._is_submission and isinstance(error, AttributeError | KeyError | TypeError)
            reason = no_notebook(error) if malformed else reason_for(error, submitted)
            self.log.warning("%s: %s", known_as(names["student"]), readable(reason))
            again = (self._outcome if self._is_submission else outcome.of(Path(filename))).again
            student, assignment = known_as(names["student"]), names["assignment"]
            nb = could_not_grade(course, student, assignment, reason, submitted, again)
            return self._as_it_is(nb, resources)

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **kwargs) -> tuple[str, dict]:
        """Convert a notebook, overwriting any outcome that the submission itself contains; called by nbconvert."""
        if self._is_submission:
            outcome.write(nb, self._outcome)
        if outcome.read(nb).could_not_grade:
            return self._as_it_is(nb, resources)
        return super().from_notebook_node(nb, resources, **kwargs)

    def _as_it_is(self, nb: NotebookNode, resources: dict) -> tuple[str, dict]:
        with temp_attrs(self, _preprocessors=[lambda nb, resources: (nb, resources)]):  # at least one is needed
            return super().from_notebook_node(nb, resources)

    def _autograded(self, student: str, assignment: str) -> Path:
        course = self.parent.coursedir
        return Path(course.format_path(course.autograded_directory, known_as(student), assignment))
