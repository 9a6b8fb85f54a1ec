"""The page of one submission for those who grade: the autograded notebook as people read it, safe to open."""

import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

from ..steps.files import readable
from .report import Report
from .theme import template_paths


class PageExporter(HTMLExporter):
    """nbconvert's exporter without its last look at all of the HTML, which takes longer than the rest together."""

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **kw) -> tuple[str, dict]:
        """Render by the template alone; alternative texts and languages are in our pages anyway."""
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)


class NotebookPages:
    """Renders notebooks of a class by one of its templates, as feedback is: no script runs, nothing is loaded."""

    def __init__(self, course: CourseDirectory, template: str, *steps: type[Preprocessor]):
        """steps: to be taken after what makes a page safe."""
        self._exporter = PageExporter(config=course.config, template_paths=template_paths(template))
        self._db_url = course.db_url
        for step in steps:
            self._exporter.register_preprocessor(step, enabled=True)

    def render(self, path: Path, student: str = "", nb: NotebookNode | None = None, **values) -> str:
        """The page of a notebook file, or of `nb` in its place, as HTML; `values` are for the template."""
        name = path.stem
        names = {"notebook": name, "assignment": name, "student": student, "db_url": self._db_url}
        resources = {"nbgrader": names, "metadata": {"name": name, "path": str(path.parent)}} | values
        nb = nb or nbformat.read(path, as_version=4)
        return self._exporter.from_notebook_node(nb, resources)[0]


def write_pages(course: CourseDirectory, report: Report, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write a page for each autograded notebook whose page is not as new; yields students and pages.

    It shows no points, so that nothing set by hand can make it stale.
    """
    pages = NotebookPages(course, "course_submission")
    for row in report.rows:
        page = folder / f"{row.student}.html"
        if row.notebook is None or "/" in row.student:
            continue
        if not page.exists() or page.stat().st_mtime_ns <= row.notebook.stat().st_mtime_ns:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                atomic.write_text(page, pages.render(row.notebook, row.student))
            except OSError:
                raise
            except Exception as error:  # that one cannot be shown is no end of the report
                print(f"{row.student}: no page ({type(error).__name__}: {readable(str(error))[:200]})", file=sys.stderr)
                continue
        yield row.student, page
