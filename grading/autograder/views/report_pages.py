"""Render the templates in templates/report as self-contained pages, without scripts and with all text escaped."""

import os
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .theme import WORDS
from .words import local

_FOLDER = Path(__file__).parent / "templates"
_TEMPLATES = Environment(
    loader=FileSystemLoader([_FOLDER / "report", _FOLDER]),
    autoescape=True,  # text from submissions may be hostile
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.globals |= WORDS
_TEMPLATES.filters["local"] = local
_TEMPLATES.filters["number"] = lambda value: "" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def render(template: str, folder: Path, **values) -> str:
    """Return a template rendered as HTML with `values`; its links to files are relative to `folder`."""
    return _TEMPLATES.get_template(template).render(link=lambda path: quote(os.path.relpath(path, folder)), **values)
