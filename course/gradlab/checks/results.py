"""Remember which checks were tried and passed, in this process and beyond it, and list the exercises."""

import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from IPython.display import DisplayHandle

from ..notebook import CHAPTER, home
from ..store import Store
from . import record
from .record import SUFFIX, CheckRecord, Exercise

FILE = ".progress.json"
_verdicts = Store(FILE, Literal["passed", "tried"])
_answers = Store(".answers.json", str)
read = _verdicts.read  # returns the remembered states, the most recent last: {"02.1": "passed" or "tried"}
answers = _answers.read  # returns the recorded fingerprints of answers that passed, by check id


@dataclass
class Memory:
    """What is remembered until the kernel ends.

    authored: set while a chapter is built: makes a check's record from its reference cell, or returns None without such
    a cell. stands: by the check's name, whether its last run passed. summaries: where `summary` was last shown; checks
    passed later appear there too. repeated: by check, the kind of its last failure, and how often it was repeated.
    """

    authored: Callable[[Any], CheckRecord | None] | None = None
    stands: dict[str, bool] = field(default_factory=dict)
    summaries: list[DisplayHandle] = field(default_factory=list)
    repeated: dict[str, tuple[tuple[str, str], int]] = field(default_factory=dict)


memory = Memory()


def remember(check_id: str, verdict: str, folder: Path | None = None) -> None:
    """Record how a check's last run ended: "passed" or "tried". A later failure replaces a pass.

    Called by the check. If nothing can be written, nothing is remembered.
    """
    with _verdicts.changed(folder) as known:
        known.pop(check_id, None)
        known[check_id] = verdict


def remember_answer(check_id: str, text: str, folder: Path | None = None) -> None:
    """Record the text of the cell whose answer passed its check; later chapters import only that text."""
    with _answers.changed(folder) as known:
        known[check_id] = fingerprint(text)


def fingerprint(text: str) -> str:
    """Return a hash of a cell's text, ignoring empty lines and comment lines."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def forget(chapter: Path) -> None:
    """Forget the results of all checks of the chapter in this folder."""
    checks = exercises(chapter).get(chapter.name, {})
    for store in (_verdicts, _answers):
        with store.changed(chapter) as known:
            for check_id in checks:
                known.pop(check_id, None)


def exercises(folder: Path | None = None) -> dict[str, dict[str, Exercise]]:
    """Return the checks by chapter and id, from the records in this folder: {"02_external_gradients": {"02.1": …}}.

    Folders without a readable record are left out.
    """
    chapters = {}
    for path in sorted(home(folder).glob(f"*/*{SUFFIX}")):
        chapter = path.name.removesuffix(SUFFIX)
        if chapter == path.parent.name and CHAPTER.fullmatch(chapter):
            with contextlib.suppress(OSError):
                chapters[chapter] = record.exercises(path.read_bytes())
    return {chapter: checks for chapter, checks in chapters.items() if checks}
