"""Bring answers that were written on the course's site, in the file of "Take it home", into the student's copy."""

from __future__ import annotations

import re
from pathlib import Path

from .. import atomic, ipynb
from ..returned import is_answer, same_text
from ..words import _
from . import edition
from .commands import SetupError
from .workspace import RELEASED

# The lines of the file above each answer and below the last one, as the site writes them.
_MARK = re.compile(r"^# %% (?:Exercise (\d\d\.\d+)|Run it)[ \t]*$", re.MULTILINE)


def bring_in(file: Path, workspace: Path) -> list[str]:
    """Write the file's answers into the cells of their chapter; return what was done, in sentences.

    An answer that the student wrote in the workspace stays. Raises SetupError, before anything has changed, if a file
    cannot be read or the workspace has no cell for an answer.
    """
    answers = _answers(file)
    chapter = f"{min(answers)[:2]}_*"
    name = next((path.name for path in (workspace / RELEASED).glob(chapter) if path.is_dir()), "")
    if not name:
        raise SetupError(_("This workspace has no chapter {number}, to which the answers belong.", number=chapter[:2]))
    path = Path(name, f"{name}.ipynb")
    try:
        notebook, given = (ipynb.read((folder / path).read_bytes()) for folder in (workspace, workspace / RELEASED))
    except (OSError, ipynb.Unreadable) as error:
        raise SetupError(_("No answers were brought into {file}: {why}", file=path, why=error)) from None
    cells, released = _by_exercise(notebook), _by_exercise(given)
    if strange := sorted(answers.keys() - (cells.keys() & released.keys())):
        raise SetupError(_("Nothing was changed: {file} has no cell for {exercise}.", file=path, exercise=strange[0]))
    brought, kept = [], []
    for exercise, text in answers.items():
        cell, stub, new = cells[exercise], same_text(released[exercise]["source"]), same_text(text)
        old = same_text(cell["source"])
        if new in (old, stub):
            continue
        if old in ("", stub):
            cell.update(source=text, outputs=[], execution_count=None)
            brought.append(exercise)
        else:
            kept.append(_("{exercise}: your notebook has a different answer, which stays.", exercise=exercise))
    if brought:
        atomic.write_bytes(workspace / path, edition.to_json(notebook))
    exercises = ", ".join(brought) or _("nothing new")
    return [_("Brought into {chapter}: {exercises}. Run the checks there.", chapter=name, exercises=exercises), *kept]


def _answers(file: Path) -> dict[str, str]:
    """Return the file's answers by exercise, such as "00.1"."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(_("{file} cannot be read: {why}", file=file, why=error)) from None
    pieces = _MARK.split(text)[1:]
    answers = {exercise: text.strip() for exercise, text in zip(pieces[::2], pieces[1::2], strict=True) if exercise}
    if not answers:
        raise SetupError(_("{file} has no answers, unlike files that the site's 'Take it home' saves.", file=file))
    return answers


def _by_exercise(notebook: dict) -> dict[str, dict]:
    """Return a notebook's answer cells by exercise."""
    names = ((ipynb.grade_id(cell) or "", cell) for cell in notebook["cells"] if is_answer(cell))
    return {name.removeprefix("answer-").replace("-", "."): cell for name, cell in names}
