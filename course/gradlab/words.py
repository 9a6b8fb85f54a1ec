"""What a person reads, in the reader's language: gettext, with names for what is filled in.

A message is one whole sentence, or one whole label, in English: `_("{right} of {total} cases are right.", right=3,
total=4)`. Babel collects messages from the calls of `_`, `ngettext` and `N_`. A comment above a call that starts with
"Translators:" reaches translators, too.

An edition or a class that is not in English has a catalogue, `words.mo`, beside its chapters. It also contains the
chapters' own texts. A text that it lacks is shown in English.
"""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import functools
import gettext as python
import io
import re
from pathlib import Path

from . import notebook

FILE = "words.mo"  # beside the chapters, and in a class's folder
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_used: list[bytes] = []  # the catalogue that this process uses instead of the one beside its chapters


def read(folder: Path) -> bytes:
    """Return the catalogue in a folder, b"" if the folder has none: its texts are in English."""
    path = folder / FILE
    return path.read_bytes() if path.exists() else b""


def use(catalogue: bytes) -> None:
    """Use this catalogue in this process from now on, wherever its chapters are; b"" for English."""
    _used[:] = [catalogue]


def language() -> str:
    """Return the code of the language in use, such as "en"."""
    return catalogue().info().get("language", "en")


def catalogue() -> python.NullTranslations:
    """Return the translations in use: the same object as long as they are the same."""
    return _parsed(_used[0] if _used else _beside(notebook.home()))


def _beside(folder: Path) -> bytes:
    try:
        return _as_of(folder, (folder / FILE).stat().st_mtime_ns)
    except OSError:
        return b""


@functools.lru_cache(maxsize=4)
def _as_of(folder: Path, changed_at: int) -> bytes:
    return read(folder)


@functools.lru_cache(maxsize=4)
def _parsed(content: bytes) -> python.NullTranslations:
    try:
        return python.GNUTranslations(io.BytesIO(content)) if content else python.NullTranslations()
    except Exception:  # gettext raises many errors for a damaged file, and no command may fail for lack of words
        return python.NullTranslations()


def _(message: str, /, **values: object) -> str:
    """Return a message in the reader's language, with each `{name}` replaced by its value if there are values."""
    text = catalogue().gettext(message) if message else ""
    return text.format(**values) if values else text


def ngettext(one: str, many: str, count: float, /, **values: object) -> str:
    """Return the message for this count in the reader's language; `{count}` and each `{name}` are replaced.

    A count with a fraction counts as several.
    """
    whole = int(count) if count == int(count) else 2
    return catalogue().ngettext(one, many, whole).format(count=count, **values)


def N_(message: str) -> str:
    """Return the message unchanged: it is translated when `_` shows it. For tables, which are made at import."""
    return message


def of_chapter(where: str, text: str) -> str:
    """Return a chapter's own text in the reader's language. where: its check's, prediction's or cell's id.

    A case's numbers depend on the seed, so a text is also known without them: its pattern has {} in their places.
    """
    translations = catalogue()
    if not text or not translations.info():  # in English
        return text
    known, pattern = translations.pgettext(where, text), pattern_of(text)
    if known != text or pattern == text:
        return known
    known = translations.pgettext(where, pattern)
    return text if known == pattern else known.format(*_NUMBER.findall(text))


def pattern_of(text: str) -> str:
    """Return a text with {} instead of each number, and braces doubled: a text of the catalogue for cases."""
    return _NUMBER.sub("{}", text.replace("{", "{{").replace("}", "}}"))
