"""From solved notebooks to the student edition: execute, normalise, generate, compare."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from gradlab import live
from gradlab.engine import source_of

from .chapter import chapter_names, source_path
from .edition import GENERATE
from .minutes import say_minutes, with_minutes
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
    """Run all cells of a solved notebook, in place; raises nbclient's CellExecutionError at the first that fails."""
    config = Config({"KernelManager": {"transport_encryption": "auto"}})  # or ipykernel warns on stderr
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources, config=config).execute()


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Take out, in place, what changes from run to run: times, widgets, versions; counts go from 1 up.

    The opening's minutes become those that the chapter takes.
    """
    say_minutes(notebook)
    notebook.metadata = NotebookNode(kernelspec=KERNELSPEC, language_info={"name": "python"})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    count = 0
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.source = cell.source.rstrip()
        if cell.cell_type != "code":
            continue
        ran = cell.execution_count is not None
        count += ran
        cell.execution_count = count if ran else None
        cell.outputs = _joined(cell.outputs)
        for output in cell.outputs:
            output.pop("transient", None)
            output.get("data", {}).pop(live.WIDGET, None)  # what stands beside it can be read without a kernel
            if "execution_count" in output:
                output["execution_count"] = cell.execution_count
    return notebook


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs with neighbouring pieces of one stream put together: where they part depends on timing."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def as_shipped(notebook: NotebookNode) -> NotebookNode:
    """Bring a student's notebook, in place, into the form in which JupyterLab saves one that was opened and not run."""
    notebook.metadata.language_info = LANGUAGE_INFO
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            cell.metadata["collapsed"] = True
        if cell.cell_type == "code":
            for part in [cell, *(output for output in cell.outputs if "execution_count" in output)]:
                part.execution_count = None
    return notebook


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook in the one form in which it is committed; raises ChapterError past MAX_BYTES."""
    text = nbformat.writes(notebook, version=4)
    if len(text) > MAX_BYTES:
        raise ChapterError(f"{path.name} would have {len(text)} bytes; no notebook may have more than {MAX_BYTES}.")
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def generate(names: list[str], folder: Path) -> None:
    """Let nbgrader make the student edition of the named chapters in `folder`, from their sources as they are."""
    api = _class_of(SOURCES)
    for name in names:
        result = api.generate_assignment(name)
        if not result["success"]:
            raise ChapterError(f"nbgrader could not make the student edition of {name}:\n{result['log']}")
        released = Path(api.coursedir.root, "release", name)
        path = released / f"{name}.ipynb"
        write(as_shipped(nbformat.read(path, as_version=4)), path)
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(released, folder / name)


@functools.cache
def _class_of(sources: Path) -> NbGraderAPI:
    """A class whose assignments these are, for as long as this process runs: to begin one takes nbgrader a second."""
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


def stages(name: str, notebook: NotebookNode) -> dict[Path, str]:
    """What a chapter's cells tagged `engine` come to, by the files in later chapters' folders that hold it."""
    text = source_of(notebook.cells)
    if not text.strip():
        return {}
    number = name[:2]
    head = f'"""The engine of part two as chapter {number} leaves it. Made from the cells of that chapter."""\n\n'
    later = sorted(path for path in SOURCES.glob("[0-9][0-9]_*") if path.is_dir() and path.name[:2] > number)
    return {folder / f"engine_{number}.py": head + text for folder in later}


def build(names: list[str]) -> None:
    """Execute and normalise the named solved chapters, then generate their student edition."""
    for name in names:
        path = source_path(name)
        print(f"{name}: executing", flush=True)
        notebook = nbformat.read(path, as_version=4)
        execute(notebook, path.parent)
        write(normalise(notebook), path)
        for stage, text in stages(name, notebook).items():
            stage.write_text(text, encoding="utf-8")
    print("generating the student edition", flush=True)
    generate(names, STUDENT_EDITION)
    START_PAGE.write_text(with_minutes(START_PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def shown(path: Path) -> str:
    """A path as seen from the top of the repository."""
    return str(path.relative_to(SOLUTIONS.parent))


def stale() -> list[str]:
    """What is not as `build` would leave it, one sentence a file; outputs are not run again (nbval does that)."""
    return [*stale_pages(), *(sentence for name in chapter_names() for sentence in stale_chapter(name))]


def stale_pages() -> list[str]:
    """What is stale of the start page, and which folders belong to no chapter."""
    found = []
    page = START_PAGE.read_text(encoding="utf-8")
    if with_minutes(page) != page:
        found.append(f"{shown(START_PAGE)} gives other minutes than the chapters take")
    folders = [path for path in STUDENT_EDITION.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))]
    return found + [f"{shown(path)} belongs to no chapter" for path in folders if path.name not in chapter_names()]


def stale_chapter(name: str) -> list[str]:
    """What is stale of one chapter: its notebook's form, the engine that it leaves, its student edition."""
    path, found = source_path(name), []
    notebook = nbformat.read(path, as_version=4)
    if any(c.cell_type == "code" and c.execution_count is None for c in notebook.cells):
        found.append(f"{shown(path)} has cells that were not run")
    if nbformat.writes(normalise(notebook)).rstrip("\n") + "\n" != path.read_text(encoding="utf-8"):
        found.append(f"{shown(path)} is not in normal form")
    for stage, made in stages(name, notebook).items():
        if not stage.exists() or stage.read_text(encoding="utf-8") != made:
            found.append(f"{shown(stage)} is not what the cells of {name} make")
    with tempfile.TemporaryDirectory() as scratch:
        fresh, edition = Path(scratch) / name, STUDENT_EDITION / name
        generate([name], fresh.parent)
        files = {p.relative_to(root) for root in (fresh, edition) for p in root.rglob("*") if p.is_file()}
        for file in sorted(file for file in files if not any(part.startswith((".", "__")) for part in file.parts)):
            made, committed = fresh / file, edition / file
            if not committed.exists():
                found.append(f"{shown(committed)} is missing")
            elif not made.exists():
                found.append(f"{shown(committed)} belongs to no chapter")
            elif made.read_bytes() != committed.read_bytes():
                found.append(f"{shown(committed)} is not what its source makes")
    return found
