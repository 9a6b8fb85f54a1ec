"""Render autograded notebooks as safe pages for graders."""

import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic
from gradlab.words import _

from ..steps.files import readable
from .feedback_page import digest, is_same
from .report import Report
from .theme import PageExporter, template_paths


def write_pages(course: CourseDirectory, report: Report, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write missing and outdated pages of autograded notebooks; yield each student with the page's path.

    The pages show no points, so manual grading does not make them outdated.
    """
    exporter = PageExporter(config=course.config, template_paths=template_paths("course_submission"))
    for row in report.rows:
        page = folder / f"{row.student}.html"
        if row.notebook is None or "/" in row.student:
            continue
        if not is_same(page, now := digest(course, row.notebook)):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                atomic.write_text(page, _page(exporter, row.notebook, row.student, now))
            except OSError:
                raise
            except Exception as error:  # one broken page must not stop the report
                why = readable(repr(error))[:200]
                print(_("{student}: no page ({error})", student=row.student, error=why), file=sys.stderr)
                continue
        yield row.student, page


def _page(exporter: PageExporter, path: Path, student: str, made_of: str) -> str:
    names = {"notebook": path.stem, "assignment": path.stem, "student": student}
    resources = {"nbgrader": names, "metadata": {"name": path.stem, "path": str(path.parent)}, "made_of": made_of}
    return exporter.from_notebook_node(nbformat.read(path, as_version=4), resources)[0]
