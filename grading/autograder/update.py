"""Update a class to the current course: report the changes first, and lose no score without consent."""

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Comment, Grade, Gradebook, GradeCell, MissingEntry, Notebook, SolutionCell, SourceCell
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_solution
from traitlets.config import Config

from authoring.chapter import read_chapter
from authoring.places import ChapterError
from gradlab import words
from gradlab.checks.record import SUFFIX, Record, RecordError
from gradlab.words import _

from . import class_chapters
from .errors import ClassError, did_you_mean, require_success
from .run.lock import only_run
from .steps.answer_key import graded_cells, in_gradebook
from .steps.due import graded_before
from .steps.version import code_of, decides, made_from, plain_code
from .views.changes import counted
from .views.words import exercise_of

SAVE_CELLS = f"nbgrader.preprocessors.{SaveCells.__name__}"  # SaveCells's name in settings


@dataclass(frozen=True)
class Change:
    """The changes that an update makes to one chapter of a class.

    new: the folder of the solved notebook, the class's own if the course has no such chapter. generated: whether
    the gradebook has the chapter. said: the differences, one per line. lost: the scores and comments that would be
    deleted.
    """

    name: str
    new: Path
    generated: bool = False
    said: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def changes(course: CourseDirectory, names: Sequence[str] = ()) -> list[Change]:
    """Return the changes that updating these chapters, or all, would make; change nothing.

    Raises ClassError for an unknown chapter, and ChapterError if the course's version of a chapter does not run.
    """
    in_class = class_chapters.chapters(_source(course))
    known = in_class | class_chapters.chapters(class_chapters.course(words.language()))
    for name in names:
        if name not in known:
            unknown = _("Neither the class nor the course has a chapter {name}.", name=name)
            raise ClassError(unknown + did_you_mean(name, known))
    with Gradebook(course.db_url, course.course_id) as gradebook:
        updates = [_change(gradebook, course, name, in_class.get(name), known[name]) for name in sorted(names or known)]
    return [change for change in updates if change.said]


def apply(api: NbGraderAPI, to_do: list[Change]) -> None:
    """Apply these changes; the files that they replace are moved to a new folder in the class's `replaced`, by chapter.

    Raises ClassError at the first chapter that cannot be generated; its files are restored.
    """
    course = api.coursedir
    with only_run(Path(course.root)):
        if _source(course).is_symlink():
            there = _source(course).resolve()
            _source(course).unlink()
            class_chapters.put(there, _source(course))
        class_chapters.speak(Path(course.root), words.language())
        for change in to_do:
            _make(api, change)


def lines(course: CourseDirectory, changes: list[Change]) -> list[str]:
    """Return all that an update makes, first what it changes beside the chapters; empty if that is nothing."""
    said = [_("The class gets a copy of the chapters instead of a link to them.")] * _source(course).is_symlink()
    if words.read(Path(course.root)) != words.read(class_chapters.course(words.language())):
        said.append(_("The class gets the course's current translation; feedback pages will be made again."))
    for change in changes:
        said += [change.name, *(f"  {line}" for line in change.said)]
        said += ["  " + _("WOULD BE LOST: {what}", what=what) for what in change.lost]
    return said


def _source(course: CourseDirectory) -> Path:
    return Path(course.root, course.source_directory)


def _release(course: CourseDirectory, name: str) -> Path:
    return Path(course.format_path(course.release_directory, ".", name))


def _change(gradebook: Gradebook, course: CourseDirectory, name: str, current: Path | None, new: Path) -> Change:
    same = current is not None and class_chapters.contents(current) == class_chapters.contents(new)
    try:
        notebook = gradebook.find_notebook(name, name)
    except MissingEntry:
        return Change(name, new, said=[] if same else [_("not generated yet") if current else _("new")])
    solved = _solved(new)
    before, after = in_gradebook(notebook), graded_cells(solved)
    said, lost = list[str](), list[str]()
    if not same or before != after:
        before, after = _plain(before), _plain(after)
        if current is None or _points_and(made_from, current, before) != _points_and(made_from, new, after):
            said += [*_differences(notebook, before, after), *_otherwise_checked(current, new, before, after)]
            lost += _losses(notebook, solved, after)
        if not said and current and _points_and(code_of, current, before) == _points_and(code_of, new, after):
            said.append(_("only ungraded parts differ"))
        else:
            said = said or [_("solution or setup cells differ")]
            graded = graded_before(course, name)
            if graded:
                again = f"make grade ASSIGNMENT={name}"
                said.append(_("submissions to grade again: {number}, with {command}", number=graded, command=again))
    if not _is_released(course, name):
        said.append(_("the release is missing or does not fit this version of gradlab"))
    return Change(name, new, True, said, lost)


def _plain(cells: dict[str, tuple[str, float]]) -> dict[str, tuple[str, float]]:
    return {cell: (plain_code(text), points) for cell, (text, points) in cells.items()}


def _differences(notebook: Notebook, before: dict, after: dict) -> Iterator[str]:
    for cell in sorted(after.keys() - before.keys()):
        yield _("{exercise} is added, worth {points}", exercise=exercise_of(cell), points=counted(after[cell][1]))
    for cell in sorted(before.keys() - after.keys()):
        yield _("{exercise} is removed", exercise=exercise_of(cell))
    for cell in sorted(notebook.grade_cells, key=lambda cell: cell.name):
        worth = after.get(cell.name, ("", cell.max_score))[1]
        if worth != cell.max_score:
            exercise, old = exercise_of(cell.name), cell.max_score
            yield _("{name} is worth {points} instead of {old:g}", name=exercise, points=counted(worth), old=old)
            by_hand = sorted(grade.student.id for grade in cell.grades if grade.manual_score is not None)
            if by_hand:
                students = ", ".join(by_hand)
                yield _("check the points you set manually for {name}: {students}", name=exercise, students=students)


def _otherwise_checked(current: Path | None, new: Path, before: dict, after: dict) -> Iterator[str]:
    """Yield a line that lists the exercises whose check, cases or expected values changed."""
    checks, old = _decides(new), {}
    with contextlib.suppress(ChapterError):  # the copy may be from an earlier version of the course
        old = _decides(current) if current else {}
    others = {cell for cell, decided in checks.items() if decided != old.get(cell)}
    others |= {cell for cell in after if cell in before and after[cell][0] != before[cell][0]}
    exercises = ", ".join(map(exercise_of, sorted(others & before.keys())))
    if exercises:
        yield _("checked differently: {exercises}", exercises=exercises)


def _losses(notebook: Notebook, solved: NotebookNode, after: dict) -> Iterator[str]:
    answers = {cell.metadata.nbgrader["grade_id"] for cell in solved.cells if is_solution(cell)}
    for cell in notebook.grade_cells:
        scores = [g for g in cell.grades if g.auto_score is not None or g.manual_score is not None]
        if scores and cell.name not in after:
            yield _("the points for {cell} (submissions: {number})", cell=exercise_of(cell.name), number=len(scores))
    for cell in notebook.solution_cells:
        comments = [comment for comment in cell.comments if comment.manual_comment]
        if comments and cell.name not in answers:
            yield _("your comments on {cell} (submissions: {number})", cell=cell.name, number=len(comments))


def _solved(folder: Path) -> NotebookNode:
    return nbformat.read(folder / f"{folder.name}.ipynb", as_version=4)


def _decides(folder: Path) -> dict[str, dict]:
    """Return what decides the verdicts of each check cell."""
    record = read_chapter(_solved(folder), folder.name, folder).record()
    by_check = decides(json.loads(record.to_json()))
    return {
        cell: {check_id: (check.digest, by_check[check_id]) for check_id, check in checks.items()}
        for cell, checks in record.by_cell().items()
    }


def _points_and(code: Callable, folder: Path, cells: dict[str, tuple[str, float]]) -> str:
    return code(_solved(folder), folder, {cell: points for cell, (_, points) in cells.items()})


def _is_released(course: CourseDirectory, name: str) -> bool:
    folder = _release(course, name)
    try:
        Record.from_json((folder / f"{name}{SUFFIX}").read_bytes())
    except (OSError, RecordError):
        return False
    return (folder / f"{name}.ipynb").exists()


def _make(api: NbGraderAPI, change: Change) -> None:
    course, name = api.coursedir, change.name
    before = Path(course.root, "replaced", name)
    before.mkdir(parents=True, exist_ok=True)
    numbers = [int(path.name) for path in before.iterdir() if path.name.isdecimal()]
    kept = before / str(max(numbers, default=0) + 1)
    kept.mkdir()
    source, release = _source(course) / name, _release(course, name)
    if change.new != source:
        _move(source, kept / "source")
        class_chapters.put(change.new, source)
    if change.generated:
        _move(release, kept / "release")
        configured = api.config.GenerateAssignment.preprocessors
        steps = [UpdateCells if step in (SAVE_CELLS, SaveCells) else step for step in configured]
        api.update_config(Config({"GenerateAssignment": {"preprocessors": steps}}))
        said = api.generate_assignment(name, force=True)
        if not said["success"]:
            _move(kept / "source", source)
            _move(kept / "release", release)
        require_success(said, _("{assignment} could not be generated and is unchanged", assignment=name))


def _move(path: Path, to: Path) -> None:
    """Move a folder, if it exists, replacing `to`."""
    if path.exists():
        shutil.rmtree(to, ignore_errors=True)
        path.rename(to)


class UpdateCells(SaveCells):
    """nbgrader's SaveCells for an assignment with submissions, which gain added cells and lose removed ones."""

    def _create_notebook(self, nb: NotebookNode) -> None:
        try:
            notebook = self.gradebook.find_notebook(self.notebook_id, self.assignment_id)
        except MissingEntry:
            notebook = None
        if notebook is not None and notebook.submissions:
            self._bring(notebook)
        super()._create_notebook(nb)

    def _bring(self, notebook: Notebook) -> None:
        db = self.gradebook.db
        kinds = [
            (GradeCell, Grade, notebook.grade_cells, self.new_grade_cells),
            (SolutionCell, Comment, notebook.solution_cells, self.new_solution_cells),
            (SourceCell, None, list(notebook.source_cells), self.new_source_cells),
        ]
        for kind, row_of, cells, wanted in kinds:
            for cell in [cell for cell in cells if cell.name not in wanted]:
                for row in [*cell.grades, *cell.comments] if row_of else []:
                    db.delete(row)
                db.delete(cell)
            for name in [name for name in wanted if name not in {cell.name for cell in cells}]:
                cell = kind(name=name, notebook=notebook, **wanted[name])
                db.add(cell)
                if row_of:
                    db.add_all([row_of(cell=cell, notebook=submitted) for submitted in notebook.submissions])
        db.commit()
