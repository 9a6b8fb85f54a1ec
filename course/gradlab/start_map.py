"""The start page's map: each chapter with the learner's own picture, and the engine that grows in part two.

It is HTML without scripts, which JupyterLab shows in a Markdown page; gradlab-looks gives it its look, and without it
the map is a list.
"""

import html
import itertools
import re
from pathlib import Path

from .checks.cells import Chapter
from .checks.record import Exercise
from .engine import ANSWER, check_of, functions, parts_of
from .own_pictures import MILESTONE, kept
from .words import _, ngettext, of_chapter

_TABLE = re.compile(r"^(\| *\|.*)\n\|[-| ]+\n((?:\|.*\n)+)", re.MULTILINE)  # its first column has no name
_LINK = re.compile(r"\[(.*?)\]\((\d\d_\w+)/[^)]*\)")
PAGE = "README"  # where the start page's own texts are in a catalogue
ABILITY = "afterwards you can"  # a column of the table
Parts = dict[str, dict[str, bool]]  # by chapter: the engine's functions, and whether the check of each has passed
OWN_BRICK = '<code class="gl-own">{} ✓</code>'
_DONE = {"passed": "●", "tried": "◐"}


def with_map(page: str, english: str, workspace: Path, chapters: dict, verdicts: dict[str, str], parts: Parts) -> str:
    """Return the page with its table of chapters as a map; rows without a chapter's number begin a part.

    english: the page as released, whose table names the columns.
    """
    pictures = {name: path.relative_to(workspace).as_posix() for name, path in kept(workspace).items()}

    def mapped(table: re.Match) -> str:
        names, columns = _cells(_TABLE.findall(english)[0][0])[2:], _cells(table[1])[2:]
        titles = {link[2]: link[1] for link in _LINK.finditer(table[2])}
        blocks = []
        for row in table[2].splitlines():
            number, title, *rest = _cells(row)
            name = ""
            if link := _LINK.search(row):  # its text may contain a bar
                title, name, rest = link[1], link[2], _cells(row[link.end() :])
            if not number:
                blocks.append(f"\n### {' '.join(cell.replace('**', '') for cell in _cells(row) if '**' in cell)}\n")
                continue
            if parts and name == next(iter(parts)):
                blocks.append(_wall(parts, titles, pictures))
            own = [path for exercise, path in pictures.items() if exercise in chapters.get(name, {})]
            said = dict(zip(names, rest, strict=False))
            lines = [_done(chapters.get(name, {}), verdicts), _inline(said.get(ABILITY, ""))]
            facts = [
                f"{said[of]} {column}" if of.endswith("minutes") else f"{column} {said[of]}"
                for of, column in zip(names, columns, strict=True)
                if said.get(of) and of not in ("passed", ABILITY)
            ]
            blocks.append(_item(number, title, name, lines, facts, own[-1:]))
        groups = itertools.groupby(blocks, lambda block: block.startswith("<li>"))
        joined = ((items, "\n".join(each)) for items, each in groups)
        return "\n".join(f'<ul class="gl-map">\n{text}\n</ul>' if items else text for items, text in joined)

    return _TABLE.sub(mapped, page, count=1)


def _cells(row: str) -> list[str]:
    """Return a row's cells after its first bar; a text before that bar is not one of them."""
    return [cell.strip() for cell in row.strip().removesuffix("|").split("|")[1:]]


def engine(workspace: Path, verdicts: dict[str, str]) -> Parts:
    """Return the engine of this workspace."""
    chapters = {}
    for folder in sorted(workspace.glob("[0-9][0-9]_*")):
        answers = {cell: text for cell, text in parts_of(Chapter(folder).code).items() if ANSWER.fullmatch(cell)}
        chapters[folder.name] = {
            name: verdicts.get(check_of(cell)) == "passed" for cell, text in answers.items() for name in functions(text)
        }
    return {name: parts for name, parts in chapters.items() if parts}


def counted(parts: Parts) -> str:
    """Return in words how much of the engine is the learner's, "" if there is no engine here."""
    mine = [own for of in parts.values() for own in of.values()]
    if not mine:
        return ""
    return ngettext(
        "{count} of {total} functions of the engine is yours",
        "{count} of {total} functions of the engine are yours",
        sum(mine),
        total=len(mine),
    )


def _item(number: str, title: str, name: str, lines: list[str], facts: list[str], pictures: list[str]) -> str:
    """Return a chapter's card. lines: HTML. facts: what other columns of its row say. pictures: one at most."""
    images = [f'<img src="{url}" alt="" width="240">' for url in pictures] or ['<div class="gl-no-picture"></div>']
    head = f"{''.join(images)}<div><b>{number}</b> {_inline(title)}</div>"
    linked = f'<a href="{name}/{name}.ipynb">{head}</a>' if name else head
    below = "".join(f"<div>{line}</div>" for line in lines if line)
    return f"<li>{linked}{below}<small>{_inline(' · '.join(facts))}</small></li>"


def _done(checks: dict[str, Exercise], verdicts: dict[str, str]) -> str:
    """Return a chapter's progress: one dot per exercise, in order, and the number that passed."""
    dots = "".join(_DONE.get(verdicts.get(name, ""), "○") for name in checks)
    passed = sum(verdicts.get(name) == "passed" for name in checks)
    counts = _("{passed} of {total}", passed=passed, total=len(checks))
    return f"{dots} {counts}".replace(" ", "\u00a0") if checks else ""


def _wall(parts: Parts, titles: dict[str, str], pictures: dict[str, str]) -> str:
    """Return the engine as a wall of bricks, one for each function, above pictures of what it has done.

    titles: of chapters; what is before a colon is shown. pictures: the places of all kept ones, by name.
    """
    rows = []
    for name, of in parts.items():
        bricks = " ".join(OWN_BRICK.format(each) if own else f"<code>{each}</code>" for each, own in of.items())
        rows.append(f"<li><span>{name[:2]} {_inline(titles.get(name, name).partition(':')[0])}</span> {bricks}</li>")
    wall = f'<p>{counted(parts)}</p>\n<ul class="gl-engine">{"".join(rows)}</ul>'
    shown = ""
    for name, at in pictures.items():
        if name.startswith(MILESTONE):
            says = of_chapter(PAGE, name.removeprefix(MILESTONE).replace("-", " "))
            shown += f'<li><img src="{at}" alt="" width="160"><div>{says}</div></li>'
    return wall + (f'\n<ul class="gl-map gl-milestones">{shown}</ul>' if shown else "")


def _inline(words: str) -> str:
    """Return a table cell's Markdown as HTML: code and emphasis."""
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(words, quote=False))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", words)
