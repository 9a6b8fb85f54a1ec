"""What settings say of our pages: where their templates are, and the names of the filters in them."""

from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter

FILTERS = {"markdown2html": "markdown", "highlight_code": "highlight", "ansi2html": "coloured"}
FILTERS = {name: f"autograder.views.pages.{function}" for name, function in FILTERS.items()}

_TEMPLATES = [Path(__file__).parent, Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"]


def template_paths(name: str) -> list[str]:
    """Where nbconvert finds the template `name` and its parents: ours, then nbgrader's, then its own.

    For a setting of that name: Formgrader gives nbgrader's template in a way that no setting of its name can change.
    """
    folders = [str(folder / "templates") for folder in _TEMPLATES]
    return HTMLExporter(
        template_name=name, extra_template_basedirs=folders, extra_template_paths=folders
    ).template_paths
