"""The help that a card offers: at once the fold that quotes its message; if it repeats, the hint and the approach."""

import html
import re
from dataclasses import dataclass
from itertools import starmap

from .cells import Chapter
from .difference import RAISED
from .memory import memory
from .messages import WRONG
from .verdict import Verdict

_QUOTING = ("Help: I get ", "Help: the first difference is at ")  # titles that quote what a card says


@dataclass(frozen=True)
class Fold:
    """A fold above a check. cell: the id of its cell; number: its index in the cell; title: its text."""

    cell: str
    number: int
    title: str

    @property
    def says(self) -> str:
        """The text of the card's link to this fold."""
        known = self.title.lower()
        return f"Open the {known}" if known in ("hint", "approach") else "Open the help for this message"


def fitting(name: str, verdict: Verdict, chapter: Chapter, cell: str) -> Fold | None:
    """Return the fold to offer after this verdict, or None.

    name: the check's name; cell: the grade_id of its cell. A first failure of its kind gets only help that quotes it;
    each further one gets the next fold.
    """
    if verdict.feedback.state != WRONG:
        memory.repeated.pop(name, None)
        return None
    before, times = memory.repeated.get(name, (None, 0))
    again = before == (kind := _kind(verdict))
    memory.repeated[name] = kind, times + again
    folds = [fold for fold in starmap(Fold, chapter.help_above(cell)) if fold.cell]  # a link needs a cell's id
    matching = next((fold for fold in folds if quotes(fold.title, _said(verdict))), None)
    steps = [fold for title in ("Hint", "Approach") for fold in folds if fold.title == title]
    return steps[min(times, len(steps) - 1)] if again and steps else matching


def quotes(title: str, said: str) -> bool:
    """Return whether a fold's title quotes this text; "…" in the title matches anything."""
    quoted = re.findall(r"<code>(.*?)</code>", title) if title.startswith(_QUOTING) else []
    patterns = [".*".join(map(re.escape, html.unescape(quote).split("…"))) for quote in quoted]
    return any(re.search(rf"(?<!\w){pattern}", said) for pattern in patterns)


def _kind(verdict: Verdict) -> tuple[str, str]:
    """Return a key that similar failures share: the slip or the leading sentence, and the type of any error raised."""
    feedback, difference = verdict.feedback, verdict.difference
    if difference and difference.kind in RAISED:
        return feedback.name or difference.kind, difference.sides[0].type
    return feedback.name or feedback.lead, ""


def _said(verdict: Verdict) -> str:
    feedback = verdict.feedback
    return " ".join(" ".join([feedback.lead, feedback.at, *feedback.more, feedback.where, feedback.yours]).split())
