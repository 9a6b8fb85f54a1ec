"""Sphinx's configuration of the site. Formulas become MathML here, so that pages need no script for them."""

import html
import re
from pathlib import Path

from docutils.nodes import SkipNode, paragraph
from math_core import LatexError, LatexToMathML

from authoring.site.places import ADDRESS

project = html_title = "torch.autograd, by hand"
author = "the authors of the course"
copyright = ""
extensions = ["myst_nb"]
exclude_patterns = ["_static"]

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_merge_streams = True
nb_code_prompt_show, nb_code_prompt_hide = "Show the code", "Hide the code"
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
smartquotes = False
highlight_language = "python3"
html_math_renderer = "mathml"

html_theme = "furo"
html_baseurl = f"{ADDRESS}/"
html_css_files = ["live.css", "form.css", "moving.css", "site.css"]
html_js_files = [("guess.js", {"type": "module"}), ("frames.js", {"type": "module"}), ("page.js", {"defer": "defer"})]
html_use_index = False
html_copy_source = html_show_sourcelink = html_show_sphinx = html_show_copyright = False
html_theme_options = {
    "footer_icons": [],
    "light_css_variables": dict.fromkeys(["color-brand-primary", "color-brand-content"], "#1d5fa8"),
    "dark_css_variables": dict.fromkeys(["color-brand-primary", "color-brand-content"], "#79b8ff"),
}
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"

_mathml = LatexToMathML()
_PRIME = re.compile("<msup>(<mi>[^<]*</mi>)<mo>′</mo></msup>")  # raised twice, a prime would hardly be seen


def formula(self, node) -> None:
    """Write a formula as MathML."""
    latex, block = node.astext(), node.tagname == "math_block"
    try:
        mathml = _mathml.convert_with_local_state(latex, displaystyle=block)
        self.body.append(_PRIME.sub(r"<mrow>\1<mo>′</mo></mrow>", mathml))
    except LatexError as error:
        raise ValueError(f"{node.source}: the formula {latex!r} cannot be converted: {error}") from error
    raise SkipNode


def describe(app, pagename, templatename, context, doctree) -> None:
    """Give a page the description and the picture that searches and shared links show, and its captions a level."""
    captions = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = captions.replace('role="heading"', 'role="heading" aria-level="2"')
    words = (context.get("meta") or {}).get("description") or _first_words(doctree)
    tags = {
        "description": words,
        "og:title": html.unescape(re.sub("<[^>]+>", "", context.get("title", project))),
        "og:description": words,
        "og:type": "website",
        "og:site_name": project,
        "og:url": context.get("pageurl", ""),
        "og:image": f"{html_baseurl}_static/share.png",
        "twitter:card": "summary_large_image",
    }
    context["metatags"] = context.get("metatags", "") + "".join(
        f'<meta {"property" if name.startswith("og:") else "name"}="{name}" content="{html.escape(content)}">\n'
        for name, content in tags.items()
    )


def _first_words(doctree) -> str:
    texts = [node.astext().replace("\n", " ") for node in doctree.findall(paragraph)] if doctree else []
    words = next((text for text in texts if len(text) > 40), project)
    return words if len(words) <= 160 else words[:157].rsplit(" ", 1)[0] + " …"


def finish(app, error) -> None:
    """Write the sitemap, and the file that names it to search engines."""
    if error is None:
        places = [f"<url><loc>{html_baseurl}{page}.html</loc></url>" for page in sorted(app.env.found_docs)]
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        Path(app.outdir, "sitemap.xml").write_text("\n".join([head, *places, "</urlset>\n"]), "utf-8")
        Path(app.outdir, "robots.txt").write_text(f"User-agent: *\nSitemap: {html_baseurl}sitemap.xml\n", "utf-8")


def setup(app) -> None:
    """Register what this file adds to Sphinx."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("html-page-context", describe, priority=900)  # after furo has made the contents
    app.connect("build-finished", finish)
