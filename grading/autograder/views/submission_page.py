"""Render autograded notebooks as safe pages for graders."""

import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

from ..steps.files import readable
from .feedback_page import digest, is_same
from .report import Report
from .theme import PageExporter, template_paths


class NotebookPages:
    """Renders a class's notebooks with a template, as self-contained pages without scripts."""

    def __init__(self, course: CourseDirectory, template: str, *steps: type[Preprocessor]):
        """Prepare the exporter. steps: preprocessors to run after those that make a page safe."""
        self._exporter = PageExporter(config=course.config, template_paths=template_paths(template))
        self._db_url = course.db_url
        for step in steps:
            self._exporter.register_preprocessor(step, enabled=True)

    def render(self, path: Path, student: str = "", nb: NotebookNode | None = None, **values) -> str:
        """Return an HTML page of the notebook `nb`, or of the file `path`; `values` are passed to the template."""
        name = path.stem
        names = {"notebook": name, "assignment": name, "student": student, "db_url": self._db_url}
        resources = {"nbgrader": names, "metadata": {"name": name, "path": str(path.parent)}} | values
        nb = nb or nbformat.read(path, as_version=4)
        return self._exporter.from_notebook_node(nb, resources)[0]


def write_pages(course: CourseDirectory, report: Report, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write missing and outdated pages of autograded notebooks; yield each student with the page's path.

    The pages show no points, so manual grading does not make them outdated.
    """
    pages = NotebookPages(course, "course_submission")
    for row in report.rows:
        page = folder / f"{row.student}.html"
        if row.notebook is None or "/" in row.student:
            continue
        if not is_same(page, now := digest(row.notebook)):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                atomic.write_text(page, pages.render(row.notebook, row.student, made_of=now))
            except OSError:
                raise
            except Exception as error:  # one broken page must not stop the report
                print(f"{row.student}: no page ({type(error).__name__}: {readable(str(error))[:200]})", file=sys.stderr)
                continue
        yield row.student, page
