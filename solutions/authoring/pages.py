"""Generate the pages beside the chapters: the glossary, a cheat sheet of their tables, and an index of errors."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from .chapter import chapter_names, solved
from .places import ROOT, SOURCES

PAGES = ROOT / "course/chapters/pages"
WRITTEN = ("glossary.md", "from_the_notes.md")  # beside the solved chapters, whose links lead there, too

# The tables on the cheat sheet: the chapter, the cell with the table, the title above it.
TABLES = [
    ("01_graph", "s2-explain", "What does every tensor carry?"),
    ("03_accumulation", "s8", "When is `retain_graph=True` the right answer?"),
    ("05_freezing", "s6", "What stops a gradient?"),
    ("07_module_hooks", "s5-none-explain", "Which hooks does a module have?"),
    ("15_clinic", "triage", "Which question comes first?"),
    ("16_more_than_one_gradient", "s8", "What does `torch.func` offer?"),
    ("17_in_the_wild", "s6", "What does an operator's label say?"),
]

ERRORS = Path(__file__).with_name("errors.md")
_ENTRY = re.compile(r"^## (.*?)\n(.*?)\n```python\n(.*?)\n```\n(.*?)\n((?:- [^\n]*\n)*)", re.MULTILINE | re.DOTALL)
_EXPLAINED = re.compile(r"^- (\w+), ([\w-]+): (.*)$", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\|$\n?)+", re.MULTILINE)
_HELP = re.compile(r"<details><summary>Help: (.*?)</summary>(.*?)</details>", re.DOTALL)
EXERCISE = re.compile(r"^### Exercise (\S+)", re.MULTILINE)
_MESSAGE = re.compile(r"<code>([^<]*\b\w*(?:Error|Warning)\b[^<]*)</code>")


class Entry(NamedTuple):
    """What `errors.md` says about a message. explained: chapter and cell of each lesson that shows it, and the fix."""

    message: str
    means: str
    program: str
    look: str
    explained: list[tuple[str, str, str]]


class Cure(NamedTuple):
    """The fix for a message, and the place that explains it: an exercise or section, in words."""

    place: str
    link: str
    says: str


def made() -> dict[str, str]:
    """Return the generated pages by file name."""
    return written() | {"cheat_sheet.md": cheat_sheet(), "errors.md": error_index()}


def written() -> dict[str, str]:
    """Return the pages that nothing generates, by file name."""
    return {name: (SOURCES / "pages" / name).read_text(encoding="utf-8") for name in WRITTEN}


def cheat_sheet() -> str:
    """Return the page of tables that chapters build up, each with a link to its explanation."""
    parts = ["# Cheat sheet", "The tables of the chapters on one page. Each links to where it is explained."]
    for chapter, cell, title in TABLES:
        notebook = solved(chapter)
        table = next(_TABLE.finditer(_cell(notebook, cell).source))[0].strip()
        parts += [f"## {title}", table, f"[{_section(notebook, chapter, cell)}]({_link(chapter, cell)})"]
    return "\n\n".join(parts) + "\n"


def entries() -> dict[str, Entry]:
    """Return the entries of `errors.md` by message."""
    rows = _ENTRY.findall(ERRORS.read_text(encoding="utf-8"))
    return {
        message: Entry(message, means, program, look, _EXPLAINED.findall(lessons))
        for message, means, program, look, lessons in rows
    }


def cures() -> dict[str, list[Cure]]:
    """Return the errors and warnings that the chapters explain, in alphabetical order, each with its cures."""
    cures: dict[str, list[Cure]] = {}
    for message, entry in entries().items():
        for chapter, cell, says in entry.explained:
            place = _section(solved(chapter), chapter, cell)
            cures.setdefault(message, []).append(Cure(place, _link(chapter, cell), says))
    for chapter in chapter_names():
        for message, cure in _from_help(solved(chapter), chapter):
            known = next((text for text in cures if message.startswith(text) or text.startswith(message)), message)
            cures.setdefault(known, []).append(cure)
    return dict(sorted(cures.items()))


def error_index() -> str:
    """Return the page of errors and warnings that the chapters explain."""
    rows = []
    for message, fixes in cures().items():
        rows.append([f"`{message}`", "<br>".join(f"[{cure.place}]({cure.link}): {cure.says}" for cure in fixes)])
    head = [
        "# Errors and warnings",
        "What each message means here and how to fix it, in alphabetical order. "
        "An exercise's number leads to its help; a chapter's section shows the error. If there is no message, or it "
        "doesn't say which line is at fault, begin with the "
        "[clinic](../15_clinic/15_clinic.ipynb#cell-id=triage), which leads from a symptom to a question and a tool.",
        "\n".join(["| message | where, and what to do |", "|---|---|", *map(_row, rows)]),
    ]
    return "\n\n".join(head) + "\n"


def _row(columns: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in columns)} |"


def _from_help(notebook: NotebookNode, chapter: str) -> Iterator[tuple[str, Cure]]:
    """Yield each message that a Help fold quotes, with the fold's advice."""
    exercise = ""
    for cell in notebook.cells:
        if heading := EXERCISE.search(cell.source):
            exercise = heading[1]
        for title, says in _HELP.findall(cell.source) if cell.cell_type == "markdown" else ():
            for message in _MESSAGE.findall(title):
                cure = Cure(exercise, _link(chapter, cell.id), " ".join(says.split()))
                yield html.unescape(message), cure


def _cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == name)


def _section(notebook: NotebookNode, chapter: str, name: str) -> str:
    """Return the chapter and section of a cell in words, from the last heading in or above the cell."""
    position = notebook.cells.index(_cell(notebook, name))
    above = "\n".join(cell.source for cell in notebook.cells[: position + 1] if cell.cell_type == "markdown")
    number = re.findall(r"^## (?:(\d+) ·)?", above, re.MULTILINE)[-1]
    return f"chapter {chapter[:2]}" + f", section {number}" * bool(number)


def _link(chapter: str, cell: str) -> str:
    return f"../{chapter}/{chapter}.ipynb#cell-id={cell}"
