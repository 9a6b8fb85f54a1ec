"""The routes on the start page: their cells run without the others, and take as long as the page says."""

import re
from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_notebook

from authoring.build import START_PAGE, STUDENT_EDITION, execute
from authoring.chapter import chapter_names, source_path
from authoring.minutes import core, minutes

PAGE = START_PAGE.read_text(encoding="utf-8")
ROUTES = dict(re.findall(r"^- \*\*(.+?)\*\*(.*?)(?=^- \*\*|^$)", PAGE, re.MULTILINE | re.DOTALL))
STOP = re.compile(r"\[\d\d\]\(chapters/(\w+)/\1\.ipynb\)(?:,?\s+sections? ([\d, and\s–]+))?")
FIRST = -1  # the number of the part before section 1
HEADING = re.compile(r"^## (?:(\d+) ·)?", re.MULTILINE)


def stops(route: str) -> dict[str, list[int]]:
    """Each chapter of a route with the sections that it names, none for all of them."""
    found = {}
    for chapter, named in STOP.findall(ROUTES[route]):
        first_last = re.findall(r"(\d+)(?:–(\d+))?", named)
        found[chapter] = [n for first, last in first_last for n in range(int(first), int(last or first) + 1)]
    return found


def on_route(notebook, sections: list[int]) -> list:
    """The cells of these sections and those before section 1, as the page says; without sections, all cells."""
    section, cells = FIRST, []
    for cell in notebook.cells:
        for number in HEADING.findall(cell.source) if cell.cell_type == "markdown" else ():
            section = int(number or 0)
        if section in [FIRST, *sections] or not sections:
            cells.append(cell)
    return cells


def run(chapter: str, sections: list[int]) -> None:
    """Run the cells on the route in one new kernel, in the student's edition."""
    notebook = nbformat.read(STUDENT_EDITION / chapter / f"{chapter}.ipynb", as_version=4)
    notebook.cells = on_route(notebook, sections)
    execute(notebook, STUDENT_EDITION / chapter)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("route", "chapter"), [(route, chapter) for route in ROUTES for chapter in stops(route)])
def test_a_chapter_runs_with_only_the_cells_on_the_route(route, chapter):
    run(chapter, stops(route)[chapter])


def taken(route: str, exercises: bool = True) -> float:
    """The minutes of a route, without the parts before section 1."""
    spent = 0.0
    for chapter, sections in stops(route).items():
        solved = nbformat.read(source_path(chapter), as_version=4)
        opening = on_route(solved, [FIRST])
        found = minutes(new_notebook(cells=[cell for cell in on_route(solved, sections) if cell not in opening]))
        spent += (found if exercises else replace(found, exercises=0)).spent
    return spent


def test_the_page_says_how_long_hooks_take_without_exercises():
    assert taken("Hooks in 90 minutes", exercises=False) <= 90


def test_the_page_says_how_long_a_route_takes():
    said = {
        route: int(found[1]) for route, text in ROUTES.items() if (found := re.match(r", about (\d+) minutes", text))
    }
    assert len(said) == 4
    assert [route for route, most in said.items() if abs(taken(route) - most) > 5] == []


def test_the_page_says_how_long_all_chapters_and_their_core_paths_take():
    read = {name: nbformat.read(source_path(name), as_version=4) for name in chapter_names()}
    whole = sum(minutes(one).total for one in read.values())
    third = sum(minutes(core(one)).total for name, one in read.items() if name >= "15")
    first = sum(minutes(core(one)).total for name, one in read.items() if name < "15")
    said = (
        r"about (\d+) hours. Their \*core paths\* take about (\d+): (\d+) for parts one and two, .*? and (\d+) for part"
    )
    hours = [round(taken / 60) for taken in (whole, first + third, first, third)]
    assert [*map(int, re.search(said, " ".join(PAGE.split())).groups())] == hours
    assert hours[2] <= 12
