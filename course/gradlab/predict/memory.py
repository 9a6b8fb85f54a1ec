"""Guesses that were made, remembered beside the chapters in a file of their own; the first counts, until forgotten.

The file holds, by chapter and by prediction: what was said, whether the learner was sure, what was right.
"""

from pathlib import Path

import msgspec

from .. import notebook
from ..store import Store, converted

FILE = ".predictions.json"
_this_session: dict[tuple[str, str], "Guess"] = {}  # what could not be written is known until the kernel ends
_store = Store(FILE, dict)


class Guess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A guess that was entered. said, right: one entry for each blank."""

    question: str
    said: list[str]
    sure: bool
    right: list[bool]

    def __post_init__(self):
        if len(self.said) != len(self.right):
            raise ValueError("each thing that was said is right or wrong")

    @property
    def all_right(self) -> bool:
        """Whether nothing in it was wrong."""
        return all(self.right)


def recall(chapter: str | None = None) -> dict[str, Guess]:
    """Return the guesses of a chapter, by prediction; what is damaged is passed over."""
    chapter = chapter or notebook.FOLDER.name
    found = {name: guess for (of, name), guess in _this_session.items() if of == chapter}
    return {**found, **converted(_store.read().get(chapter), Guess)}


def remember(name: str, guess: Guess) -> None:
    """Note the first guess at a prediction; where nothing can be written it is known until the kernel ends."""
    chapter = notebook.FOLDER.name
    if name in recall(chapter):
        return
    _this_session[chapter, name] = guess
    with _store.changed() as chapters:
        chapters[chapter] = {name: guess, **chapters.get(chapter, {})}


def forget(chapter: Path, name: str = "") -> None:
    """Forget the guesses at the predictions of the chapter in this folder, or at the one of this name."""
    for of, guessed in list(_this_session):
        if of == chapter.name and name in ("", guessed):
            del _this_session[of, guessed]
    with _store.changed(chapter) as chapters:
        kept = chapters.pop(chapter.name, {})
        if name and kept:
            chapters[chapter.name] = {other: guess for other, guess in kept.items() if other != name}
