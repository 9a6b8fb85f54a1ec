"""An assignment of one class: its checks, its own seed, and the record made for that seed."""

import functools
import hashlib
import io
import json
import re
import secrets
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbgrader.api import Gradebook, MissingEntry, Notebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade

from authoring.cells import counts
from authoring.places import ChapterError
from gradlab import atomic
from gradlab.checks.compare import Judge
from gradlab.checks.record import CheckRecord, Record, RecordError

from ..errors import ClassError, did_you_mean
from ..source import UPDATE

if TYPE_CHECKING:
    from authoring.chapter import Chapter


@dataclass(frozen=True, eq=False)  # one object for each, see `_load`
class Assignment:
    """What grading knows of an assignment and a submission never does.

    judges: the own ones of its checks, by check id. cells: of the solved notebook.
    """

    judges: dict[str, Judge]
    seed: int
    record: Record
    version: str
    cells: list[nbformat.NotebookNode]

    @functools.cached_property
    def without_cases(self) -> bytes:
        """The record that a submission finds while no check cell runs."""
        return self.record.without_cases().to_json().encode()

    @functools.cached_property
    def cases(self) -> dict[str, str]:
        """By grade_id, the record that a submission finds while a check cell runs: its cases, and what it may use."""
        from gradlab.checks.given import given

        texts = {cell.metadata.nbgrader["grade_id"]: cell.source for cell in self.cells if is_grade(cell)}
        cells = self.record.by_cell()
        return {name: self.record.of_cell(name, given(self.cells, texts[name])).to_json() for name in cells}


def course_of(step: NbGraderPreprocessor) -> CourseDirectory:
    """The class folder in which a preprocessor works: its exporter's converter knows it."""
    return step.parent.parent.coursedir


def load_assignment(course: CourseDirectory, name: str) -> Assignment:
    """Read the solved notebook and the stored seed; the first call for an assignment draws and stores the seed.

    The record is made again from the same seed when the checks or gradlab have changed. Raises ClassError if there is
    no solved notebook, or if the gradebook holds other check cells or points than it.
    """
    source = _source(course, name)
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
    """The seed of an assignment and the version by which it was graded last; None and "" if it never was."""
    try:
        stored = json.loads(_store(course, name).read_text(encoding="utf-8"))
        return stored["seed"], stored["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None, ""


def version_now(course: CourseDirectory, name: str, points: dict[str, float]) -> str:
    """The version by which the class would grade an assignment now, without running any of it; "" if it cannot."""
    try:
        source = _source(course, name)
        return version(nbformat.read(source, as_version=4), source.parent, points)
    except (OSError, ValueError, AttributeError, KeyError):
        return ""


def version(notebook: nbformat.NotebookNode, folder: Path, points: dict[str, float]) -> str:
    """What changes when a solved notebook, or what a check cell is worth, comes to be such that grades may differ.

    Prose, lessons and comments do not count, nor does the version of gradlab.
    """
    cells = [without_comments(cell.source) for cell in notebook.cells if counts(cell)]
    modules = [without_comments(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.py"))]
    worth = sorted((grade_id, float(worth)) for grade_id, worth in points.items())
    return hashlib.sha256(json.dumps([cells, modules, worth]).encode()).hexdigest()[:16]


def without_comments(source: str) -> str:
    """A source without its comments, and without the lines that hold nothing else; as it is if it is no Python."""
    lines, whole = source.split("\n"), set()
    try:
        comments = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):
        return source
    for comment in comments:
        row, column = comment.start[0] - 1, comment.start[1]
        lines[row] = lines[row][:column].rstrip()
        whole |= set() if lines[row] else {row}
    return "\n".join(line for row, line in enumerate(lines) if row not in whole)


def _source(course: CourseDirectory, name: str) -> Path:
    return Path(course.format_path(course.source_directory, ".", name)) / f"{name}.ipynb"


def _store(course: CourseDirectory, name: str) -> Path:
    return Path(course.root) / "records" / f"{name}.json"


@functools.lru_cache(maxsize=8)
def _load(db_url: str, course_id: str, source: Path, changed_at: int, store: Path) -> Assignment:
    notebook = nbformat.read(source, as_version=4)
    points = _compare_with_gradebook(db_url, course_id, notebook, source.stem)
    now, stored = version(notebook, source.parent, points), _stored(store)
    record = _usable(stored, now, store)
    judges = {}
    if record is None or any("judge" in cell.source for cell in notebook.cells if is_grade(cell)):
        chapter = _chapter(notebook, source)
        judges = {check_id: check.judge for check_id, check in chapter.checks.items() if check.judge}
        record = record or chapter.record([stored["seed"]])
    store.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"seed": stored["seed"], "version": now, "record": json.loads(record.to_json())})
    atomic.write_text(store, text, mode=0o600)
    return Assignment(judges, stored["seed"], record, now, [c for c in notebook.cells if c.cell_type == "code"])


def _chapter(notebook: nbformat.NotebookNode, source: Path) -> "Chapter":
    """Run the solved notebook, with torch: to make the record, and for checks that have a judge of their own."""
    from authoring.chapter import read_chapter

    try:
        return read_chapter(notebook, source.stem, source.parent)
    except ChapterError as error:
        raise ChapterError(
            f"{error}\nThis is the class's copy, {source}. If it is older than the course, and does not work with it "
            f"any more: {UPDATE} {source.stem}, or grade with the course as it was then."
        ) from error


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


def _usable(stored: dict, now: str, store: Path) -> Record | None:
    """The stored record, if it was made from the checks as they are now, by a gradlab of the same format."""
    if "record" not in stored or stored.get("version") != now:
        return None
    try:
        return Record.from_json(json.dumps(stored["record"]), str(store))
    except RecordError as error:
        print(f"{str(error).split('. ')[0]}. It is made again from its seed.", file=sys.stderr)
        return None


def graded_cells(notebook: nbformat.NotebookNode) -> dict[str, tuple[str, float]]:
    """The source and the points of each check cell of a solved notebook, by grade_id."""
    marks = [(cell.metadata.nbgrader, cell.source) for cell in notebook.cells if is_grade(cell)]
    return {mark["grade_id"]: (source, float(mark["points"])) for mark, source in marks}


def in_gradebook(notebook: Notebook) -> dict[str, tuple[str, float]]:
    """The same of a notebook as it was generated."""
    sources = {cell.name: cell.source for cell in notebook.source_cells}
    return {cell.name: (sources.get(cell.name, ""), cell.max_score) for cell in notebook.grade_cells}


def _compare_with_gradebook(
    db_url: str, course_id: str, notebook: nbformat.NotebookNode, name: str
) -> dict[str, float]:
    """The points of each check cell; raises ClassError where solved notebook and gradebook do not agree."""
    with Gradebook(db_url, course_id) as gradebook:
        try:
            released = in_gradebook(gradebook.find_notebook(name, name))
        except MissingEntry:
            raise ClassError(
                f"{name} has not been generated in this class: nbgrader generate_assignment {name}"
            ) from None
    here = graded_cells(notebook)
    changed = sorted(grade_id for grade_id in here | released if here.get(grade_id) != released.get(grade_id))
    if changed:
        raise ClassError(
            f"{name}: the solved notebook and the gradebook hold different check cells, or other points for them: "
            f"{', '.join(changed)}. Bring them together with: {UPDATE} {name}, which says first what it changes; or, "
            f"if you changed the class's copy yourself, with: nbgrader generate_assignment {name} --force"
        )
    return {grade_id: points for grade_id, (_, points) in here.items()}
