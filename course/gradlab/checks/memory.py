"""The small memory of what has been tried and passed, and of what there is to try."""

import contextlib
import hashlib
from pathlib import Path
from typing import Literal

from ..notebook import CHAPTER, home
from ..store import Store
from .record import SUFFIX, CheckRecord, Record, RecordError

MEMORY = ".progress.json"
_store = Store(MEMORY, Literal["passed", "tried"])
_answers = Store(".answers.json", str)


def read(folder: Path | None = None) -> dict[str, str]:
    """Return what is remembered, what came last at the end: {"02.1": "passed" or "tried"}."""
    return _store.read(folder)


def remember(check_id: str, verdict: str, folder: Path | None = None) -> None:
    """Note how a check ended when it ran last: "passed" or "tried". What was passed is taken back if it fails later.

    Called by the check. Where nothing can be written nothing is remembered. Raises ValueError for another verdict.
    """
    if verdict not in ("passed", "tried"):
        raise ValueError(f"a check is 'passed' or 'tried', not {verdict!r}")
    with _store.changed(folder) as known:
        known.pop(check_id, None)
        known[check_id] = verdict


def remember_answer(check_id: str, text: str, folder: Path | None = None) -> None:
    """Note the text of the cell whose answer a check has passed: later chapters take no other one."""
    with _answers.changed(folder) as known:
        known[check_id] = fingerprint(text)


def answers(folder: Path | None = None) -> dict[str, str]:
    """Return the fingerprints of the answers that passed, by check id, as far as they were noted."""
    return _answers.read(folder)


def fingerprint(text: str) -> str:
    """What tells one text of a cell from another; empty lines and lines that are comments do not count."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def forget(chapter: Path) -> None:
    """Forget what is remembered of the checks of the chapter in this folder."""
    checks = exercises(chapter).get(chapter.name, {})
    for store in (_store, _answers):
        with store.changed(chapter) as known:
            for check_id in checks:
                known.pop(check_id, None)


def exercises(folder: Path | None = None) -> dict[str, dict[str, CheckRecord]]:
    """Return the checks by chapter and id, from the records of this folder: {"02_external_gradients": {"02.1": …}}.

    A folder without a record that can be read is left out.
    """
    found = {}
    for path in sorted(home(folder).glob(f"*/*{SUFFIX}")):
        chapter = path.name.removesuffix(SUFFIX)
        if chapter == path.parent.name and CHAPTER.fullmatch(chapter):
            with contextlib.suppress(OSError, ValueError, RecordError):
                found[chapter] = Record.from_json(path.read_text(encoding="utf-8"), path.name).checks
    return found
