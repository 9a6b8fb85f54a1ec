"""Compute how long a chapter takes, by the same rule for all chapters, from the solved notebook."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from .cells import tags
from .chapter import chapter_names, source_path

WORDS_A_MINUTE = 130
SECONDS_A_LINE = 5  # of code
MINUTES_A_PREDICTION = 1
RESERVE = 1.25
APPENDIX = "## Appendix (optional) · "  # begins an optional part after the close

_EXERCISE = re.compile(r"importance [●○]+ · (\d+) minutes")
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_EXPLANATION = re.compile(r"<details>\s*<summary>What happened, and why</summary>(.*?)</details>", re.DOTALL)
# A row of the start page's table.
_ROW = re.compile(r"^\|.*\]\(chapters/(\w+)/\1\.ipynb\).*\|( *\d* *)\|[^|]*\|$", re.MULTILINE)
_TIME = re.compile(r"^(\*\*Time\*\*: about )\d+( minutes, )\d+( of them)", re.MULTILINE)  # in a chapter's opening
_LINK_TARGET = re.compile(r"(?<=\])\([^)]*\)")  # not read
_NO_WORDS = re.compile(r"<[^>]*>|\$[^$]*\$|`[^`]*`|!\[[^\]]*\]")  # each counts as one word


@dataclass(frozen=True)
class Minutes:
    """A chapter's minutes by activity; `total` adds a quarter and rounds to a multiple of five."""

    prose: float
    code: float
    predictions: int
    exercises: int

    @property
    def total(self) -> int:
        """The minutes that the chapter's opening and the start page state."""
        return 5 * round(RESERVE * (self.prose + self.code + self.predictions + self.exercises) / 5)


def without_appendices(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """Yield a notebook's cells up to the first appendix."""
    return itertools.takewhile(lambda cell: not cell.source.startswith(APPENDIX), notebook.cells)


def minutes(notebook: NotebookNode) -> Minutes:
    """Compute the minutes of a solved notebook. Appendices, references, folded code and folds in prose do not count."""
    words = lines = predictions = exercises = 0
    for cell in without_appendices(notebook):
        if cell.cell_type == "markdown":
            explained = " ".join(_EXPLANATION.findall(cell.source))
            text = _LINK_TARGET.sub("", _FOLDED.sub(" ", cell.source) + " " + explained)
            words += len(_NO_WORDS.sub(" x ", text).split())
            exercises += sum(map(int, _EXERCISE.findall(cell.source)))
        elif not (
            _folded(cell) or {"reference", "after-exercises"} & set(tags(cell)) or is_grade(cell) or is_solution(cell)
        ):
            lines += sum(bool(line.strip()) for line in cell.source.splitlines())
            predictions += bool(re.search(r"^with predict\.", cell.source, re.MULTILINE))
    return Minutes(words / WORDS_A_MINUTE, lines * SECONDS_A_LINE / 60, predictions * MINUTES_A_PREDICTION, exercises)


def _folded(cell: NotebookNode) -> bool:
    """Return whether a learner sees the cell's code only after a click."""
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


def say_minutes(notebook: NotebookNode) -> None:
    """Write a solved notebook's minutes into its opening, in place."""
    found = minutes(notebook)
    for cell in notebook.cells[:1]:
        cell.source = _TIME.sub(rf"\g<1>{found.total}\g<2>{found.exercises}\g<3>", cell.source)


def with_minutes(page: str) -> str:
    """Return the start page with the minutes of each existing chapter in its table's second-to-last column."""

    def filled(row: re.Match) -> str:
        if row[1] not in names:
            return row[0]
        taken = minutes(nbformat.read(source_path(row[1]), as_version=4)).total
        start, end = row.start(2) - row.start(), row.end(2) - row.start()
        return f"{row[0][:start]} {taken} {row[0][end:]}"

    names = chapter_names()
    return _ROW.sub(filled, page)
