"""Every chapter as a page, after a run: readers with little or no sight can read it, in both themes."""

import functools
import re
from importlib import resources

import nbformat
import pytest
from accessible import faint_texts, violations
from nbconvert import HTMLExporter

from authoring.chapter import chapter_names, source_path

pytestmark = pytest.mark.browser

SMALL = {"width": 720, "height": 1000}  # as wide as a notebook beside its table of contents in a window of 1000 px
LOOKS = resources.files("gradlab") / "jupyter/labextensions/gradlab-looks/static/looks.css"
SCROLLED = """() => [...document.querySelectorAll('.jp-OutputArea-output, .jp-MarkdownOutput')]
    .filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText.slice(0, 60))"""
BROKEN = """() => [...document.querySelectorAll('.gl-row > :first-child')].flatMap(({firstChild: text}) => {
    const range = document.createRange();
    return [...text.data.matchAll(/\\S+/g)].filter(word => {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return range.getClientRects().length > 1;
    }).map(word => word[0]);
})"""  # words of a stepper that are set in two lines
STEPS = "() => Math.max(0, ...[...document.querySelectorAll('.gl-bar input')].map(slider => +slider.max))"
STEP = "() => document.querySelectorAll('.gl-bar button:last-of-type:enabled').forEach(next => next.click())"


@functools.cache
def exporter(theme: str) -> HTMLExporter:
    return HTMLExporter(template_name="lab", theme=theme, exclude_input=True)


def show(page, name: str, theme: str) -> None:
    """Open a solved chapter in a theme, with the style that the lab extension adds, where nothing can be fetched."""
    body, _ = exporter(theme).from_notebook_node(nbformat.read(source_path(name), as_version=4))
    page.route(re.compile("^https?://"), lambda route: route.abort())
    page.emulate_media(color_scheme=theme)
    page.set_content(body, wait_until="domcontentloaded")
    page.add_style_tag(path=LOOKS)
    page.set_viewport_size(SMALL)


@pytest.mark.parametrize("name", chapter_names())
def test_everybody_can_read_a_chapter(page, name):
    """By axe-core's rules, and without scrolling sideways in a small window; in pictures each text has enough contrast,
    whichever step they are at.

    The prompt beside an output, [1], and the colors of code are JupyterLab's and nbconvert's.
    """
    for theme, where, rules in (("light", "main", []), ("dark", ".jp-OutputArea-output", ["color-contrast"])):
        show(page, name, theme)
        assert violations(page, where, without=[".jp-OutputPrompt", ".highlight"], rules=rules) == []
        assert page.evaluate(SCROLLED) == []
        for _ in range(1 + page.evaluate(STEPS)):
            assert faint_texts(page) == [], theme
            assert page.evaluate(BROKEN) == []
            page.evaluate(STEP)
