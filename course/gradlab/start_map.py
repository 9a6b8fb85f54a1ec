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

_TABLE = re.compile(r"^\| *\| *chapter *\|.*\n\|[-| ]+\n((?:\|.*\n)+)", re.MULTILINE)
_LINK = re.compile(r"\[(.*?)\]\((\d\d_\w+)/[^)]*\)")
_BOLD = re.compile(r"\*\*(.*?)\*\*")
ABILITY = "afterwards you can"  # a column of the table
Parts = dict[str, dict[str, bool]]  # by chapter: the engine's functions, and whether the check of each has passed
_DONE = {"passed": "●", "tried": "◐"}


def with_map(
    page: str, workspace: Path, chapters: dict[str, dict[str, Exercise]], verdicts: dict[str, str], parts: Parts
) -> str:
    """Return the page with its table of chapters as a map; rows without a chapter's number begin a part."""
    pictures = {name: path.relative_to(workspace).as_posix() for name, path in kept(workspace).items()}
    milestones = {
        name.removeprefix(MILESTONE).replace("-", " "): path
        for name, path in pictures.items()
        if name.startswith(MILESTONE)
    }

    def mapped(table: re.Match) -> str:
        columns = _cells(table[0].splitlines()[0])
        blocks = []
        for row in table[1].splitlines():
            number, title, *rest = _cells(row)
            name = ""
            if link := _LINK.search(row):  # its text may contain a bar
                title, name, rest = link[1], link[2], _cells(row[link.end() :])
            if not number:
                blocks.append(f"\n### {' '.join(_BOLD.findall(row))}\n")
                continue
            if parts and name == next(iter(parts)):
                blocks.append(_wall(parts, milestones))
            own = [path for exercise, path in pictures.items() if exercise in chapters.get(name, {})]
            said = dict(zip(columns[2:], rest, strict=False))
            blocks.append(_item(number, title, name, _done(chapters.get(name, {}), verdicts), said, own[-1:]))
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
    return f"your engine: {sum(mine)} of {len(mine)} functions" if mine else ""


def _item(number: str, title: str, name: str, done: str, said: dict[str, str], pictures: list[str]) -> str:
    """Return a chapter's card. said: what the other columns of its row say. pictures: one at most."""
    images = [f'<img src="{url}" alt="" width="240">' for url in pictures] or ['<div class="gl-no-picture"></div>']
    head = f"{''.join(images)}<div><b>{number}</b> {_inline(title)}</div>"
    facts = [
        _inline(f"{text} {column}" if column.endswith("minutes") else f"{column} {text}")
        for column, text in said.items()
        if text and column not in ("passed", ABILITY)
    ]
    linked = f'<a href="{name}/{name}.ipynb">{head}</a>' if name else head
    lines = [f"<div>{line}</div>" for line in (done, _inline(said.get(ABILITY, ""))) if line]
    return f"<li>{linked}{''.join(lines)}<small>{' · '.join(facts)}</small></li>"


def _done(checks: dict[str, Exercise], verdicts: dict[str, str]) -> str:
    """Return a chapter's progress: one dot per exercise, in order, and the number that passed."""
    dots = "".join(_DONE.get(verdicts.get(name, ""), "○") for name in checks)
    passed = sum(verdicts.get(name) == "passed" for name in checks)
    return f"{dots}\u00a0{passed}\u00a0of\u00a0{len(checks)}" if checks else ""


def _wall(parts: Parts, milestones: dict[str, str]) -> str:
    """Return the engine as a wall of bricks, one for each function, above pictures of what it has done.

    milestones: the places of these pictures, by what they show.
    """
    rows = []
    for name, of in parts.items():
        bricks = " ".join(_brick(each, own) for each, own in of.items())
        rows.append(f"<li><span>{name[:2]} {name[3:].replace('_', ' ')}</span> {bricks}</li>")
    words = counted(parts)
    wall = f'<p>{words[0].upper()}{words[1:]}</p>\n<ul class="gl-engine">{"".join(rows)}</ul>'
    shown = (f'<li><img src="{at}" alt="" width="160"><div>{says}</div></li>' for says, at in milestones.items())
    return wall + (f'\n<ul class="gl-map gl-milestones">{"".join(shown)}</ul>' if milestones else "")


def _brick(name: str, own: bool) -> str:
    return f'<code class="gl-own">{name} ✓</code>' if own else f"<code>{name}</code>"


def _inline(words: str) -> str:
    """Return a table cell's Markdown as HTML: code and emphasis."""
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(words, quote=False))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", words)
