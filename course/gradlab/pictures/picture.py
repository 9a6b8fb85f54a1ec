"""Code that all pictures of the course share: embedding in a notebook, colors, and text widths."""

import base64
import html
import itertools
import json
from functools import cache
from importlib import resources

from ..words import _

TEXT, TITLE = 11, 12  # px, as in static/picture.css
PAGE = 14  # px, the text size of JupyterLab's pages
LINE = 500  # maximum px for a line of text below a picture
# Advance widths of Helvetica, Arial and Liberation Sans, from space to tilde, in thousandths of the font size.
_WIDTHS = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]  # fmt: skip


class PictureError(ValueError):
    """Raised if something cannot be drawn; a notebook shows only its message, which says why, and no traceback."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


def not_a_tensor(function, given):
    """Return the error of a function that was given something else than a tensor."""
    parts = {"function": function, "given": shorten(repr(given), 60), "type": type(given).__name__}
    return PictureError(_("{function}() needs a tensor, but was given {given} of type {type}.", **parts))


@cache
def static(name):
    """Return the text of a file in the modules' static folder."""
    return resources.files(__package__).joinpath("static", name).read_text(encoding="utf-8")


def script(name, data):
    """Return the HTML that runs the function in a file of the static folder with its place in the page, and data."""
    safe = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
    return f"<script>({static(name)})(document.currentScript, {safe});</script>"


def text_width(text, size=TEXT, bold=False):
    """Return the width in px of text in the pictures' font; bold text is 7% wider."""
    total = sum(_WIDTHS[ord(c) - 32] if " " <= c <= "~" else 584 if ord(c) < 0x2E80 else 1000 for c in text)
    return round(total * size / 1000 * (1.07 if bold else 1))


def shorten(text, most):
    """Cut text to `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def element_names(name, shape):
    """Return names for a tensor's elements in flattened order: "x[0, 1]"; "x" for a 0-dimensional tensor."""
    indices = (", ".join(map(str, index)) for index in itertools.product(*map(range, shape)))
    return [f"{name}[{index}]" if index else name for index in indices]


def wrapped(text):
    """Return text split into lines that fit into a small window."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and text_width(longer) > LINE:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def label(x, y, text, css="", anchor="middle"):
    """Return an SVG text with its exact width, so that it fits its box even if the font is missing."""
    bold = "gl-t" in css.split()
    kind = f' class="{css}"' if css else ""
    length = text_width(text, TITLE if bold else TEXT, bold)
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" textLength="{length}" lengthAdjust="spacingAndGlyphs"{kind}>'
        f"{html.escape(text)}</text>"
    )


def svg(width, height, body, alt, css="", kind="", beside=None):
    """Return a self-contained SVG in the colors of JupyterLab's theme if available, else of the reader's system.

    On a narrower page the picture shrinks. With `beside`, a text size in px, it keeps its size relative to text of that
    size and the page scrolls; it grows if the reader has chosen larger letters. All pictures on a page share their CSS
    rules, so rules in `css` for one `kind` must be more specific than general rules for the same elements.
    """
    size = "max-width:100%"
    if beside:
        size = f"max-width:none;width:calc({width / beside:.3f}*var(--jp-content-font-size1,{beside}px))"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gl{kind and " " + kind}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" style="{size};height:auto" role="img" aria-label="{html.escape(alt)}">'
        f"<style>{static('picture.css')}{css}</style>{body}</svg>"
    )


class Picture:
    """A picture for a notebook, with equivalent text.

    `svg` is the drawing, `text` the version for terminals and screen readers, `alt` one sentence. In the notebook it is
    a self-contained image, so it survives nbconvert, GitHub's viewer, and being reopened untrusted. If scripts
    can run, one of them puts the SVG into the page, where it follows the theme.
    """

    def __init__(self, svg, text, alt):
        self.svg, self.text, self.alt = svg, text, alt

    def image(self):
        """Return the picture as a self-contained HTML image."""
        encoded = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="{html.escape(self.alt)}" src="data:image/svg+xml;base64,{encoded}">'

    def html(self):
        return f"{self.image()}<script>{static('inline.js')}</script>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html(), "text/plain": self.text}

    def __str__(self):
        return self.text

    __repr__ = __str__
