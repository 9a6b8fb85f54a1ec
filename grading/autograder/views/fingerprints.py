"""Fingerprint Python code, independently of names, comments and layout, by winnowing as in MOSS.

After S. Schleimer, D. S. Wilkerson and A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting" (SIGMOD
2003): hash each run of GRAM tokens and keep the least hash in each window. Two texts that share GRAM + WINDOW - 1
consecutive tokens therefore share a fingerprint.
"""

import builtins
import io
import keyword
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import zip_longest

GRAM = 12  # tokens
WINDOW = 4  # so a match of fifteen tokens is never missed
MOST_CHARACTERS = 30_000  # of one source
MOST_TOKENS = 5_000

_KEPT = {*keyword.kwlist, *dir(builtins)}
_LAYOUT = {tokenize.NL, tokenize.COMMENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER, tokenize.TYPE_COMMENT}
_STARTS = {tokenize.NEWLINE, tokenize.INDENT}


@dataclass(frozen=True)
class Token:
    """A normalized token and its line, counted from 1."""

    text: str
    line: int


def tokens(source: str, keep: Iterable[str] = (), given: Iterable[str] = ()) -> list[Token]:
    """Return the normalized tokens of a source, up to the first part that is not Python; never raises.

    All strings become equal, and so do all names except attributes, builtins and those in `keep`. Comments, docstrings
    and lines that equal one in `given`, ignoring surrounding blanks, are left out.
    """
    lines, keep, given = source[:MOST_CHARACTERS].split("\n"), {*keep}, {*given}
    free = {number for number, line in enumerate(lines, 1) if line.strip() not in given}
    read = [token for token in _read("\n".join(lines)) if token.type not in _LAYOUT]
    found, before = [], None
    for token, after in zip_longest(read, read[1:]):
        alone = (before is None or before.type in _STARTS) and (after is None or after.type == tokenize.NEWLINE)
        is_docstring = token.type == tokenize.STRING and alone
        if token.type not in _STARTS and not is_docstring and token.start[0] in free:
            attribute = before is not None and before.string == "."
            found.append(Token(_form(token, keep, attribute), token.start[0]))
        before = token
    return found


def _read(source: str) -> Iterator[tokenize.TokenInfo]:
    try:
        for count, token in enumerate(tokenize.generate_tokens(io.StringIO(source).readline)):
            if count == MOST_TOKENS:
                return
            yield token
    except (tokenize.TokenError, SyntaxError, ValueError):  # the rest of it is not Python
        return


def _form(token: tokenize.TokenInfo, keep: set[str], attribute: bool) -> str:
    if token.type == tokenize.STRING:
        return "text"
    if token.type == tokenize.NAME and not attribute and token.string not in _KEPT and token.string not in keep:
        return "name"
    return token.string


def grams(found: list[Token]) -> list[bytes]:
    """Return a hash for each run of GRAM tokens, in order; the hashes are the same in every process."""
    texts = [token.text for token in found]
    runs = ("\n".join(texts[at : at + GRAM]) for at in range(len(texts) - GRAM + 1))
    return [blake2b(run.encode(errors="replace"), digest_size=8).digest() for run in runs]


def winnow(hashes: list[bytes]) -> dict[bytes, list[int]]:
    """Return the fingerprints, the least hash in each window of `hashes`, with the positions of their runs.

    If several hashes in a window are equal, the last one counts.
    """
    kept: dict[bytes, list[int]] = {}
    last = -1
    for start in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = range(start, min(start + WINDOW, len(hashes)))
        least = min(window, key=lambda at: (hashes[at], -at))
        if least != last:
            kept.setdefault(hashes[least], []).append(least)
            last = least
    return kept
