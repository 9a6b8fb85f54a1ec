"""The end of a chapter: each exercise's state and points, what its reader has learned, and the next chapter's link."""

import re
from pathlib import Path

from IPython.display import display

from .. import notebook
from ..live import in_notebook
from ..notebook import CHAPTER
from ..own_pictures import as_data, kept
from ..words import N_, _, of_chapter
from .card import overview
from .cells import Chapter
from .record import titled
from .results import memory, read

_STATES = {"passed": N_("passed"), "tried": N_("not yet"), "": N_("not tried")}  # by what is remembered of a check
# The first list under a line in bold: "You will be able to", in the chapter's language
_PROMISE = re.compile(r"^\*\*[^*\n]+\*\*$\s*(^- .*?)(?=^\*\*|\Z)", re.MULTILINE | re.DOTALL)


def passed(check_id: str) -> bool:
    """Return whether the last run of a check passed, in any kernel."""
    now = [stood for name, stood in memory.stands.items() if name.split()[0] == check_id]
    return now[-1] if now else read().get(check_id) == "passed"


def summary() -> None:
    """Show each exercise's state and points, from the last run of its check in any session.

    In a notebook, also show what the reader now owns, link the next chapter and, once all checks have passed, list what
    the reader can do now.
    """
    data = _overview(Chapter(notebook.FOLDER))
    if in_notebook():
        memory.summaries[:] = [display(part, raw=True, display_id=True) for part in data]
    else:
        print(data[0]["text/plain"])


def update(chapter: Chapter) -> None:
    """Bring the summary that was shown up to date, if there is one."""
    if memory.summaries:
        for shown, data in zip(memory.summaries, _overview(chapter), strict=False):
            shown.update(data, raw=True)


def _overview(chapter: Chapter) -> list[dict[str, str]]:
    """Return what `summary` displays: the table with its total and, for a student, the end of the chapter."""
    records = {} if memory.authored else chapter.checks
    names = list(memory.stands) if memory.authored else [record.title for record in records.values()]
    known, worth = {} if memory.authored else read(), chapter.points()
    pictures, outside = ({}, set()) if memory.authored else (kept(), chapter.extra())
    rows, owned, core, got, all_of = [], [], [], 0.0, 0.0
    for name in names:
        check_id = name.split()[0]
        last = {True: "passed", False: "tried", None: known.get(check_id, "")}[memory.stands.get(name)]
        most = worth.get(check_id, 0)
        points = most * (last == "passed")
        got, all_of = got + points, all_of + most
        rows.append((titled(name), _STATES[last], _("{got:g} of {most:g}", got=points, most=most) if most else ""))
        core += [] if check_id in outside else [last]
        if last == "passed" and check_id in records:
            image = as_data(pictures[check_id]) if check_id in pictures else ""
            owned.append((records[check_id].answer, of_chapter(check_id, records[check_id].owns), image))
    states = [state for _title, state, _worth in rows]
    total = [_("{passed} of {total} checks passed", passed=states.count("passed"), total=len(rows))]
    if outside:
        # Translators: how many checks have passed
        total.append(_("{count} of {total} on the core path", count=core.count("passed"), total=len(core)))
    if all_of:
        total.append(_("{got:g} of {most:g} points", got=got, most=all_of))
    said = f"{', '.join(total)}."
    width = max((len(title) for title, *_state in rows), default=0) + 4
    lines = [f"{title} {'.' * (width - len(title))} {_(state):9} {of}".rstrip() for title, state, of in rows]
    table = {"text/html": overview(rows, said, owned), "text/plain": "\n".join([*lines, said])}
    end = "" if memory.authored else _ending(chapter, {*states} == {"passed"})
    return [table, *([{"text/markdown": end, "text/plain": end}] if end else [])]


def _ending(chapter: Chapter, done: bool) -> str:
    """Return Markdown with a link to the next chapter; if `done`, what this chapter's opening promised comes first.

    After the last chapter, the link leads to the start page; outside a chapter's folder there is no link.
    """
    folder, texts = chapter.folder, [cell["source"] for cell in chapter.cells[:1]] if done else []
    promised = [match[1].strip() for text in texts if (match := _PROMISE.search(text))]
    # Translators: the heading of a list of what a reader has learned
    you_can = _("You can now")
    parts = [f"**{you_can}**\n\n{skills}" for skills in promised]
    following = sorted(path for path in folder.parent.glob("*") if CHAPTER.fullmatch(path.name) and path > folder)
    start = folder.parent / "README.md"
    if not CHAPTER.fullmatch(folder.name):
        return "\n\n".join(parts)
    if following:
        name = following[0].name
        # Translators: before the title of the next chapter
        next_one = _("Next:")
        parts.append(f"**{next_one}** [{_title(following[0])}](../{name}/{name}.ipynb)")
    elif start.is_file():
        last, back = _("This was the last chapter."), _("Back to the start page")
        parts.append(f"{last} [{back}](../{start.name})")
    return "\n\n".join(parts)


def _title(folder: Path) -> str:
    """Return a chapter's title, from its notebook's heading, else from its folder's name."""
    heading = "".join(cell["source"] for cell in Chapter(folder).cells[:1]).partition("\n")[0]
    return heading.removeprefix("# ") if heading.startswith("# ") else folder.name.replace("_", " ")
