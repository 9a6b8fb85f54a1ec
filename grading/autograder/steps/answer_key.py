"""Load the answer key of an assignment: its checks, the record made from its seed, and the released notebook."""

import ast
import contextlib
import functools
import json
import secrets
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbgrader.api import Gradebook, Notebook, SourceCell
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_grade

from authoring.cells import tags
from authoring.near import near
from authoring.places import ChapterError
from gradlab import atomic, ipynb, returned, words
from gradlab.checks.compare import Judge
from gradlab.checks.reached import globals_read
from gradlab.checks.record import CheckRecord, Record, RecordError
from gradlab.words import _

from ..class_chapters import UPDATE, chapters
from ..errors import ClassError, did_you_mean
from ..gradebook import find_notebook
from .alone import Task
from .version import checks_called, code_of, decides, hashed, made_from

if TYPE_CHECKING:
    from authoring.chapter import Chapter


@dataclass(frozen=True)
class Released:
    """The released notebook of an assignment.

    cells: all cells, in order; those that nbgrader knows have the source and metadata in the gradebook. lessons: the
    outputs of code cells on which no exercise depends, by cell id and source.
    """

    kernelspec: dict | None
    cells: list[dict]
    lessons: dict[tuple, list]

    @classmethod
    def of(cls, notebook: Notebook, nb: nbformat.NotebookNode) -> "Released":
        """Combine the gradebook's cells with those of `nb`: the released notebook, or the solved one without it."""
        points = {cell.name: cell.max_score for cell in notebook.grade_cells}
        solutions = {cell.name for cell in notebook.solution_cells}
        known = {c.name: _known(c, points.get(c.name), c.name in solutions) for c in notebook.source_cells}
        cells, lessons = [], {}
        for cell in (cell for cell in nb.cells if "reference" not in tags(cell)):
            plain = {"id": cell.id, "cell_type": cell.cell_type, "source": cell.source, "metadata": dict(cell.metadata)}
            plain["metadata"].pop("nbgrader", None)
            cells.append(plain | known.pop(ipynb.grade_id(cell), {}))
            if cell.cell_type == "code" and not returned.counts(cells[-1]):
                lessons[cell.id, cell.source] = cell.outputs
        cells += [{"id": name, **cell} for name, cell in known.items()]
        return cls(json.loads(notebook.kernelspec) if notebook.kernelspec else None, cells, lessons)


def _known(cell: SourceCell, points: float | None, solution: bool) -> dict:
    """Return a cell as the gradebook knows it, without an id. points: None if it is not graded."""
    marks = {"schema_version": 3, "grade_id": cell.name, "cell_type": cell.cell_type, "checksum": cell.checksum}
    marks |= {"grade": points is not None, "solution": solution, "locked": cell.locked, "task": False}
    marks |= {} if points is None else {"points": points}
    return {"cell_type": cell.cell_type, "source": cell.source, "metadata": {"nbgrader": marks}}


@dataclass(frozen=True, eq=False)  # `_load` caches one object per assignment
class AnswerKey:
    """All that grading knows about an assignment, hidden from submissions; plain data, sent to workers once per run.

    record: the class's cases, with their expected results and slips. version: see `_update_record`. cells: the solved
    notebook's code cells. modules: sources of the Python files beside it, by file name. words: the class's catalogue,
    b"" if it is in English.
    """

    name: str
    record: Record
    version: str
    cells: list[nbformat.NotebookNode]
    modules: dict[str, str]
    released: Released
    words: bytes

    def __getstate__(self) -> dict:
        """Return the fields to pickle for a worker, without the cached properties."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @functools.cached_property
    def judges(self) -> dict[str, Judge]:
        """The custom judges of checks that have one, by check id; getting them runs the solved cells, with torch."""
        if not any("judge" in cell.source for cell in self.cells if is_grade(cell)):
            return {}
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.modules.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            chapter = _chapter(nbformat.v4.new_notebook(cells=self.cells), self.name, Path(folder))
        return {check_id: check.judge for check_id, check in chapter.checks.items() if check.judge}

    @functools.cached_property
    def without_cases(self) -> bytes:
        """The content of the record file that a submission sees while no check cell runs."""
        return self.record.without_cases().to_json().encode()

    @functools.cached_property
    def cases(self) -> dict[str, str]:
        """The content of the record file, with cases, that a submission sees while a check cell runs, by grade_id."""
        cells = self.record.by_cell().items()
        return {name: self.record.of_cell(name, *self._given(name, checks)).to_json() for name, checks in cells}

    @functools.cached_property
    def alone(self) -> dict[str, Task]:
        """What to observe alone, without the cells to run, by check id: each check that forbids autograd or torch.

        It may record if its cell uses torch, to build a graph.
        """
        tasks = {}
        for cell, checks in self.record.by_cell().items():
            given, finished = self._given(cell, checks)
            used, also = (globals_read(compile(text, "<check>", "exec")) for text in (self._texts[cell], finished))
            fields = {"check_cell": self._texts[cell], "given": given, "finished": finished, "records": "torch" in used}
            for check_id, allows in _options(self._texts[cell]).items():
                if check_id in checks and not all(allows.values()):
                    task = fields | {"check_id": check_id, "torch": allows["torch"]}
                    tasks[check_id] = Task(task, checks[check_id].cases, used | also)
        return tasks

    @functools.cached_property
    def _texts(self) -> dict[str, str]:
        return {cell.metadata.nbgrader["grade_id"]: cell.source for cell in self.cells if is_grade(cell)}

    def _given(self, cell: str, checks: Iterable[str]) -> tuple[str, str]:
        """Return the texts `given` and `finished` of `CheckRecord` for the checks of a cell."""
        from gradlab.checks.given import given
        from gradlab.engine import finished_before

        return given(self.cells, self._texts[cell]), finished_before(next(iter(checks)), self.cells)


def _options(check_cell: str) -> dict[str, dict[str, bool]]:
    """Return whether autograd and torch are allowed in each check that a cell calls, by check id."""
    allowed = {}
    for call in checks_called(ast.parse(check_cell)):
        given = {str(word.arg): word.value for word in call.keywords if word.arg in ("autograd", "torch")}
        options = {name: ast.literal_eval(value) for name, value in given.items()}
        allowed[ast.literal_eval(call.args[0]).split()[0]] = {"autograd": True, "torch": True} | options
    return allowed


def load_answer_key(course: CourseDirectory, name: str) -> AnswerKey:
    """Load an answer key from the solved notebook and the stored seed; the first call draws and stores the seed.

    Makes the record again from the same seed if the checks or gradlab changed. Raises ClassError if the solved notebook
    is missing, the stored seed is lost, or the gradebook has different check cells or points.
    """
    source = _source(course, name)
    if not source.exists():
        meant = did_you_mean(name, chapters(source.parent.parent))
        raise ClassError(_("Grading needs the solved notebook {file}, which is missing.", file=source) + meant)
    released = Path(course.format_path(course.release_directory, ".", name), f"{name}.ipynb")
    changed_at = tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in (source, released))
    paths = source, released, _record_path(course, name)
    return _load((course.db_url, course.course_id), paths, changed_at, words.read(Path(course.root)))


def stored_checks(course: CourseDirectory, name: str) -> dict[str, dict[str, CheckRecord]]:
    """Return the checks in the class's stored record, by grade_id and check id, without running the chapter.

    Empty if there is no record that this version of gradlab can read.
    """
    path = _record_path(course, name)
    return _stored_checks(path, path.stat().st_mtime_ns) if path.exists() else {}


@functools.lru_cache(maxsize=8)
def _stored_checks(path: Path, changed_at: int) -> dict[str, dict[str, CheckRecord]]:
    with contextlib.suppress(OSError):
        if record := _readable(_stored(path)):
            return record.by_cell()
    return {}


def version_now(course: CourseDirectory, name: str, points: dict[str, float]) -> str:
    """Return the version with which the class would grade an assignment now; "" if it is unknown.

    Only if the assignment's source has changed since its record was made, is the record made again.
    """
    try:
        source = _source(course, name)
        now = made_from(nbformat.read(source, as_version=4), source.parent, points)
        stored = _stored(_record_path(course, name))
    except (OSError, ValueError, AttributeError, KeyError):
        return ""
    if not stored or stored.get("made_from") == now:
        return stored.get("version", "")
    try:
        return load_answer_key(course, name).version
    except (ClassError, ChapterError):
        return now  # no grade has it


def _source(course: CourseDirectory, name: str) -> Path:
    return Path(course.format_path(course.source_directory, ".", name)) / f"{name}.ipynb"


def _record_path(course: CourseDirectory, name: str) -> Path:
    return Path(course.root) / "records" / f"{name}.json"


@functools.lru_cache(maxsize=8)
def _load(book: tuple[str, str], paths: tuple[Path, ...], changed_at: tuple[int, ...], catalogue: bytes) -> AnswerKey:
    source, released, record_path = paths
    notebook, name = nbformat.read(source, as_version=4), source.stem
    with Gradebook(*book) as gradebook:
        generated = find_notebook(gradebook, name)
        _require_same(notebook, generated, name)
        as_released = Released.of(generated, nbformat.read(released, as_version=4) if released.exists() else notebook)
    version, record = _update_record(record_path, notebook, source)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    modules = {path.name: path.read_text(encoding="utf-8") for path in sorted(source.parent.glob("*.py"))}
    return AnswerKey(name, record, version, cells, modules, as_released, catalogue)


def keep_record(course: CourseDirectory, chapter: "Chapter") -> None:
    """Store the class's record of a chapter that has just been run, so that the first grading run need not make it."""
    source = _source(course, chapter.name)
    _update_record(_record_path(course, chapter.name), nbformat.read(source, as_version=4), source, chapter)


def _update_record(
    path: Path, notebook: nbformat.NotebookNode, source: Path, chapter: "Chapter | None" = None
) -> tuple[str, Record]:
    """Return the version and record in the file `path`; first make and store what is missing or outdated.

    chapter: of the solved notebook, if that has been run. The version stays while nothing changes that can change a
    verdict. Raises ClassError if the file is damaged.
    """
    points = {grade_id: points for grade_id, (_, points) in graded_cells(notebook).items()}
    parts = notebook, source.parent, points
    stored, now, code = _stored(path), made_from(*parts), code_of(*parts)
    if not stored and path.exists():  # a different seed could change grades
        why = _("{file} is damaged. Restore a backup, or delete it and grade all again with --force.", file=path)
        raise ClassError(why)
    stored = stored or {"seed": secrets.randbits(48)}
    old, unchanged = _readable(stored), stored.get("made_from") == now
    if old and unchanged:
        record = old
    else:
        record = (chapter or _chapter(notebook, source.stem, source.parent)).record([stored["seed"]])
    plain = json.loads(record.to_json())
    if not unchanged:
        before = decides(json.loads(old.to_json())) if old else None
        unchanged = before is not None and stored.get("code") == code and near(before, decides(plain))
    version = stored["version"] if unchanged else hashed(code, decides(plain))
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"seed": stored["seed"], "version": version, "made_from": now, "code": code, "record": plain}
    atomic.write_text(path, json.dumps(content), mode=0o600)
    return version, record


def _chapter(notebook: nbformat.NotebookNode, name: str, folder: Path) -> "Chapter":
    """Run the solved notebook, with torch, and return its chapter, which provides the record and the judges."""
    from authoring.chapter import read_chapter

    try:
        return read_chapter(notebook, name, folder)
    except ChapterError as error:
        command = f"{UPDATE} {name}"
        why = _("This happened in the class's copy of the chapter. If that is too old, run {command}.", command=command)
        raise ChapterError(f"{error}\n{why}") from error


def _stored(path: Path) -> dict:
    """Return the content of an assignment's file `path`; empty if there is none, or if it is damaged."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        stored = json.loads(path.read_bytes())
        if isinstance(stored, dict) and type(stored.get("seed")) is int:
            return stored
    return {}


def _readable(stored: dict) -> Record | None:
    """Return the stored record, if there is one in the current format; else None."""
    with contextlib.suppress(KeyError, RecordError):
        return Record.from_json(json.dumps(stored["record"]))
    return None


def graded_cells(notebook: nbformat.NotebookNode) -> dict[str, tuple[str, float]]:
    """Return the source and points of each check cell in a solved notebook, by grade_id."""
    marks = [(cell.metadata.nbgrader, cell.source) for cell in notebook.cells if is_grade(cell)]
    return {mark["grade_id"]: (source, float(mark["points"])) for mark, source in marks}


def in_gradebook(notebook: Notebook) -> dict[str, tuple[str, float]]:
    """Return the source and points of each check cell in a generated notebook, by grade_id."""
    sources = {cell.name: cell.source for cell in notebook.source_cells}
    return {cell.name: (sources.get(cell.name, ""), cell.max_score) for cell in notebook.grade_cells}


def _require_same(notebook: nbformat.NotebookNode, generated: Notebook, name: str) -> None:
    """Raise ClassError if the solved notebook and the gradebook have different check cells or points."""
    released, solved = in_gradebook(generated), graded_cells(notebook)
    changed = sorted(grade_id for grade_id in solved | released if solved.get(grade_id) != released.get(grade_id))
    if changed:
        names = {"name": name, "cells": ", ".join(changed), "command": f"{UPDATE} {name}"}
        why = _(
            "{name}: the solved notebook and the gradebook have different check cells or points: {cells}. Run "
            "{command}; or, if you changed the class's copy yourself, nbgrader generate_assignment {name} --force.",
            **names,
        )
        raise ClassError(why)
