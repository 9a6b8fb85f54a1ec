"""The start page of a workspace: the released page, with what has been done, where to go on, and what is new.

It is made when the course is opened, and again whenever JupyterLab reads it.
"""

import re
from pathlib import Path

from .checks.cells import stated_at
from .checks.record import Exercise
from .checks.results import exercises, read
from .predict.guesses import surprises

SURPRISES = "<!-- the predictions that were sure and wrong -->"
HERE = "<!-- what has been done, where to go on, and what is new -->"  # its place in the released page
SECOND_LOOK = "Worth another look"
ROW = re.compile(r"^(\| *(?:\d\d) *\| *\[[^]]*\]\((\d\d_\w+)/[^)]*\) *\|)([^|]*)(\|)", re.MULTILINE)


def start_page(released: str, workspace: Path, kept: dict[Path, str] | None = None) -> str:
    """Return the start page of this workspace: the released text, with the progress and news filled in.

    kept: the copies that were kept beside new editions, with a sentence about each.
    """
    chapters, verdicts = exercises(workspace), read(workspace)

    def filled(row: re.Match) -> str:
        return f"{row[1]} {_done(chapters.get(row[2], {}), verdicts)} {row[4]}"

    page = ROW.sub(filled, in_workspace(released)).replace(HERE, _words(chapters, verdicts, workspace, kept or {}))
    return page.replace(f"{SURPRISES}\n\n", _surprises(workspace))


def in_workspace(released: str) -> str:
    """Return the released page, which is above the chapters' folder, with its links as seen from that folder."""
    return released.replace("](chapters/", "](")


def _done(checks: dict[str, Exercise], verdicts: dict[str, str]) -> str:
    """Return a chapter's progress: one dot per exercise, in order, and the number that passed."""
    marks = {"passed": "●", "tried": "◐"}
    dots = "".join(marks.get(verdicts.get(name), "○") for name in checks)
    passed = sum(verdicts.get(name) == "passed" for name in checks)
    return f"{dots}\u00a0{passed}\u00a0of\u00a0{len(checks)}" if checks else ""


def next_exercise(ids: list[str], verdicts: dict[str, str]) -> str | None:
    """Return the exercise to continue with: the one tried last or, if it passed, the next open one, cyclically."""
    last = next((name for name in reversed(verdicts) if name in ids), None)
    after = ids.index(last) if last else 0
    return next((name for name in ids[after:] + ids[:after] if verdicts.get(name) != "passed"), None)


def _words(chapters: dict, verdicts: dict[str, str], workspace: Path, kept: dict[Path, str]) -> str:
    homes = {name: chapter for chapter, checks in chapters.items() for name in checks}
    passed = sum(verdicts.get(name) == "passed" for name in homes)
    following = next_exercise(list(homes), verdicts)
    parts = []
    if following is not None:
        chapter = homes[following]
        check, place = chapters[chapter][following], f"{chapter}/{chapter}.ipynb"
        if verdicts.keys() & chapters[chapter].keys():
            words = f"Continue at [{_plain(check.title)}]({place}#cell-id={stated_at(workspace / chapter, check.cell)})"
        else:
            words = f"{'Continue' if verdicts else 'Begin'} with [chapter {chapter[:2]}]({place})"
        parts.append(f"**{words}** · {passed} of {len(homes)} exercises passed")
    elif homes:
        parts.append(f"**All {len(homes)} exercises passed.**")
    if parts and (count := sum(map(len, surprises(workspace).values()))):
        parts[0] += f" · [{count} prediction{'s' * (count > 1)} to look at again](#{SECOND_LOOK.replace(' ', '-')})"
    if kept:
        notes = [f"- {_plain(says)} Your earlier copy: {_link(path)}" for path, says in kept.items()]
        parts.append("\n".join(["**Your earlier copies**", "", *notes, "", "To remove a note, delete its copy."]))
    return "\n\n".join(parts)


def _surprises(workspace: Path) -> str:
    """Return the section that lists surprising predictions, each with a link to its cell; empty if there are none."""
    items = [
        f"- {name[:2]}: [{_plain(guess.question)}]({name}/{name}.ipynb#cell-id={of}) You said "
        f"{_plain(', '.join(guess.said))}."
        for name, guesses in surprises(workspace).items()
        for of, guess in guesses.items()
    ]
    words = "You were sure of these predictions, but they were wrong. To clear one, choose *Guess again* below it."
    return "\n".join([f"## {SECOND_LOOK}", "", words, "", *items, "", ""]) if items else ""


def _link(path: Path) -> str:
    """Return a link to a kept copy: to its notebook, or to the file itself."""
    notebook = path / f"{path.name.partition('.')[0]}.ipynb"
    place = path.name if path.is_file() else f"{path.name}/{notebook.name}" if notebook.is_file() else None
    return f"[{path.name}]({place})" if place else f"`{path.name}`"


def _plain(words: str) -> str:
    """Return the words escaped for Markdown."""
    return re.sub(r"([\\`*_\[\]<>$|])", r"\\\1", words)
