"""Configure how pages are rendered: template folders, filters, colors, the exporter, and the report's templates."""

import functools
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbgrader
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Whitespace
from traitlets import default

from gradlab.words import _, language, ngettext

from .words import chapter, local

FILTERS = {"markdown2html": "pages.markdown", "highlight_code": "pages.highlight", "ansi2html": "pages.colored"}
FILTERS |= {"exercise": "words.exercise_of", "local": "words.local"}
FILTERS = {name: f"autograder.views.{function}" for name, function in FILTERS.items()}

WORDS = {"_": _, "ngettext": ngettext, "language": language}  # for templates

_FOLDERS = [Path(__file__).parent, Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"]


def template_paths(name: str) -> list[str]:
    """Return the folders in which nbconvert finds the template `name` and its parents: ours, nbgrader's, nbconvert's.

    The settings use `template_paths`, because Formgrader hard-codes nbgrader's `template_name`.
    """
    folders = [str(folder / "templates") for folder in _FOLDERS]
    extra = {"extra_template_basedirs": folders, "extra_template_paths": folders}
    return HTMLExporter(template_name=name, **extra).template_paths


class PageExporter(HTMLExporter):
    """nbconvert's HTMLExporter without its postprocessing of the HTML, which takes longer than everything else."""

    @default("optimistic_validation")
    def _validate_once(self) -> bool:
        return True

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **kw) -> tuple[Any, dict]:
        """Render the template only; our pages already have the alternative texts that postprocessing adds."""
        course = CourseDirectory(config=self.config)
        self.environment.globals |= WORDS
        resources = dict(resources or {})
        resources |= {"chapter": chapter(course, resources["nbgrader"]["assignment"]), "code_colors": code_colors()}
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)


@functools.cache
def code_colors() -> str:
    """Return the CSS that colors code, with a light and a dark value for each kind of token."""
    rules = []
    light, dark = get_style_by_name("default"), get_style_by_name("github-dark")
    for kind, name in STANDARD_TYPES.items():
        colors = [style.style_for_token(kind)["color"] for style in (light, dark)]
        if name and any(colors) and kind is not Whitespace:
            pair = ", ".join(f"#{color}" if color else "currentcolor" for color in colors)
            weight = "; font-weight: bold" if light.style_for_token(kind)["bold"] else ""
            rules.append(f".highlight .{name} {{ color: light-dark({pair}){weight} }}")
    return "\n".join(rules)


_PAGES = Environment(
    loader=FileSystemLoader([_FOLDERS[0] / "templates" / "report", _FOLDERS[0] / "templates"]),
    autoescape=True,  # text from submissions may be hostile
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_PAGES.globals |= WORDS
_PAGES.filters["local"] = local
_PAGES.filters["number"] = lambda value: "" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def render(template: str, folder: Path, **values) -> str:
    """Return one of the templates in templates/report rendered as HTML, without scripts and with all text escaped.

    Its links to files are relative to `folder`.
    """
    return _PAGES.get_template(template).render(link=lambda path: quote(os.path.relpath(path, folder)), **values)
