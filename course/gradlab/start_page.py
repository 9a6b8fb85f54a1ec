"""The start page of a workspace: the released one, with what has been done, where to go on, and what is new."""

import json
import re
from pathlib import Path

from .checks.memory import exercises, read
from .checks.record import CheckRecord

HERE = "<!-- what has been done, where to go on, and what is new -->"  # in the released page: where it stands
ROW = re.compile(r"^(\| *(?:\d\d) *\| *\[[^]]*\]\((\d\d_\w+)/[^)]*\) *\|)([^|]*)(\|)", re.MULTILINE)


def start_page(released: str, workspace: Path, kept: dict[Path, str] | None = None) -> str:
    """Return the page as it is for this workspace.

    kept: the copies that were kept beside new editions, with what is said of them.
    """
    chapters, verdicts = exercises(workspace), read(workspace)

    def filled(row: re.Match) -> str:
        return f"{row[1]} {_done(chapters.get(row[2], {}), verdicts)} {row[4]}"

    return ROW.sub(filled, released).replace(HERE, _words(chapters, verdicts, workspace, kept or {}))


def _done(checks: dict[str, CheckRecord], verdicts: dict[str, str]) -> str:
    """How far a chapter is: a dot for each exercise, in its order, and how many of them passed."""
    marks = {"passed": "●", "tried": "◐"}
    dots = "".join(marks.get(verdicts.get(name), "○") for name in checks)
    passed = sum(verdicts.get(name) == "passed" for name in checks)
    return f"{dots}\u00a0{passed}\u00a0of\u00a0{len(checks)}" if checks else ""


def next_exercise(ids: list[str], verdicts: dict[str, str]) -> str | None:
    """The exercise to go on with: the one tried last, or after one that passed the next that has not, all round."""
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
            words = f"Continue at [{_plain(check.title)}]({place}#cell-id={_cell_of(workspace / place, check)})"
        else:
            words = f"{'Continue' if verdicts else 'Begin'} with [chapter {chapter[:2]}]({place})"
        parts.append(f"**{words}** · {passed} of {len(homes)} exercises passed")
    elif homes:
        parts.append(f"**All {len(homes)} exercises passed.**")
    if kept:
        notes = [f"- {_plain(says)} Your copy as it was: {_link(path)}" for path, says in kept.items()]
        parts.append(
            "\n".join(["**New editions**", "", *notes, "", "A note goes when you delete the copy it is about."])
        )
    return "\n\n".join(parts)


def _cell_of(notebook: Path, check: CheckRecord) -> str:
    """The id of the cell that states an exercise: the last one with a heading before its check."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        place = next(n for n, cell in enumerate(cells) if _grade_id(cell) == check.cell)
        headings = (c for c in reversed(cells[:place]) if c["cell_type"] == "markdown" and _source(c).startswith("#"))
        return next(headings, cells[place])["id"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration):  # damaged in some way
        return check.cell


def _grade_id(cell: dict) -> str | None:
    return cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")


def _source(cell: dict) -> str:
    return "".join(cell["source"])


def _link(path: Path) -> str:
    """A link to a copy that was kept: to its notebook, or to the file that it is."""
    notebook = path / f"{path.name.partition('.')[0]}.ipynb"
    place = path.name if path.is_file() else f"{path.name}/{notebook.name}" if notebook.is_file() else None
    return f"[{path.name}]({place})" if place else f"`{path.name}`"


def _plain(words: str) -> str:
    """Words that Markdown shows as they are."""
    return re.sub(r"([\\`*_\[\]<>$|])", r"\\\1", words)
