"""Compute how long a chapter and its core path take, by the same rule for all chapters, from the solved notebook."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.utils import is_grade, is_solution

from gradlab.start_page import MINUTES, SECTION

from .cells import tags
from .chapter import chapter_names, solved

WORDS_A_MINUTE = 130
SECONDS_A_LINE = 5  # of code
MINUTES_A_PREDICTION = 1
RESERVE = 1.25
APPENDIX = "## Appendix (optional) · "  # begins an optional part after the close
CORE = "importance ●●●●●"  # an exercise of the core path
EXTRA = "extra"  # what is outside the core path says so; tags the checks there

_EXERCISE = re.compile(r"importance [●○]+ · (\d+) minutes?")
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_EXPLANATION = re.compile(r"<details>\s*<summary>What happened, and why</summary>(.*?)</details>", re.DOTALL)
_SECTION = re.compile(r"^(## .*)(\n\n\*Extra\*)?", re.MULTILINE)  # the close is one too
_DATA = re.compile(rf"^(\d+ points? · .*importance [●○]+ · \d+ minutes?)( · {EXTRA})?", re.MULTILINE)  # of an exercise
# A row of the start page's table.
_ROW = re.compile(r"^\|.*\]\(chapters/(\w+)/\1\.ipynb\).*\|([ \d]*|[ \d]* of [ \d]*)\|[^|]*\|$", re.MULTILINE)
_TIME = re.compile(r"^(\*\*Time\*\*: about )\d+( minutes, )\d+( of them)", re.MULTILINE)  # in a chapter's opening
_LINK_TARGET = re.compile(r"(?<=\])\([^)]*\)")  # not read
_NO_WORDS = re.compile(r"<[^>]*>|\$[^$]*\$|`[^`]*`|!\[[^\]]*\]")  # each counts as one word


@dataclass(frozen=True)
class Minutes:
    """A chapter's minutes by activity."""

    prose: float
    code: float
    predictions: int
    exercises: int

    @property
    def spent(self) -> float:
        """All minutes, a quarter added."""
        return RESERVE * (self.prose + self.code + self.predictions + self.exercises)

    @property
    def total(self) -> int:
        """The minutes that the chapter's opening and the start page state: a multiple of five."""
        return 5 * round(self.spent / 5)


def without_appendices(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """Yield a notebook's cells up to the first appendix."""
    return itertools.takewhile(lambda cell: not cell.source.startswith(APPENDIX), notebook.cells)


def minutes(notebook: NotebookNode) -> Minutes:
    """Compute the minutes of a solved notebook. Appendices, references, folded code and folds in prose do not count."""
    words = lines = predictions = exercises = 0
    for cell in without_appendices(notebook):
        if cell.cell_type == "markdown":
            explained = " ".join(_EXPLANATION.findall(cell.source))
            shown = _SECTION.sub(r"\1", _DATA.sub(r"\1", cell.source))  # a mark takes no time
            text = _LINK_TARGET.sub("", _FOLDED.sub(" ", shown) + " " + explained)
            words += len(_NO_WORDS.sub(" x ", text).split())
            exercises += sum(map(int, _EXERCISE.findall(cell.source)))
        elif not (
            cell.metadata.get("jupyter", {}).get("source_hidden")  # a learner sees it only after a click
            or {"reference", "after-exercises"} & set(tags(cell))
            or is_grade(cell)
            or is_solution(cell)
        ):
            lines += sum(bool(line.strip()) for line in cell.source.splitlines())
            predictions += bool(re.search(r"^with predict\.", cell.source, re.MULTILINE))
    return Minutes(words / WORDS_A_MINUTE, lines * SECONDS_A_LINE / 60, predictions * MINUTES_A_PREDICTION, exercises)


def sections(notebook: NotebookNode) -> list[list[NotebookNode]]:
    """Return a chapter's cells by section. A section without an exercise is joined to the next, to which it leads."""
    sections: list[list[NotebookNode]] = [[]]
    for cell in without_appendices(notebook):
        opening = len(sections) == 1
        begins = cell.cell_type == "markdown" and _SECTION.search(cell.source)
        if begins and (opening or any(_DATA.search(earlier.source) for earlier in sections[-1])):
            sections.append([])
        sections[-1].append(cell)
    return sections


def is_extra(section: list[NotebookNode]) -> bool:
    """Return whether a section is outside the core path: it has exercises, none of which is of the core path."""
    exercises = [cell.source for cell in section if _DATA.search(cell.source)]
    return bool(exercises) and not any(CORE in exercise for exercise in exercises)


def core(notebook: NotebookNode) -> NotebookNode:
    """Return the core path of a solved notebook: its sections and exercises of the highest importance."""
    taken = [cell for section in sections(notebook) if not is_extra(section) for cell in section]
    return new_notebook(cells=[cell for cell in taken if CORE in cell.source or not _DATA.search(cell.source)])


def mark_extra(notebook: NotebookNode) -> None:
    """Say in each section and exercise outside the core path that it is extra, and tag their checks so, in place."""
    for section in sections(notebook):
        word, outside = "\n\n*Extra*" if is_extra(section) else "", False
        for cell in section:
            if cell.cell_type == "markdown":
                outside = CORE not in cell.source if _DATA.search(cell.source) else outside
                cell.source = _SECTION.sub(rf"\g<1>{word}", cell.source)
                cell.source = _DATA.sub(rf"\g<1>{f' · {EXTRA}' if outside else ''}", cell.source)
            elif is_grade(cell) and outside != (EXTRA in tags(cell)):
                cell.metadata["tags"] = sorted({*tags(cell)} ^ {EXTRA})


def say_minutes(notebook: NotebookNode) -> None:
    """Write into a solved notebook, in place, what is outside its core path, and into its opening its minutes."""
    mark_extra(notebook)
    estimate = minutes(notebook)
    for cell in notebook.cells[:1]:
        cell.source = _TIME.sub(rf"\g<1>{estimate.total}\g<2>{estimate.exercises}\g<3>", cell.source)


def of_sections(notebook: NotebookNode) -> dict[int, int]:
    """Return the minutes of each numbered section, a quarter added; the first has the opening, the last the close."""
    sections: dict[int, list[NotebookNode]] = {}
    opening: list[NotebookNode] = []
    for cell in without_appendices(notebook):
        if heading := SECTION.match(cell.source):
            sections[int(heading[1])] = [] if sections else opening
        (sections[max(sections)] if sections else opening).append(cell)
    return {number: round(minutes(new_notebook(cells=cells)).spent) for number, cells in sections.items()}


def with_minutes(page: str) -> str:
    """Return the start page with the minutes of each existing chapter, in its table, and those of their sections.

    The table's second-to-last column says "65 of 110", the core path first; the sections' minutes are in a comment.
    """

    def filled(row: re.Match) -> str:
        if row[1] not in names:
            return row[0]
        taken = f"{minutes(core(read[row[1]])).total} of {minutes(read[row[1]]).total}"
        start, end = row.start(2) - row.start(), row.end(2) - row.start()
        return f"{row[0][:start]} {taken} {row[0][end:]}"

    names = chapter_names()
    read = {name: solved(name) for name in names}
    taken = {name: " ".join(f"{n}={m}" for n, m in of_sections(notebook).items()) for name, notebook in read.items()}
    line = ";\n".join(f"{name[:2]} {sections}" for name, sections in taken.items())
    return MINUTES.sub(f"<!-- minutes of sections: {line} -->", _ROW.sub(filled, page))
