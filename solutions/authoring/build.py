"""Build the student edition from the solved notebooks: execute, normalize, generate, compare."""

import atexit
import functools
import itertools
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import nbformat
from nbclient import NotebookClient
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from gradlab import live
from gradlab.checks.record import SUFFIX, Record
from gradlab.engine import LAST, STAGES, source_of
from gradlab.notebook import OWN_ENGINE

from . import digests, pages
from .chapter import chapter_names, source_path
from .edition import GENERATE
from .minutes import say_minutes, with_minutes
from .near import near
from .places import SOLUTIONS, SOURCES, ChapterError

STUDENT_EDITION = SOLUTIONS.parent / "course" / "chapters"
START_PAGE = STUDENT_EDITION.parent / "README.md"
MAX_BYTES = 1_000_000
LANGUAGE_INFO = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": "3.11.0",
}
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run all cells of a solved notebook, in place; raises nbclient's CellExecutionError at the first failing cell."""
    resources = {"metadata": {"path": str(folder)}}
    with tempfile.TemporaryDirectory() as sockets:
        kernels = {"transport_encryption": "auto"}  # else ipykernel warns on stderr
        if hasattr(socket, "AF_UNIX"):  # others can take a port between its choice and the kernel's start
            kernels |= {"transport": "ipc", "ip": f"{sockets}/kernel"}
        config = Config({"KernelManager": kernels})
        client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources, config=config)
        client.execute(env={**os.environ, "TQDM_DISABLE": "1"})  # on a slow machine, the bars of `track` would be saved


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Put a notebook, in place, into the form for commits: its opening states its minutes, and nothing varies."""
    say_minutes(notebook)
    return without_noise(notebook)


def without_noise(notebook: NotebookNode) -> NotebookNode:
    """Remove, in place, everything that varies between runs: times, widgets, versions; execution counts start at 1."""
    notebook.metadata = NotebookNode(kernelspec=KERNELSPEC, language_info={"name": "python"})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    CoalesceStreamsPreprocessor().preprocess(notebook, {})  # timing determines where a stream is split
    count = 0
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.source = cell.source.rstrip()
        if cell.cell_type != "code":
            continue
        ran = cell.execution_count is not None
        count += ran
        cell.execution_count = count if ran else None
        for output in cell.outputs:
            output.pop("transient", None)
            output.get("data", {}).pop(live.WIDGET, None)  # the output beside a widget can be read without a kernel
            if "execution_count" in output:
                output["execution_count"] = cell.execution_count
    return notebook


def as_shipped(notebook: NotebookNode) -> NotebookNode:
    """Change a student's notebook, in place, to the form in which JupyterLab saves one that was opened but not run."""
    notebook.metadata.language_info = LANGUAGE_INFO
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            cell.metadata["collapsed"] = True
        if cell.cell_type == "code":
            for part in [cell, *(output for output in cell.outputs if "execution_count" in output)]:
                part.execution_count = None
    return notebook


def same(made: Path, committed: Path) -> bool:
    """Return whether two files are equal, ignoring the last digits of a record's numbers, which vary by machine."""
    if made.read_bytes() == committed.read_bytes():
        return True
    return made.name.endswith(SUFFIX) and near(_whole(made), _whole(committed))


def _whole(path: Path) -> dict:
    """Return the record in a file as plain data, with all observations of each slip instead of its deltas."""
    record = Record.from_json(path.read_bytes(), path.name)
    whole = msgspec.to_builtins(record)
    for check_id, check in record.checks.items():
        for slip, plain in zip(check.slips, whole["checks"][check_id]["slips"], strict=True):
            plain["deltas"] = msgspec.to_builtins(slip.observations(check.expected))
    return whole


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook in the normal form for commits; raises ChapterError if it exceeds MAX_BYTES."""
    text = nbformat.writes(notebook, version=4)
    if len(text) > MAX_BYTES:
        raise ChapterError(f"{path.name} would have {len(text)} bytes; no notebook may have more than {MAX_BYTES}.")
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def generate(names: list[str], folder: Path, sources: Path = SOURCES) -> None:
    """Let nbgrader generate the student edition of the named chapters in `folder`, from those in `sources`."""
    api = _class_of(sources)
    for name in names:
        result = api.generate_assignment(name)
        if not result["success"]:
            raise ChapterError(f"nbgrader could not generate the student edition of {name}:\n{result['log']}")
        released, record = Path(api.coursedir.root, "release", name), name + SUFFIX
        path = released / f"{name}.ipynb"
        write(as_shipped(nbformat.read(path, as_version=4)), path)
        if (folder / name / record).exists() and same(released / record, folder / name / record):
            shutil.copy(folder / name / record, released / record)  # changes that are only noise would hide real ones
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(released, folder / name)


@functools.cache
def _class_of(sources: Path) -> NbGraderAPI:
    """Return nbgrader's API for a class with these sources, cached per process: creating one takes a second."""
    scratch = tempfile.TemporaryDirectory()
    atexit.register(scratch.cleanup)
    config = Config()
    config.CourseDirectory.root = scratch.name
    config.CourseDirectory.source_directory = str(sources)
    config.CourseDirectory.release_directory = "release"
    config.CourseDirectory.db_url = f"sqlite:///{scratch.name}/gradebook.db"
    config.GenerateAssignment.preprocessors = GENERATE
    api = NbGraderAPI(config=config)
    api.log.setLevel("WARNING")
    return api


def stage(name: str, notebook: NotebookNode) -> dict[Path, str]:
    """Return the path and text of the file with a chapter's `engine` cells, if later chapters import it."""
    text, number = source_of(notebook.cells), name[:2]
    if not text.strip() or number == str(LAST):
        return {}
    head = f'"""The engine of part two as chapter {number} leaves it. Made from the cells of that chapter."""\n\n'
    return {STAGES / f"engine_{number}.py": head + text}


def changed(every: bool = False) -> Iterator[str]:
    """Yield the chapters whose files, or the code behind them, have changed since they were built; or `every` one.

    Each is judged when the one before it has been built: that writes the engine's stage, which later chapters import.
    """
    yield from (name for name in chapter_names() if every or not digests.is_current(name, STUDENT_EDITION))


def build(chapters: Iterable[str]) -> None:
    """Execute and normalize the named solved chapters, then generate their student edition."""
    modules: dict[str, list[str]] = {}
    for name in chapters:
        path = source_path(name)
        print(f"{name}: executing", flush=True)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.append(digests.imports_cell())
        execute(notebook, path.parent)
        modules[name] = digests.imported(notebook.cells.pop())
        write(normalise(notebook), path)
        for file, text in stage(name, notebook).items():
            file.write_text(text, encoding="utf-8")
    print("generating the student edition" if modules else "no chapter has changed since it was built", flush=True)
    generate([*modules], STUDENT_EDITION)
    START_PAGE.write_text(with_minutes(START_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for name, text in pages.made().items():
        (pages.PAGES / name).write_text(text, encoding="utf-8")
    digests.note(modules, STUDENT_EDITION)


def shown(path: Path) -> str:
    """Return a path relative to the top of the repository."""
    return str(path.relative_to(SOLUTIONS.parent))


def stale(each: Callable = map, every: bool = False) -> list[str]:
    """Return a sentence for each file that differs from what `build` makes of the committed sources.

    A chapter that was built from other files, or by other code, may show outputs that nothing prints any more.
    every: also generate the edition of each chapter again, to compare it; outputs are compared by nbval.
    each: `map`, or an executor's `map`, which generates several chapters at once.
    """
    old = [f"{shown(source_path(name))} was not built since the code or files behind it changed" for name in changed()]
    chapters = each(stale_chapter, reversed(chapter_names() if every else []))  # the longest first
    return [*stale_pages(), *old, *itertools.chain.from_iterable(chapters)]


def stale_pages() -> list[str]:
    """Return a sentence for each stale page (the start page and those beside it) and each folder without a chapter."""
    sentences = []
    page = START_PAGE.read_text(encoding="utf-8")
    if with_minutes(page) != page:
        sentences.append(f"{shown(START_PAGE)} does not state the chapters' minutes")
    for name, text in pages.made().items():
        if not (pages.PAGES / name).exists() or (pages.PAGES / name).read_text(encoding="utf-8") != text:
            sentences.append(f"{shown(pages.PAGES / name)} is not what the chapters generate")
    folders = [path for path in STUDENT_EDITION.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))]
    return sentences + [
        f"{shown(path)} belongs to no chapter"
        for path in folders
        if path.name not in [*chapter_names(), pages.PAGES.name, OWN_ENGINE]
    ]


def stale_chapter(name: str) -> list[str]:
    """Return a sentence for each stale file of one chapter: its notebook, its engine stage, its student edition."""
    path, sentences = source_path(name), []
    notebook = nbformat.read(path, as_version=4)
    if any(c.cell_type == "code" and c.execution_count is None for c in notebook.cells):
        sentences.append(f"{shown(path)} has cells that did not run")
    if nbformat.writes(normalise(notebook)).rstrip("\n") + "\n" != path.read_text(encoding="utf-8"):
        sentences.append(f"{shown(path)} is not in normal form")
    for file, made in stage(name, notebook).items():
        if not file.exists() or file.read_text(encoding="utf-8") != made:
            sentences.append(f"{shown(file)} is not what the cells of {name} generate")
    with tempfile.TemporaryDirectory() as scratch:
        fresh, edition = Path(scratch) / name, STUDENT_EDITION / name
        generate([name], fresh.parent)
        files = {p.relative_to(root) for root in (fresh, edition) for p in root.rglob("*") if p.is_file()}
        for file in sorted(file for file in files if not any(part.startswith((".", "__")) for part in file.parts)):
            generated, committed = fresh / file, edition / file
            if not committed.exists():
                sentences.append(f"{shown(committed)} is missing")
            elif not generated.exists():
                sentences.append(f"{shown(committed)} belongs to no chapter")
            elif not same(generated, committed):
                sentences.append(f"{shown(committed)} is not what its source generates")
    return sentences
