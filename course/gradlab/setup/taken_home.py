"""Bring answers that were written on the course's site, in the file of "Take it home", into the student's copy."""

from __future__ import annotations

import re
from pathlib import Path

from .. import atomic, ipynb
from ..returned import is_answer, same_text
from ..words import N_, _
from . import edition
from .commands import SetupError
from .workspace import RELEASED

GIVE = N_("Give the file that the button 'Take it home' on the course's site saved.")
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
        raise SetupError(
            _(
                "{file} has answers to chapter {number}, which is not in {folder}.",
                file=file,
                number=number,
                folder=workspace,
            )
        )
    path = workspace / name / f"{name}.ipynb"
    notebook = _notebook(path)
    cells, released = _by_exercise(notebook), _by_exercise(_notebook(workspace / RELEASED / name / path.name))
    if strange := sorted(answers.keys() - (cells.keys() & released.keys())):
        raise SetupError(
            _(
                "{file} has an answer to {exercise}, but {notebook} has no cell for it. Nothing was changed.",
                file=file,
                exercise=strange[0],
                notebook=path,
            )
        )
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
                _(
                    "{exercise}: you wrote a different answer in your notebook. It stays; {file} has the other one.",
                    exercise=exercise,
                    file=file,
                )
            )
    if brought:
        atomic.write_bytes(path, edition.to_json(notebook))
    exercises = ", ".join(brought) or _("nothing new")
    return [_("Brought into {chapter}: {exercises}. Run the checks there.", chapter=name, exercises=exercises), *kept]


def _answers(file: Path) -> dict[str, str]:
    """Return the file's answers by exercise, such as "00.1"."""
    try:
        text = file.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else _("it is not text in UTF-8")
        said = _("{file} cannot be read: {why}.", file=file, why=why)
        raise SetupError(f"{said} {_(GIVE)}") from None
    pieces = _MARK.split(text)[1:]
    answers = {exercise: text.strip() for exercise, text in zip(pieces[::2], pieces[1::2], strict=True) if exercise}
    if not answers:
        said = _("{file} has no line such as '{line}', so it has no answers.", file=file, line="# %% Exercise 00.1")
        raise SetupError(f"{said} {_(GIVE)}")
    return answers


def _notebook(path: Path) -> dict:
    try:
        return ipynb.read(path.read_bytes())
    except (OSError, ipynb.Unreadable) as error:
        raise SetupError(_("No answers were brought into {file}: {why}", file=path, why=error)) from None


def _by_exercise(notebook: dict) -> dict[str, dict]:
    """Return a notebook's answer cells by exercise."""
    names = ((ipynb.grade_id(cell) or "", cell) for cell in notebook["cells"] if is_answer(cell))
    return {name.removeprefix("answer-").replace("-", "."): cell for name, cell in names}
