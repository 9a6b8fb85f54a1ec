"""Make nbgrader's own autograde command and Formgrader's button grade as `autograder grade` does."""

import fnmatch
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters.base import NbGraderException
from sqlalchemy.exc import SQLAlchemyError

from authoring.places import ChapterError
from gradlab.words import _

from ..errors import ClassError
from ..steps import scores
from ..steps.due import compose_names
from ..steps.files import known_as, readable
from .grader import Grader
from .lock import only_run


class SubmissionExporter(NotebookExporter):
    """An exporter that grades all chosen submissions when nbgrader's Autograde creates it, before it reads any.

    It leaves nbgrader nothing to convert: nbgrader would follow links, and not say why if a notebook is misnamed.
    """

    parent: Any  # nbgrader's Autograde

    def __init__(self, *args, **kwargs):
        """Grade the submissions that are due, or all with --force, and log each result.

        Raises NbGraderException, which ends nbgrader's command, for an error that is not a submission's fault.
        """
        super().__init__(*args, **kwargs)
        try:
            with only_run(Path(self.parent.coursedir.root)):
                self._grade()
        except (ClassError, ChapterError, SQLAlchemyError) as error:
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from error

    def _grade(self) -> None:
        converter, course = self.parent, self.parent.coursedir
        converter.assignments.clear()
        compose_names(course)
        grader = Grader(converter.parent, course.assignment_id)
        chosen = fnmatch.filter(grader.choose(None), course.student_id)
        scores.note(course, course.assignment_id)
        for student in chosen:
            if not (converter.force or grader.why_due(student)):
                self.log.info(_("{student}: skipped, because the grade is current", student=known_as(student)))
                continue
            outcome = grader.grade_here(student)
            said = self.log.warning if outcome.reason else self.log.info
            said("%s: %s", known_as(student), readable(outcome.reason) or _(outcome.status))
