"""The help that a card offers: at once the fold that quotes its message; if it repeats, the hint and the approach."""

import html
import re

from ..words import N_, _
from .card import help_link
from .cells import Chapter
from .compare import RAISED
from .messages import WRONG
from .results import memory
from .verdict import Verdict

_STEPS = (N_("Open the hint"), N_("Open the approach"))  # the first two folds of every exercise


def fitting(name: str, verdict: Verdict, chapter: Chapter, check: str) -> str:
    """Return an HTML link to the fold to offer after this verdict, or "".

    name: the check's name; check: the grade_id of its cell. A first failure of its kind gets only help that quotes it;
    each further one gets the next fold.
    """
    if verdict.feedback.state != WRONG:
        memory.repeated.pop(name, None)
        return ""
    before, times = memory.repeated.get(name, (None, 0))
    again = before == (kind := _kind(verdict))
    memory.repeated[name] = kind, times + again
    folds = [fold for fold in chapter.help_above(check) if fold[0]]  # a link needs a cell's id
    steps, helps = folds[: len(_STEPS)], folds[len(_STEPS) :]
    if again and steps:
        step = min(times, len(steps) - 1)
        offered, says = steps[step : step + 1], _(_STEPS[step])
    else:
        offered = [fold for fold in helps if quotes(fold[2], verdict)]
        says = _("Open the help for this message")
    return next((help_link(f"{chapter.folder.name}.ipynb#cell-id={cell}", n, says) for cell, n, _title in offered), "")


def quotes(title: str, verdict: Verdict) -> bool:
    """Return whether a fold's title quotes what a verdict says; "…" in the title matches anything.

    One word, which could occur anywhere, must begin a name in the first difference's place (no formula), or your side.
    """
    feedback, difference = verdict.feedback, verdict.difference
    sentences = [feedback.lead, feedback.at, *feedback.more, feedback.where, feedback.yours]
    said = " ".join(" ".join(sentences).split())
    names = [*map(str, difference.place.keys if difference else ()), feedback.yours]
    for quote in re.findall(r"<code>(.*?)</code>", title):
        pattern = ".*".join(map(re.escape, html.unescape(quote).split("…")))
        texts, whole = ([said], rf"(?<!\w){pattern}") if " " in quote else (names, rf"\A{pattern}(?!\w| =)")
        if any(re.search(whole, text) for text in texts):
            return True
    return False


def _kind(verdict: Verdict) -> tuple[str, str]:
    """Return a key that similar failures share: the slip or the leading sentence, and the type of any error raised."""
    feedback, difference = verdict.feedback, verdict.difference
    if difference and difference.kind in RAISED:
        return feedback.name or difference.kind, difference.sides[0].type
    return feedback.name or feedback.lead, ""
