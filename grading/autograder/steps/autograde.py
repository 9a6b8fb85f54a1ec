"""nbgrader's steps of one submission, taken on its notebook in memory; nbgrader's own converter takes them on files."""

import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import temp_attrs
from traitlets.utils.importstring import import_item

from gradlab import atomic

from ..errors import ClassError, SubmissionError
from . import outcome, receipt
from .faults import no_notebook
from .files import all_of, known_as
from .outcome import NotebookOutcome
from .runs import Executed, RunCells
from .sanitise import Released, RestoreCells

OF_THE_GRADEBOOK = (SaveAutoGrades, AssignLatePenalties)  # what they write, `save.Rows` writes in one transaction


@dataclass(frozen=True)
class Sanitised:
    """What was handed in, sanitised. files: what belongs beside it. handed_in: when, None if nothing says so."""

    notebook: NotebookNode
    files: dict[str, bytes]
    handed_in: datetime | None


class Steps:
    """The steps that a class's settings name, made once for all submissions of an assignment.

    Raises ClassError if one, or the plugin of one, cannot be made: it would fail everyone.
    """

    def __init__(self, api: NbGraderAPI, name: str, released: Released):
        self.course, self.name = api.coursedir, name
        try:
            self._converter = Autograde(coursedir=api.coursedir, parent=api)
            self._sanitise = [self._made(step) for step in self._converter.sanitize_preprocessors]
            self._grade = [self._made(step) for step in self._converter.autograde_preprocessors]
        except Exception as error:
            raise ClassError(
                f"The class's nbgrader_config.py names what cannot be used ({type(error).__name__}: {error}). Modules "
                f"are looked for in {api.coursedir.root} and beside nbgrader_config.py."
            ) from error
        for step in self._sanitise:
            if isinstance(step, RestoreCells):
                step.released = released
        source = Path(self.course.format_path(self.course.source_directory, ".", name))
        excluded = self._converter.exclude_overwriting.get(name, [])
        self._of_the_class = {path: data for path, data in self._files(source).items() if path not in excluded}

    @property
    def late(self) -> AssignLatePenalties | None:
        """The step that takes points off for lateness, if the class has one."""
        return next((step for step in self._grade if isinstance(step, AssignLatePenalties) and step.enabled), None)

    def sanitise(self, student: str, folder: Path, again: bool) -> Sanitised:
        """Read what was handed in, once. again: it was graded before. Raises SubmissionError if it is no notebook."""
        path = folder / f"{self.name}.ipynb"
        handed_in = receipt.fingerprint(folder, self.course.ignore)
        self._hook("run_pre_convert_hook", student, path)
        try:
            nb = nbformat.read(path, as_version=4)
            outcome.write(nb, NotebookOutcome(handed_in=handed_in, again=again))
            nb, resources = self._take(self._sanitise, nb, student)
        except (AttributeError, KeyError, TypeError) as error:
            raise SubmissionError(no_notebook(error)) from error
        files = self._files(folder) | self._of_the_class | resources["outputs"]
        return Sanitised(nb, files, self.course.get_existing_timestamp(str(folder)))

    def grade(self, student: str, nb: NotebookNode, executed: Executed) -> NotebookNode:
        """Put what was executed, and the verdicts on it, in the place of a sanitised notebook."""
        for step in self._grade:
            if isinstance(step, RunCells):
                step.executed = executed
        return self._take([step for step in self._grade if not isinstance(step, OF_THE_GRADEBOOK)], nb, student)[0]

    def write(self, student: str, nb: NotebookNode, files: dict[str, bytes], submitted: Path) -> None:
        """Write the autograded notebook, whole or not at all, and before it what belongs beside it."""
        folder = Path(self.course.format_path(self.course.autograded_directory, student, self.name))
        path = folder / f"{self.name}.ipynb"
        folder.mkdir(parents=True, exist_ok=True)
        for entry in folder.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            elif entry != path:
                entry.unlink()
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        receipt.keep(submitted, folder)
        atomic.write_text(path, nbformat.v4.writes(nb) + "\n")
        self.set_permissions(student)
        self._hook("run_post_convert_hook", student, path)

    def set_permissions(self, student: str) -> None:
        """Let nbgrader set the rights of what was written of a submission."""
        self._converter.set_permissions(self.name, known_as(student))

    def _take(self, steps: list, nb: NotebookNode, student: str) -> tuple[NotebookNode, dict]:
        names = {"student": student, "assignment": self.name, "notebook": self.name, "db_url": self.course.db_url}
        resources = {"nbgrader": names, "unique_key": self.name, "metadata": {"name": self.name}, "outputs": {}}
        for step in steps:
            nb, resources = step(nb, resources)
        nbformat.validate(nb, relax_add_props=True)
        return nb, resources

    def _files(self, folder: Path) -> dict[str, bytes]:
        return all_of(folder, [*self.course.ignore, "*.ipynb"])

    def _hook(self, name: str, student: str, notebook: Path) -> None:
        """Call the class's own function, if its settings name one, as nbgrader does before and after a submission."""
        self._converter.notebooks = [str(notebook)]
        with temp_attrs(self.course, assignment_id=self.name, student_id=student):
            getattr(self._converter, name)()

    def _made(self, step: type[NbGraderPreprocessor] | str) -> NbGraderPreprocessor:
        return (import_item(step) if isinstance(step, str) else step)(parent=self._converter)
