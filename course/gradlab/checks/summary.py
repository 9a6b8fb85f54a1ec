"""The summary at the end of a chapter: each exercise's state and points, from the last run of its check."""

from IPython.display import display

from .. import notebook
from ..own_pictures import as_data, kept
from .card import in_notebook, overview
from .cells import Chapter
from .ending import ending
from .memory import memory
from .results import read


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
    rows, owned, got, all_of = [], [], 0.0, 0.0
    pictures = {} if memory.authored else kept()
    for name in names:
        check_id = name.split()[0]
        last = {True: "passed", False: "tried", None: known.get(check_id, "")}[memory.stands.get(name)]
        state = {"passed": "passed", "tried": "not yet"}.get(last, "not tried")
        most = worth.get(check_id, 0)
        got, all_of = got + most * (state == "passed"), all_of + most
        rows.append((name, state, f"{most * (state == 'passed'):g} of {most:g}" if most else ""))
        if state == "passed" and check_id in records:
            image = as_data(pictures[check_id]) if check_id in pictures else ""
            owned.append((records[check_id].answer, records[check_id].owns, image))
    states = [state for _, state, _ in rows]
    total = f"{states.count('passed')} of {len(rows)} checks passed"
    if outside := set() if memory.authored else chapter.extra():
        core = [state for name, state, _ in rows if name.split()[0] not in outside]
        total += f", {core.count('passed')} of {len(core)} on the core path"
    total += f", {got:g} of {all_of:g} points." if all_of else "."
    width = max((len(name) for name in names), default=0) + 4
    lines = [f"{name} {'.' * (width - len(name))} {state:9} {of}".rstrip() for name, state, of in rows]
    table = {"text/html": overview(rows, total, owned), "text/plain": "\n".join([*lines, total])}
    end = "" if memory.authored else ending(chapter, {*states} == {"passed"})
    return [table, *([{"text/markdown": end, "text/plain": end}] if end else [])]
