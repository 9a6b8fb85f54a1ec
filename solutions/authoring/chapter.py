"""A solved chapter, read from its notebook: its checks, and their records."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_grade

from gradlab.checks.check import Check
from gradlab.checks.record import Record
from gradlab.checks.source import compiled
from gradlab.checks.stale_cells import called_checks
from gradlab.engine import STAGES

from .cells import counts
from .places import SOURCES, ChapterError
from .reference import STUDENT_SEEDS, AuthoredCheck, references


@dataclass(frozen=True)
class Chapter:
    """A solved notebook's name, and its checks by id."""

    name: str
    checks: dict[str, AuthoredCheck]

    def record(self, seeds: Iterable[int] = STUDENT_SEEDS) -> Record:
        """Make the record of all checks for `seeds`."""
        return Record(self.name, {check_id: check.record(seeds) for check_id, check in self.checks.items()})


def source_path(name: str) -> Path:
    """Return the path of a chapter's solved notebook; raises ChapterError, with the known names, for an unknown one."""
    path = SOURCES / name / f"{name}.ipynb"
    if not path.exists():
        raise ChapterError(f"There is no chapter {name!r}. Chapters: {', '.join(chapter_names())}.")
    return path


def chapter_names() -> list[str]:
    """Return the names of all chapters, in order."""
    return sorted(path.stem for path in SOURCES.glob("*/*.ipynb") if path.stem == path.parent.name)


def home(check_id: str) -> str:
    """Return the name of the chapter with this check; an exercise that moves to another chapter keeps its id.

    Raises ChapterError if there is none.
    """
    cell = f'"check-{check_id.replace(".", "-")}"'
    for name in sorted(chapter_names(), key=lambda name: name[:2] != check_id[:2]):
        if cell in source_path(name).read_text(encoding="utf-8"):
            return name
    raise ChapterError(f"There is no check {check_id!r} in any chapter.")


def solved(name: str) -> NotebookNode:
    """Read the solved notebook of a chapter."""
    return nbformat.read(source_path(name), as_version=4)


def load_chapter(name: str) -> Chapter:
    """Read the named chapter from the solved chapters' folder."""
    return read_chapter(solved(name), name)


def read_chapter(notebook: NotebookNode, name: str, folder: Path | None = None) -> Chapter:
    """Run the setup, solution, reference and check cells of a solved notebook, and collect its checks.

    Other cells are not run: exercises may use only names that setup cells define. Raises ChapterError if a cell fails,
    a check has no reference, or two checks share an id. folder: where cells import files from; by default, the solved
    chapter's.
    """
    checks: dict[str, AuthoredCheck] = {}
    collected: list[AuthoredCheck] = []

    def collect(*args, **kwargs) -> None:
        stated = Check(*args, **kwargs)
        if stated.check_id not in references:
            raise ChapterError(f"check {stated.check_id} has no reference cell before it")
        collected.append(AuthoredCheck.of(stated))

    namespace: dict[str, Any] = {"__name__": "__main__"}
    with mock.patch.dict(references, clear=True), importing_from(folder or SOURCES / name):
        for cell in filter(counts, notebook.cells):
            label = cell.metadata.get("nbgrader", {}).get("grade_id", cell.get("id", "?"))
            _run(cell.source, f"<{name}:{label}>", namespace)
            if "check" in namespace:
                namespace["check"] = collect
            for check in collected:
                if check.check_id in checks:
                    raise ChapterError(f"{name}, cell {label}: there are two checks with the id {check.check_id}")
                checks[check.check_id] = replace(
                    check, cell=label, answer_name=called_checks(cell.source).get(check.name, "")
                )
            if is_grade(cell) and not collected:
                raise ChapterError(f"{name}, cell {label}: a graded cell without a check cannot be graded")
            collected.clear()
    return Chapter(name, checks)


@contextlib.contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Inside `with`, let imports find the modules in `folder`, loaded afresh: another chapter may have changed them."""
    modules = {path.stem for directory in (folder, STAGES) for path in directory.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in modules if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in modules:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def _run(source: str, filename: str, namespace: dict) -> None:
    try:
        exec(compiled(source, filename), namespace)
    except ChapterError as error:
        raise ChapterError(f"{filename[1:-1]}: {error}") from None
    except Exception as error:
        raise ChapterError(
            f"{filename[1:-1]}: {type(error).__name__}: {error}. Exercise, reference and check cells may use only what "
            "setup cells and the exercise itself define."
        ) from error
