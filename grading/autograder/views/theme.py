"""Configure how pages are rendered: template folders, filters and the exporter."""

from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbformat import NotebookNode
from traitlets import default

FILTERS = {"markdown2html": "markdown", "highlight_code": "highlight", "ansi2html": "colored"}
FILTERS = {name: f"autograder.views.pages.{function}" for name, function in FILTERS.items()}

_TEMPLATES = [Path(__file__).parent, Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"]


def template_paths(name: str) -> list[str]:
    """Return the folders in which nbconvert finds the template `name` and its parents: ours, nbgrader's, nbconvert's.

    The settings use `template_paths`, because Formgrader hard-codes nbgrader's `template_name`.
    """
    folders = [str(folder / "templates") for folder in _TEMPLATES]
    return HTMLExporter(
        template_name=name, extra_template_basedirs=folders, extra_template_paths=folders
    ).template_paths


class PageExporter(HTMLExporter):
    """nbconvert's HTMLExporter without its postprocessing of the HTML, which takes longer than everything else."""

    @default("optimistic_validation")
    def _validate_once(self) -> bool:
        return True

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **kw) -> tuple[str, dict]:
        """Render the template only; our pages already have the alternative texts that postprocessing adds."""
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)
