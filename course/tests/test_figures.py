"""The figures of the chapters: text stays inside its box even in a font as wide as Linux's default."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

CHAPTERS = Path(__file__).resolve().parents[1] / "chapters"
FIGURES = sorted(path.relative_to(CHAPTERS) for path in CHAPTERS.glob("*/figures/*.svg"))

WIDEST = """() => {
    const style = document.createElementNS('http://www.w3.org/2000/svg', 'style');
    style.textContent = "text, tspan { font-family: 'DejaVu Sans' !important; }";
    document.documentElement.append(style);
}"""
OVERFLOWING = """() => {
    const room = document.querySelector('svg').getBoundingClientRect();
    const boxes = [...document.querySelectorAll('svg rect')].map(rect => rect.getBoundingClientRect());
    return [...document.querySelectorAll('svg text')].flatMap(text => {
        const place = text.getBoundingClientRect();
        const x = (place.left + place.right) / 2, y = (place.top + place.bottom) / 2;
        const around = boxes.filter(b => b.left < x && x < b.right && b.top < y && y < b.bottom);
        const box = around.sort((a, b) => a.width * a.height - b.width * b.height)[0] ?? room;
        const over = Math.max(box.left - place.left, place.right - box.right);
        return over > 1 ? [`"${text.textContent.trim()}" by ${over.toFixed(0)} px`] : [];
    });
}"""


def test_a_figure_that_names_sections_names_those_of_its_chapter():
    """In 09, each symptom stands with its sections in parentheses."""
    (figure,) = (CHAPTERS / one for one in FIGURES if "the sections" in (CHAPTERS / one).read_text(encoding="utf-8"))
    (notebook,) = figure.parents[1].glob("*.ipynb")
    named = [int(n) for text in re.findall(r"\(([\d, ]+)\)", figure.read_text("utf-8")) for n in text.split(",")]
    assert named == sorted(map(int, re.findall(r'"## (\d+) ·', notebook.read_text("utf-8"))))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda path: f"{path.parts[0]}-{path.stem}")
def test_the_text_of_a_figure_stays_inside_its_box(page, figure):
    page.goto((CHAPTERS / figure).as_uri())
    page.evaluate(WIDEST)
    assert page.locator("text").count() > 0
    assert page.evaluate(OVERFLOWING) == []
