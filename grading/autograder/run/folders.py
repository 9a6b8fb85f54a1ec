"""Read submissions from the class folder and write their autograded notebooks, as nbgrader's Autograde does."""

import os
import shutil
from pathlib import Path

import nbformat
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import Autograde
from nbgrader.utils import find_all_files, temp_attrs

from gradlab import atomic
from gradlab.checks.record import SUFFIX
from gradlab.words import _

from ..errors import ClassError
from ..steps import outcome, receipt
from ..steps.autograde import Graded, Submission
from ..steps.files import known_as
from ..steps.outcome import NotebookOutcome


class Folders:
    """The folders of one assignment, with the class's configuration of nbgrader's Autograde."""

    def __init__(self, api: NbGraderAPI, name: str):
        self.course, self.name = api.coursedir, name
        self.converter = Autograde(coursedir=api.coursedir, parent=api)

    def of_the_class(self) -> dict[str, bytes]:
        """Return the class's files, by relative path, that replace submitted files of the same name."""
        excluded = self.converter.exclude_overwriting.get(self.name, [])
        files = self._files(Path(self.course.format_path(self.course.source_directory, ".", self.name)))
        return {path: data for path, data in files.items() if path not in excluded}

    def read(self, student: str) -> Submission:
        """Run nbgrader's pre-convert hook, then read and return a submission."""
        folder = self.submitted(student)
        path, fingerprint = folder / f"{self.name}.ipynb", receipt.fingerprint(folder, self.course.ignore)
        again = outcome.of(self.autograded(student)).is_of(fingerprint)
        self._hook("run_pre_convert_hook", student, path)
        files = self._files(folder)
        files.pop(self.name + SUFFIX, None)  # large, and replaced with the class's own
        return Submission(student, path.read_bytes(), files, fingerprint, again)

    def write(self, submission: Submission, graded: Graded, of_the_class: dict[str, bytes]) -> None:
        """Write the files beside the autograded notebook, then the notebook, and run nbgrader's post-convert hook."""
        self._put(submission.student, graded.notebook, submission.files | of_the_class)
        self._hook("run_post_convert_hook", submission.student, self.autograded(submission.student))

    def write_reason(self, student: str, reason: str, fingerprint: str) -> None:
        """Replace a student's autograded folder with the released notebook and why there is no grade.

        Raises ClassError if the released notebook is missing.
        """
        released = Path(self.course.format_path(self.course.release_directory, ".", self.name), f"{self.name}.ipynb")
        if not released.exists():
            raise ClassError(_("{file} is missing. Generate the assignment again.", file=released))
        nb = nbformat.read(released, as_version=4)
        outcome.write(nb, NotebookOutcome(could_not_grade=reason, saved=True, handed_in=fingerprint))
        self._put(student, nbformat.writes(nb) + "\n", {})

    def submitted(self, student: str) -> Path:
        """Return a student's submission folder."""
        return Path(self.course.format_path(self.course.submitted_directory, student, self.name))

    def autograded(self, student: str) -> Path:
        """Return the path of a student's autograded notebook."""
        folder = self.course.format_path(self.course.autograded_directory, known_as(student), self.name)
        return Path(folder, f"{self.name}.ipynb")

    def _files(self, folder: Path) -> dict[str, bytes]:
        """Return the contents of a folder's files by relative path, without notebooks and what the class ignores."""
        paths = sorted(find_all_files(str(folder), [*self.course.ignore, "*.ipynb"]))
        return {os.path.relpath(path, folder): Path(path).read_bytes() for path in paths}

    def _put(self, student: str, notebook: str, files: dict[str, bytes]) -> None:
        """Write the files beside the autograded notebook, then the notebook; delete everything else in its folder."""
        path = self.autograded(student)
        folder = path.parent
        folder.mkdir(parents=True, exist_ok=True)
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry != path:
                entry.unlink()
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        receipt.keep(self.submitted(student), folder)
        atomic.write_text(path, notebook)
        self.converter.set_permissions(self.name, known_as(student))

    def _hook(self, name: str, student: str, notebook: Path) -> None:
        """Call one of nbgrader's hooks before or after converting a submission, if the class configures it."""
        self.converter.notebooks = [str(notebook)]
        with temp_attrs(self.course, assignment_id=self.name, student_id=student):
            getattr(self.converter, name)()
