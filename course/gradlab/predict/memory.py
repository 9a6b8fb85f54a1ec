"""Guesses that were made, remembered beside the chapters in a file of their own; the first guess counts.

The file holds, by chapter and by prediction: what was said, whether the learner was sure, what was right.
"""

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import notebook

FILE = ".predictions.json"
_this_session: dict[tuple[str, str], "Guess"] = {}  # what could not be written is known until the kernel ends


@dataclass(frozen=True)
class Guess:
    """A guess that was entered. said, right: one entry for each blank."""

    question: str
    said: list[str]
    sure: bool
    right: list[bool]

    @property
    def all_right(self) -> bool:
        """Whether nothing in it was wrong."""
        return all(self.right)


def recall(chapter: str | None = None) -> dict[str, Guess]:
    """Return the guesses of a chapter, by prediction; what is damaged is passed over."""
    chapter = chapter or notebook.FOLDER.name
    found = {name: guess for (of, name), guess in _this_session.items() if of == chapter}
    return {**found, **_guesses(_read().get(chapter))}


def remember(name: str, guess: Guess) -> None:
    """Note the first guess at a prediction; where nothing can be written it is known until the kernel ends."""
    chapter = notebook.FOLDER.name
    if name in recall(chapter):
        return
    _this_session[chapter, name] = guess
    known = _read()
    of_chapter = known.get(chapter)
    known[chapter] = {**(of_chapter if isinstance(of_chapter, dict) else {}), name: asdict(guess)}
    place = _place()
    try:
        with tempfile.NamedTemporaryFile("w", dir=place.parent, prefix=FILE, delete=False, encoding="utf-8") as sink:
            json.dump(known, sink, indent=1, ensure_ascii=False)
        os.replace(sink.name, place)
    except OSError:
        pass


def _place() -> Path:
    """The file: beside the chapters where the notebook lies in one's folder, else beside the notebook."""
    folder = notebook.FOLDER
    in_chapter = folder.name[:2].isdigit() and folder.name[2:3] == "_"
    return (folder.parent if in_chapter else folder) / FILE


def _read() -> dict:
    try:
        found = json.loads(_place().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _guesses(found: object) -> dict[str, Guess]:
    guesses = {}
    for name, one in found.items() if isinstance(found, dict) else ():
        try:
            guess = Guess(**one)
        except TypeError:
            continue
        if _sound(guess):
            guesses[name] = guess
    return guesses


def _sound(guess: Guess) -> bool:
    lists = isinstance(guess.said, list) and isinstance(guess.right, list) and len(guess.said) == len(guess.right)
    return (
        lists
        and isinstance(guess.question, str)
        and isinstance(guess.sure, bool)
        and all(isinstance(text, str) for text in guess.said)
        and all(isinstance(one, bool) for one in guess.right)
    )
