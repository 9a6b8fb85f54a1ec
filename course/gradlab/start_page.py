"""The start page of a workspace: the released page, with what has been done, where to go on, and what is new.

It is made when the course is opened, and again whenever JupyterLab reads it.
"""

import functools
import re
from collections.abc import Callable
from pathlib import Path

from .checks.cells import Chapter
from .checks.record import Exercise, titled
from .checks.results import exercises, read
from .ipynb import grade_id
from .predict.guesses import surprises, told
from .start_map import PAGE, Parts, counted, engine, with_map
from .words import N_, _, ngettext, of_chapter

SURPRISES = "<!-- the predictions that were sure and wrong -->"
HERE = "<!-- what has been done, where to go on, and what is new -->"  # its place in the released page
SECOND_LOOK = N_("Worth another look")
MINUTES = re.compile(r"<!-- minutes of sections: (.*?) -->", re.DOTALL)  # 00 1=15 2=10; 01 1=20 …
SECTION = re.compile(r"## (\d+) · ")
SITTING = 20, 40  # minutes
_BLOCK = re.compile(
    r"<!--[\s\S]*?-->"
    r"|(?<=\| )(?:\[(?P<link>[^\]\n]+)\]\(\S+\)|(?P<cell>[^|\n]+?))(?= \|)"
    r"|^ *(?:#+ |- |\d+\. )?(?P<text>[^\s|<].*(?:\n(?! *(?:[|<\n]|#+ |- |\d+\. )).+)*)",
    re.MULTILINE,
)


def start_page(released: str, workspace: Path, kept: dict[Path, str] | None = None) -> str:
    """Return the start page of this workspace: the released text, with the progress and news filled in.

    kept: the copies that were kept beside new editions, with a sentence about each.
    """
    chapters, verdicts = exercises(workspace), read(workspace)
    parts = engine(workspace, verdicts)
    words = _words(chapters, verdicts, workspace, kept or {}, _minutes(released), parts)
    page = in_workspace(substituted(released, functools.partial(of_chapter, PAGE)))
    page = with_map(page, released, workspace, chapters, verdicts, parts).replace(HERE, words)
    return page.replace(f"{SURPRISES}\n\n", _surprises(workspace))


def in_workspace(released: str) -> str:
    """Return the released page, which is above the chapters' folder, with its links as seen from that folder."""
    return released.replace("](chapters/", "](")


def substituted(page: str, translate: Callable[[str], str]) -> str:
    """Return a Markdown page with each paragraph, heading, list item and table cell that has letters translated.

    translate: gets a block's text as one line; of a cell that is a link, the link's text.
    """

    def put(block: re.Match) -> str:
        text = block["text"] or block["link"] or block["cell"] or ""
        words = " ".join(text.split())
        said = translate(words) if any(map(str.isalpha, words)) else words
        return block[0] if said == words else block[0].replace(text, said, 1)

    return _BLOCK.sub(put, page)


def next_exercise(ids: list[str], verdicts: dict[str, str]) -> str | None:
    """Return the exercise to continue with: the one tried last or, if it passed, the next open one, cyclically."""
    last = next((name for name in reversed(verdicts) if name in ids), None)
    after = ids.index(last) if last else 0
    return next((name for name in ids[after:] + ids[:after] if verdicts.get(name) != "passed"), None)


def _words(chapters: dict, verdicts: dict, workspace: Path, kept: dict, minutes: dict, engine: Parts) -> str:
    homes = {name: chapter for chapter, checks in chapters.items() for name in checks}
    passed = sum(verdicts.get(name) == "passed" for name in homes)
    following = next_exercise(list(homes), verdicts)
    parts = []
    if following is not None:
        chapter = homes[following]
        exercise = chapters[chapter][following]
        said = _sitting(workspace / chapter, chapters[chapter], verdicts, following, minutes.get(chapter[:2], {}))
        name = said[0] if said else _plain(titled(exercise.title))
        place = f"{chapter}/{chapter}.ipynb"
        if not verdicts.keys().isdisjoint(chapters[chapter]):
            place += f"#cell-id={Chapter(workspace / chapter).stated_at(exercise.cell)}"
        message = N_("Next: {link}, about {minutes} minutes") if said else N_("Next: {link}")
        words = _(message, link=f"[{name}]({place})", minutes=said and said[1])
        counts = _("{passed} of {total} exercises passed", passed=passed, total=len(homes))
        parts.append(f"**{words}** · {counts}")
    elif homes:
        parts.append("**" + _("All {count} exercises passed.", count=len(homes)) + "**")
    if parts and (own := counted(engine)):
        parts[0] += f" · {own}"
    if parts and (count := sum(map(len, surprises(workspace).values()))):
        again = ngettext("{count} prediction to look at again", "{count} predictions to look at again", count)
        parts[0] += f" · [{again}](#{_(SECOND_LOOK).replace(' ', '-')})"
    if kept:
        listed = "\n".join(f"- {_link(path)}: {_plain(says)}" for path, says in kept.items())
        parts += ["**" + _("Your earlier copies") + "**", listed, _("To remove a note, delete its copy.")]
    return "\n\n".join(parts)


def _minutes(released: str) -> dict[str, dict[int, int]]:
    """Return the minutes of each chapter's sections, by the chapter's number and the section's, from the page."""
    match = MINUTES.search(released)
    chapters = match[1].split(";") if match else []
    return {text.split()[0]: {int(n): int(spent) for n, spent in re.findall(r"(\d+)=(\d+)", text)} for text in chapters}


def _sitting(folder: Path, checks: dict, verdicts: dict, following: str, minutes: dict) -> tuple[str, int] | None:
    """Return the next sitting, such as ("02 section 3", 25): from the exercise `following` on, 20 to 40 minutes.

    Of a section's minutes, the share of its open exercises counts. None if the sections or minutes are not known.
    """
    sections = _sections(folder, checks)
    start = next((number for number, names in sections.items() if following in names), 0)
    taken, last = 0.0, start
    for number in (number for number in sections if number >= start > 0 and number in minutes):
        of = sections[number]
        share = sum(verdicts.get(name) != "passed" for name in of) / len(of) if of else 1
        if taken and (taken >= SITTING[0] or taken + share * minutes[number] > SITTING[1]):
            break
        taken, last = taken + share * minutes[number], number
    if not taken:
        return None
    message = N_("{chapter} sections {first} to {last}") if last > start else N_("{chapter} section {first}")
    return _(message, chapter=folder.name[:2], first=start, last=last), max(5, 5 * round(taken / 5))


def _sections(folder: Path, checks: dict[str, Exercise]) -> dict[int, list[str]]:
    """Return the checks in each numbered section of a chapter's notebook."""
    sections: dict[int, list[str]] = {}
    for cell in Chapter(folder).cells:
        heading = SECTION.match(cell["source"]) if cell["cell_type"] == "markdown" else None
        if heading:
            sections[int(heading[1])] = []
        elif sections and (mark := grade_id(cell)):
            sections[max(sections)] += [name for name, check in checks.items() if check.cell == mark]
    return sections


def _surprises(workspace: Path) -> str:
    """Return the section that lists surprising predictions, each with a link to its cell; empty if there are none."""
    items = []
    for name, guesses in surprises(workspace).items():
        for of, guess in guesses.items():
            link = f"[{_plain(told(of, guess.question, name))}]({name}/{name}.ipynb#cell-id={of})"
            said = _plain(", ".join(told(of, said, name) for said in guess.said))
            items.append(_("{chapter}: {question} You said {guess}.", chapter=name[:2], question=link, guess=said))
    words = _("You were sure of these predictions, but they were wrong. To clear one, choose *Guess again* below it.")
    listed = "\n".join(f"- {item}" for item in items)
    return f"## {_(SECOND_LOOK)}\n\n{words}\n\n{listed}\n\n" if items else ""


def _link(path: Path) -> str:
    """Return a link to a kept copy: to its notebook, or to the file itself."""
    notebook = path / f"{path.name.partition('.')[0]}.ipynb"
    place = path.name if path.is_file() else f"{path.name}/{notebook.name}" if notebook.is_file() else None
    return f"[{path.name}]({place})" if place else f"`{path.name}`"


def _plain(words: str) -> str:
    """Return the words escaped for Markdown."""
    return re.sub(r"([\\`*_\[\]<>$|])", r"\\\1", words)
