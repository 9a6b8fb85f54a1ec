"""Grade all submissions of an assignment, each by itself: one never stops or touches another."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from tqdm import tqdm
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from .assignment import load_assignment
from .errors import ClassError
from .sandbox import machine
from .settings import configure
from .ungradable import save_reason, unfit, ungradable_notebook


@dataclass(frozen=True)
class Outcome:
    """How one submission ended in this run: "graded", "skipped" (graded before) or "could not be graded"."""

    student: str
    status: str
    reason: str = ""


def class_api(folder: Path, sandbox: bool = True) -> NbGraderAPI:
    """nbgrader's API for the class in `folder`, quiet but for errors; with the settings of its nbgrader_config.py."""
    config = configure(Config(), folder, sandbox)
    settings = Path(folder).resolve().parent / "nbgrader_config.py"
    if settings.exists():
        own = PyFileConfigLoader(settings.name, str(settings.parent)).load_config()
        if own.CourseDirectory.root == config.CourseDirectory.root:  # and not another class's
            own.Execute.kernel_name = config.Execute.kernel_name
            config = own
    api = NbGraderAPI(config=config)
    api.log.setLevel("ERROR")
    return api


def grade(
    folder: Path, name: str, force: bool = False, students: list[str] | None = None, sandbox: bool = True
) -> Iterator[Outcome]:
    """Grade the submissions that have no grade yet, or all with `force`; yields one Outcome per submission.

    Raises ClassError, before anything is graded, if the class is not ready or this machine cannot make a sandbox; with
    sandbox=False submissions run with the rights of whoever grades.
    """
    if sandbox:
        machine.require()
    api = class_api(folder, sandbox)
    course = api.coursedir
    load_assignment(course, name)
    submitted = sorted(path.parent.name for path in Path(course.root, course.submitted_directory).glob(f"*/{name}"))
    unknown = sorted(set(students or []) - set(submitted))
    if unknown:
        raise ClassError(
            f"No submission of {name} by: {', '.join(unknown)}. Submissions: {', '.join(submitted) or 'none'}."
        )
    if not submitted:
        raise ClassError(f"There are no submissions of {name} in {course.root}/{course.submitted_directory}.")
    chosen = [s for s in submitted if not students or s in students]
    for student in tqdm(chosen, desc=name, unit="submission", disable=not sys.stderr.isatty()):
        yield grade_one(api, name, student, force)


def grade_one(api: NbGraderAPI, name: str, student: str, force: bool) -> Outcome:
    """Grade one submission through nbgrader; whatever goes wrong in it is recorded as its reason."""
    course = api.coursedir
    graded = Path(course.format_path(course.autograded_directory, student, name), f"{name}.ipynb")
    if graded.exists() and not force:
        return Outcome(student, "skipped")
    reason = unfit(Path(course.format_path(course.submitted_directory, student, name)), name)
    if not reason:
        result = api.autograde(name, student, force=True)
        if not result["success"]:
            lines = [line for line in result.get("log", "").splitlines() if line.strip()]
            reason = f"nbgrader could not process it: {lines[-1] if lines else 'no reason given'}"
    if reason:
        _record(course, name, student, reason)
    else:
        nb = nbformat.read(graded, as_version=4)
        reason = nb.metadata.get("autograder", {}).get("could_not_grade", "")
    return Outcome(student, "could not be graded" if reason else "graded", reason)


def _record(course: CourseDirectory, name: str, student: str, reason: str) -> None:
    """Write down, in the gradebook and as autograded notebook, that a submission could not be graded."""
    target = Path(course.format_path(course.autograded_directory, student, name), f"{name}.ipynb")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    nbformat.write(ungradable_notebook(course, name, name, reason), target)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(name, student)
        save_reason(gradebook, name, name, student, reason)
