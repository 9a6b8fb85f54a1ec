"""An assignment of one class: its checks, its own seed, and the record made for that seed."""

import functools
import hashlib
import json
import re
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade

from authoring.chapter import Chapter, read_chapter
from gradlab.checks.record import CheckRecord, Record, RecordError

from .. import atomic
from ..errors import ClassError, did_you_mean


@dataclass(frozen=True)
class Assignment:
    """What grading knows of an assignment and a submission never does."""

    chapter: Chapter
    seed: int
    record: Record

    @functools.cached_property
    def version(self) -> str:
        """What tells this seed and record from any other."""
        return _version(self.seed, json.loads(self.record.to_json()))


def course_of(step: NbGraderPreprocessor) -> CourseDirectory:
    """The class folder in which a preprocessor works: its exporter's converter knows it."""
    return step.parent.parent.coursedir


def load_assignment(course: CourseDirectory, name: str) -> Assignment:
    """Read the solved notebook and the stored seed; the first call for an assignment draws and stores the seed.

    The record is made again from the same seed when the checks or gradlab have changed. Raises ClassError if there is
    no solved notebook, or if the gradebook holds other check cells than it.
    """
    source = Path(course.format_path(course.source_directory, ".", name)) / f"{name}.ipynb"
    if not source.exists():
        known = [path.parent.name for path in source.parent.parent.glob("*/*.ipynb") if path.stem == path.parent.name]
        raise ClassError(
            f"There is no solved notebook {source}; grading needs it to know what is right.{did_you_mean(name, known)}"
        )
    return _load(course.db_url, course.course_id, source, source.stat().st_mtime_ns, _store(course, name))


def stored_checks(course: CourseDirectory, name: str) -> dict[str, dict[str, CheckRecord]]:
    """The checks of each graded cell, by grade_id and check id, as grading has recorded them for the class.

    Empty if there is no record that this version of gradlab can read. Runs nothing of the chapter.
    """
    try:
        stored = json.loads(_store(course, name).read_text(encoding="utf-8"))
        return Record.from_json(json.dumps(stored["record"])).by_cell()
    except (OSError, ValueError, KeyError, RecordError):
        return {}


def stored_version(course: CourseDirectory, name: str) -> tuple[int | None, str]:
    """The seed of an assignment and the version of its record, as the class has them; None and "" if it has none."""
    try:
        stored = json.loads(_store(course, name).read_text(encoding="utf-8"))
        return stored["seed"], _version(stored["seed"], stored["record"])
    except (OSError, ValueError, KeyError, TypeError):
        return None, ""


def _version(seed: int, record: dict) -> str:
    return hashlib.sha256(json.dumps([seed, record], sort_keys=True).encode()).hexdigest()[:12]


def _store(course: CourseDirectory, name: str) -> Path:
    return Path(course.root) / "records" / f"{name}.json"


@functools.lru_cache(maxsize=8)
def _load(db_url: str, course_id: str, source: Path, changed_at: int, store: Path) -> Assignment:
    notebook = nbformat.read(source, as_version=4)
    chapter = read_chapter(notebook, source.stem, source.parent)
    _compare_with_gradebook(db_url, course_id, notebook, source.stem)
    stored = _stored(store)
    record = _usable(stored.get("record"), chapter) or chapter.record([stored["seed"]])
    store.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"seed": stored["seed"], "record": json.loads(record.to_json())})
    atomic.write_text(store, text, mode=0o600)
    return Assignment(chapter, stored["seed"], record)


def _stored(store: Path) -> dict:
    """What is stored of an assignment, or a seed that is drawn; of a damaged file the seed, if that is whole.

    Raises ClassError if it is not: another one would change grades.
    """
    if not store.exists():
        return {"seed": secrets.randbits(48)}
    text = store.read_text(encoding="utf-8", errors="replace")
    try:
        stored = json.loads(text)
        if isinstance(stored, dict) and type(stored.get("seed")) is int:
            return stored
    except ValueError:
        pass
    begun = re.match(r'\{"seed": (\d+),', text)
    if begun is None:
        raise ClassError(
            f"{store} is damaged, and with it the seed of the cases is lost. Put it back from your backup. If there is "
            "none, delete it, which draws another seed, and grade all again with --force."
        )
    print(f"{store} is damaged; its seed is whole, and the rest is made again.", file=sys.stderr)
    return {"seed": int(begun[1])}


def _usable(stored: dict | None, chapter: Chapter) -> Record | None:
    if stored is None:
        return None
    try:
        record = Record.from_json(json.dumps(stored))
    except RecordError:
        return None
    now = {check_id: check.digest() for check_id, check in chapter.checks.items()}
    return record if {check_id: check.digest for check_id, check in record.checks.items()} == now else None


def _compare_with_gradebook(db_url: str, course_id: str, notebook: nbformat.NotebookNode, name: str) -> None:
    with Gradebook(db_url, course_id) as gradebook:
        try:
            released = {cell.name: cell.source for cell in gradebook.find_notebook(name, name).source_cells}
        except MissingEntry:
            raise ClassError(
                f"{name} has not been generated in this class: nbgrader generate_assignment {name}"
            ) from None
    here = {c.metadata.nbgrader["grade_id"]: c.source for c in notebook.cells if is_grade(c)}
    changed = sorted(grade_id for grade_id, source in here.items() if released.get(grade_id) != source)
    if changed:
        raise ClassError(
            f"{name}: the solved notebook and the gradebook hold different check cells: {', '.join(changed)}. "
            f"Bring them together with: nbgrader generate_assignment {name} --force (students keep their notebooks), "
            "then grade again with --force."
        )
