"""Bring answers that were written on the course's site, in the file of "Take it home", into the student's copy."""

from __future__ import annotations

import re
from pathlib import Path

from .. import atomic, ipynb
from ..returned import is_answer, same_text
from . import edition
from .commands import SetupError
from .workspace import RELEASED

GIVE = "Give the file that the button 'Take it home' on the course's site saved."
# The lines of the file above each answer and below the last one, as the site writes them.
_MARK = re.compile(r"^# %% (?:Exercise (\d\d\.\d+)|Run it)[ \t]*$", re.MULTILINE)


def bring_in(file: Path, workspace: Path) -> list[str]:
    """Write the file's answers into the cells of their chapter; return what was done, in sentences.

    An answer that the student wrote in the workspace stays. Raises SetupError, before anything has changed, if a file
    cannot be read or the workspace has no cell for an answer.
    """
    answers = _answers(file)
    number = min(answers)[:2]
    name = next((path.name for path in (workspace / RELEASED).glob(f"{number}_*") if path.is_dir()), None)
    if name is None:
        raise SetupError(f"{file} has answers to chapter {number}, which is not in {workspace}.")
    path = workspace / name / f"{name}.ipynb"
    notebook = _notebook(path)
    cells, released = _by_exercise(notebook), _by_exercise(_notebook(workspace / RELEASED / name / path.name))
    if strange := sorted(answers.keys() - (cells.keys() & released.keys())):
        raise SetupError(f"{file} has an answer to {strange[0]}, but {path} has no cell for it. Nothing was changed.")
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
            kept.append(
                f"{exercise}: you wrote a different answer in your notebook. It stays; {file} has the other one."
            )
    if brought:
        atomic.write_bytes(path, edition.to_json(notebook))
    return [f"Brought into {name}: {', '.join(brought) or 'nothing new'}. Run the checks there.", *kept]


def _answers(file: Path) -> dict[str, str]:
    """Return the file's answers by exercise, such as "00.1"."""
    try:
        text = file.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise SetupError(f"{file} cannot be read: {why}. {GIVE}") from None
    _, *pieces = _MARK.split(text)
    answers = {exercise: text.strip() for exercise, text in zip(pieces[::2], pieces[1::2], strict=True) if exercise}
    if not answers:
        raise SetupError(f"{file} has no line such as '# %% Exercise 00.1', so it has no answers. {GIVE}")
    return answers


def _notebook(path: Path) -> dict:
    try:
        return ipynb.read(path.read_bytes())
    except (OSError, ipynb.Unreadable) as error:
        raise SetupError(f"No answers were brought into {path}: {error}") from None


def _by_exercise(notebook: dict) -> dict[str, dict]:
    """Return a notebook's answer cells by exercise."""
    names = ((ipynb.grade_id(cell) or "", cell) for cell in notebook["cells"] if is_answer(cell))
    return {name.removeprefix("answer-").replace("-", "."): cell for name, cell in names}
