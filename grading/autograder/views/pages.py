"""Make submissions safe to show in feedback pages and Formgrader: nothing in them can run or load anything.

There are three layers of protection. SafePage rebuilds the notebook from the parts that a page shows, in a process with
limits. All HTML from markdown, outputs and comments is reduced to an allowlist. The templates' Content-Security-Policy
would stop scripts even if the first two layers failed. Both kinds of pages are protected by nbgrader's configuration of
HTMLExporter, written by `settings.configure`.
"""

import base64
import contextlib
import functools
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import jinja2
import nh3
from IPython.lib.lexers import IPython3Lexer
from math_core import LatexError, LatexToMathML
from nbconvert.filters import ansi2html, strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from pygments import highlight as color
from pygments.formatters import HtmlFormatter
from pygments.token import STANDARD_TYPES

from gradlab.checks.verdict import Verdict
from gradlab.words import N_, _, language, of_chapter

from ..steps import outcome
from ..steps.bounded import Bounded, OutOfBoundsError
from ..steps.leaving import Known

MOST_MATHEMATICS = 1000  # characters of one formula; deeper nesting could crash the converter
MOST_MARKDOWN = 10_000  # characters of one text; parsing can take quadratic time
MOST_OPENINGS = 100  # mathematical delimiters in one text, for the same reason
MOST_CODE = 30_000  # characters of one cell to color
MOST_COLORS = 2_000  # escape codes in one output
MOST_SHOWN = 1_000_000  # characters of one output or source
MOST_TAGS = 20_000  # per piece of HTML; a hundred thousand nested tags take half a minute
MOST_PICTURES = 32 * 2**20  # bytes of linked pictures per page, counting repetitions

PICTURE_TYPES = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",  # browsers run no scripts and load nothing in images
    ".webp": "image/webp",
}
_EMBEDDED = re.compile(rf"data:(?:{'|'.join(map(re.escape, sorted(set(PICTURE_TYPES.values()))))});base64,[\w+/=\s]*")
_LINK = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)  # relative ones would lead to the student's files
_PLAIN = re.compile(r"(?:[^\\(]|(?<=rgb|hsl)\(|(?<=rgba|hsla)\()*")  # a style whose only functions are colors: no url()
_OPENING = re.compile(r"\\(begin|\\?[\[(])|\$\$?")
_ESCAPE = "\x1b"
_GRADE_ID = re.compile(r"[\w-]+", re.ASCII)

_MATHEMATICS = (
    {"math", "menclose", "merror", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom"}
    | {"mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd"}
    | {"mtext", "mtr", "munder", "munderover"}
)
_TAGS = (nh3.ALLOWED_TAGS | _MATHEMATICS) - {"area", "map"}
_ATTRIBUTES = {tag: names - {"cite"} for tag, names in nh3.ALLOWED_ATTRIBUTES.items()} | {
    "details": {"open"},
    "*": {"lang", "style", "title"}  # and MathML's attributes, none of which is an id or a link
    | {"accent", "accentunder", "columnspan", "depth", "display", "displaystyle", "fence", "form", "height", "largeop"}
    | {"linethickness", "lspace", "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowspan", "rspace"}
    | {"scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width"},
}
_CLASSES = {"div": {"highlight"}, "span": set(STANDARD_TYPES.values()) - {""}}  # for colored code
_STYLES = (
    {"background-color", "border", "border-bottom", "border-collapse", "border-left", "border-right", "border-top"}
    | {"color", "font-family", "font-size", "font-style", "font-weight", "height", "justify-items", "max-width"}
    | {"padding", "padding-left", "padding-right", "text-align", "text-decoration", "vertical-align", "white-space"}
    | {"width"}
)

_converter = LatexToMathML(fancy_error=False, max_expansions=0)


class Shown(str):
    """HTML that is safe to show; the templates' filters pass it on unchanged."""


class SafePage(Preprocessor):
    """A preprocessor that rebuilds a notebook from what a page shows: sources, safe outputs, metadata, verdicts.

    Reads pictures from the folder `resources["metadata"]["path"]`. Sets `resources["page"]` for the templates: room,
    the bytes left for pictures; nonce, which allows the page's own scripts; the submission's outcome; and words.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Return a new notebook with the code and markdown cells; the original stays unchanged."""
        resources["page"] = {"room": MOST_PICTURES, "nonce": uuid4().hex, "outcome": outcome.read(nb)}
        resources["page"] |= {"gettext": _, "language": language()}  # for Formgrader, whose exporter is not ours
        try:
            cells = shown(nb, resources["metadata"]["path"])
        except OutOfBoundsError as error:
            self.log.warning(_("A notebook is shown as plain text: {error}", error=error))
            cells = list(_as_text(nb, error))
        return new_notebook(cells=cells), resources


def _cells(nb: NotebookNode, path: str) -> list[NotebookNode]:
    resources = {"metadata": {"path": path}, "page": {"room": MOST_PICTURES}}
    made, known = [], Known.here(_text(cell.source) for cell in nb.cells)
    for cell in nb.cells:
        common, source = {"id": uuid4().hex, "metadata": _marks(cell)}, _text(cell.source)
        if cell.cell_type == "markdown":
            text = Shown(_markdown(source, resources))
            made.append(_node(cell_type="markdown", source=text, **common))
        elif cell.cell_type == "code":
            count = cell.execution_count if type(cell.execution_count) is int else None
            said = functools.partial(known.kind_and_line, source=source, count=count)
            outputs = [safe for output in cell.outputs if (safe := _output(output, resources, said))]
            code = {"source": Shown(highlight(source)), "outputs": outputs, "execution_count": count}
            made.append(_node(cell_type="code", **code, **common))
    return made


def _node(**fields) -> NotebookNode:
    """Return a cell or an output. nbformat's functions also validate each one, which takes half of a page's time."""
    return from_dict(fields)


shown = Bounded(_cells)


def _as_text(nb: NotebookNode, why: OutOfBoundsError) -> Iterator[NotebookNode]:
    """Yield a notebook's cells with plain sources and verdicts, because rendering exceeded a limit; `why` is shown."""
    said = _("Shown without colors and outputs: {error}", error=why)
    yield new_markdown_cell(Shown(f"<p>{html.escape(said)}</p>"))
    for cell in nb.cells:
        metadata, source = _marks(cell), Shown(f"<pre>{html.escape(_text(cell.source))}</pre>")
        if cell.cell_type == "markdown":
            yield new_markdown_cell(source, metadata=metadata)
        elif cell.cell_type == "code":
            said = "\n\n".join(verdict["message"] for verdict in metadata.get("verdicts", []))
            outputs = [new_output("stream", name="stdout", text=Shown(html.escape(said)))] if said else []
            yield new_code_cell(source, metadata=metadata, outputs=outputs)


def _marks(cell: NotebookNode) -> dict:
    marks = outcome.as_dict(cell.metadata.get("nbgrader"))
    if not _GRADE_ID.fullmatch(_text(marks.get("grade_id"))):
        return {}
    kept: dict[str, Any] = {name: bool(marks.get(name)) for name in ("grade", "solution", "task", "locked")}
    kept |= {"grade_id": marks["grade_id"], "schema_version": 3}
    if type(marks.get("points")) in (int, float):
        kept["points"] = marks["points"]
    return {"nbgrader": kept, "verdicts": [_said(verdict) for verdict in outcome.read_verdicts(cell).values()]}


def _said(verdict: Verdict) -> dict:
    said = verdict.feedback
    slip = of_chapter(said.title.partition(" ")[0], verdict.slip)
    parts = {"title": said.heading, "state": said.head, "reason": "" if verdict.passed else said.lead}
    return parts | {"message": said.text, "slip": slip, "passed": verdict.passed}


def _output(output: NotebookNode, resources: dict, said: Callable[[NotebookNode], str]) -> NotebookNode | None:
    """Return an output as a page shows it; None if it shows nothing. said: sums up an error."""
    if output.output_type == "stream":
        name = "stderr" if output.name == "stderr" else "stdout"
        return _node(output_type="stream", name=name, text=colored(_written(output.text)))
    if output.output_type == "error":
        text = _written("\n".join(map(_text, output.traceback)))
        error = _node(ename=_text(output.ename), evalue=_text(output.evalue), traceback=[text])
        return _node(output_type="error", ename="", evalue=colored(said(error)), traceback=[colored(text)])
    data, metadata = outcome.as_dict(output.get("data")), outcome.as_dict(output.get("metadata"))
    text = _written(data.get("text/plain"))
    kind = next((kind for kind in _RICH if kind in data), None)
    if kind:
        data = {"text/html": _rich(kind, _text(data[kind]), text, outcome.as_dict(metadata.get(kind)), resources)}
    elif text:
        data = {"text/plain": colored(text)}
    else:
        return None
    return _node(output_type="display_data", data=data, metadata={})


def _written(value: object) -> str:
    """Return a cell's text output, shortened to MOST_SHOWN, and without colors if it has very many."""
    text = _text(value)
    if len(text) > MOST_SHOWN:
        text = text[:MOST_SHOWN] + "\n" + _("… and {count} more characters", count=len(text) - MOST_SHOWN)
    return strip_ansi(text) if text.count(_ESCAPE) > MOST_COLORS else text


# In nbconvert's order; for anything else, such as scripts and widgets, the plain text is shown.
_RICH = ["text/html", "text/markdown", "image/svg+xml", "text/latex", "image/png", "image/jpeg"]


def _rich(kind: str, source: str, text: str, metadata: dict, resources: dict) -> str:
    """Convert an output of one of these kinds to safe HTML. text: its plain text, which describes a picture."""
    if kind == "text/html":
        return clean(source, resources)
    if kind in ("text/markdown", "text/latex"):
        return _markdown(source, resources)
    source = base64.b64encode(source.encode()).decode() if kind == "image/svg+xml" else source
    sizes = "".join(f' {name}="{metadata[name]}"' for name in ("width", "height") if type(metadata.get(name)) is int)
    alt = html.escape(_text(metadata.get("alt")) or (text if text[:1] != "<" else "") or _("Output of the cell"))
    return clean(f'<img alt="{alt}" src="data:{kind};base64,{html.escape(source)}"{sizes}>', resources)


@jinja2.pass_context
def markdown(context: jinja2.runtime.Context, source: str) -> str:
    """Convert Markdown to safe HTML, with mathematics as MathML and embedded pictures.

    Replaces nbconvert's template filter. Used for comments, whose pictures come from the notebook's folder and reduce
    `resources["page"]["room"]`.
    """
    return source if isinstance(source, Shown) else _markdown(source, context["resources"])


def highlight(source: str, metadata: dict | None = None) -> str:
    """Convert Python to HTML with syntax coloring, ignoring the language that the notebook declares."""
    if isinstance(source, Shown):
        return source
    if len(source) > MOST_CODE:
        return f'<div class="highlight"><pre>{html.escape(source)}</pre></div>'
    return _colored(source)


@functools.lru_cache(maxsize=512)  # a class's submissions share most cells, here and in `_rendered`
def _colored(source: str) -> str:
    return color(source or " ", IPython3Lexer(), HtmlFormatter(cssclass="highlight"))


def colored(text: str) -> str:
    """Convert a program's output with its ANSI colors to HTML."""
    return text if isinstance(text, Shown) else Shown(ansi2html(text))


def mathematics(source: str, display: bool) -> str:
    """Convert LaTeX to MathML, which needs no script; show it as code if it is very long or cannot be converted."""
    if len(source) <= MOST_MATHEMATICS:
        with contextlib.suppress(LatexError):
            return _converter.convert_with_local_state(source, displaystyle=display)
    return f"<code>{html.escape(source)}</code>"


NO_ALT = N_("No description has been provided for this image")  # nbconvert's wording
_IMAGE = re.compile(r'<img((?: [\w:-]+="[^"]*")*)>')  # as nh3 writes it


def clean(source: str, resources: dict) -> str:
    """Reduce HTML to an allowlist: no scripts, forms, frames or ids, and no URLs except in links.

    Embeds pictures from the notebook's folder; keeps those that are already embedded.
    """
    if source.count("<") > MOST_TAGS:
        return f"<pre>{html.escape(source)}</pre>"

    def attribute(tag: str, name: str, value: str) -> str | None:
        if name == "src":
            return value if _EMBEDDED.fullmatch(value) else _embed(value, resources)
        if name == "href":
            return value if _LINK.fullmatch(value) else None
        if name == "style":
            return value if _PLAIN.fullmatch(value) else None
        return value

    cleaned = nh3.clean(
        source,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=attribute,
        allowed_classes=_CLASSES,
        filter_style_properties=_STYLES,
        set_tag_attribute_values={"a": {"target": "_blank"}},
        url_schemes={"data", "http", "https", "mailto"},
    )
    alt = html.escape(_(NO_ALT))
    return _IMAGE.sub(lambda match: match[0] if ' alt="' in match[0] else f'<img alt="{alt}"{match[1]}>', cleaned)


class _Renderer(IPythonRenderer):
    def __init__(self) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)

    def _embed_image_or_attachment(self, src: str) -> str:
        return src  # `clean` embeds it

    def block_math(self, body: str) -> str:
        return mathematics(body, True)

    def inline_math(self, body: str) -> str:
        return mathematics(body, False)

    def latex_environment(self, name: str, body: str) -> str:
        return mathematics(rf"\begin{{{name}}}{body}\end{{{name}}}", True)


def _markdown(source: str, resources: dict) -> str:
    if len(source) <= MOST_MARKDOWN and len(_OPENING.findall(source)) <= MOST_OPENINGS:
        with contextlib.suppress(RecursionError):
            return clean(_rendered(source), resources)
    return clean(f"<pre>{html.escape(source)}</pre>", resources)


@functools.lru_cache(maxsize=512)
def _rendered(source: str) -> str:
    return MarkdownWithMath(renderer=_Renderer()).render(source)


def _embed(address: str, resources: dict) -> str | None:
    folder = Path(resources["metadata"]["path"] or ".").resolve()
    path = folder / unquote(address)
    kind, room = PICTURE_TYPES.get(path.suffix.lower()), resources["page"]["room"]
    try:
        fits = kind and path.resolve().is_relative_to(folder) and path.stat().st_size <= room
        data = base64.b64encode(path.read_bytes()).decode() if fits else ""
    except (OSError, ValueError):  # no such file, or no file name at all
        data = ""
    uri = f"data:{kind};base64,{data}"
    if not data or not _EMBEDDED.fullmatch(uri) or len(data) > room:
        return None
    resources["page"]["room"] -= len(data)
    return uri


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(map(_text, value))
    return value if isinstance(value, str) else ""
