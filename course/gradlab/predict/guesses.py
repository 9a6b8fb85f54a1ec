"""The learner's guesses, stored in a file beside the chapters; the first guess counts until it is forgotten.

For each prediction of a chapter, the file stores the guess, whether the learner was sure, and which parts were right.
"""

from pathlib import Path

import msgspec

from .. import notebook
from ..store import Store, converted
from ..words import N_, _, of_chapter

FILE = ".predictions.json"
TRUTH = (N_("true"), N_("false"))  # the options of `true_false`
_guesses = Store(FILE, dict)


class Guess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A guess that was entered. said, right: one entry per blank."""

    question: str  # in English, like the options in `said`: see `told`
    said: list[str]
    sure: bool
    right: list[bool]

    def __post_init__(self):
        if len(self.said) != len(self.right):
            raise ValueError("a guess needs one entry in right for each in said")

    @property
    def all_right(self) -> bool:
        """Whether every part of the guess was right."""
        return all(self.right)

    @property
    def surprising(self) -> bool:
        """Whether the learner was sure but wrong."""
        return self.sure and not self.all_right


def told(name: str, text: str, chapter: str = "") -> str:
    """Return a text of the prediction `name` of a chapter, by default this one, in the reader's language."""
    return _(text) if text in TRUTH else of_chapter(f"{(chapter or notebook.FOLDER.name)[:2]}/{name}", text)


def recall(chapter: str | None = None) -> dict[str, Guess]:
    """Return the guesses of a chapter, by prediction; damaged entries are skipped."""
    return converted(_guesses.read().get(chapter or notebook.FOLDER.name), Guess)


def surprises(workspace: Path) -> dict[str, dict[str, Guess]]:
    """Return a workspace's wrong guesses of which the learner was sure, by chapter and prediction."""
    surprising: dict[str, dict[str, Guess]] = {}
    for name, guesses in sorted(_guesses.read(workspace).items()):
        in_chapter = {of: guess for of, guess in converted(guesses, Guess).items() if guess.surprising}
        surprising |= {name: in_chapter} if in_chapter else {}
    return surprising


def remember(name: str, guess: Guess) -> None:
    """Record the first guess at a prediction."""
    chapter = notebook.FOLDER.name
    if name in recall(chapter):
        return
    with _guesses.changed() as chapters:
        chapters[chapter] = {name: guess, **chapters.get(chapter, {})}


def forget(chapter: Path, name: str = "") -> None:
    """Forget the guesses at all predictions of the chapter in this folder, or only at the prediction `name`."""
    with _guesses.changed(chapter) as chapters:
        kept = chapters.pop(chapter.name, {})
        if name and kept:
            chapters[chapter.name] = {other: guess for other, guess in kept.items() if other != name}
