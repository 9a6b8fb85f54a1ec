"""Parse the text of a student's cell into a syntax tree; any text is accepted.

Used to find what a cell defines, and in grading to flag unusual submissions.
"""

import ast
import functools
import re
import warnings
from dataclasses import dataclass
from itertools import takewhile

from IPython.core.inputtransformer2 import TRANSFORM_LOOP_LIMIT, TransformerManager, leading_empty_lines

MOST_CHARACTERS = 200_000  # in one source
MOST_WORK = 300_000  # characters IPython's transformer reads; it starts again for each magic
MOST_TIMED = 2_000  # characters of code passed to a magic
TIMED = {"time", "timeit", "capture", "prun"}  # magics whose text is Python code


@dataclass(frozen=True)
class Magic:
    """A magic, a shell command ("!") or a help query ("pinfo"). line: counted from 1."""

    line: int
    name: str


@dataclass(frozen=True)
class Source:
    """A parsed cell.

    tree: with the source's line numbers; a magic is replaced by the code passed to it, or by nothing; None if the text
    is not Python. unread: the text is too large or too deeply nested to parse here, though Python may run it.
    """

    tree: ast.Module | None
    magics: tuple[Magic, ...] = ()
    unread: bool = False


class _TooMuch(Exception):
    """Raised for a source that is too large or has too many magics."""


@functools.lru_cache(maxsize=512)  # the submissions of a class share most of their cells
def read(text: str) -> Source:
    """Parse the source of a cell; never raises. The tree is cached and shared: do not change it."""
    text = re.sub("\r\n?", "\n", text)
    try:
        if len(text) > MOST_CHARACTERS:
            raise _TooMuch
        try:
            return Source(_parsed(text))
        except SyntaxError:
            python, magics = _without_magics(text)
            return Source(_parsed(python) if python is not None else None, tuple(magics))
    except (_TooMuch, RecursionError, MemoryError):
        return Source(None, unread=True)
    except (SyntaxError, ValueError, IndexError):  # the last error is IPython's, for a line such as =%\
        return Source(None)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SyntaxWarning, which learners would see
        return ast.parse(text)


def _without_magics(text: str) -> tuple[str | None, list[Magic]]:
    """Replace IPython's own syntax with Python, line by line; return the text and the magics replaced.

    The text is None if IPython cannot parse it either.
    """
    manager, magics, work = TransformerManager(), [], 0
    lines = (text + "\n").splitlines(keepends=True)
    for transform in manager.cleanup_transforms:
        lines = lines if transform is leading_empty_lines else transform(lines)
    lines = _without_cell_magic(lines, magics)
    for _ in range(TRANSFORM_LOOP_LIMIT):
        work += sum(map(len, lines))
        if work > MOST_WORK:
            raise _TooMuch
        changed, after = manager.do_one_token_transform(lines)
        start = next((n for n, pair in enumerate(zip(lines, after, strict=False)) if pair[0] != pair[1]), None)
        if not changed or start is None:
            return "".join(lines), magics
        end = start + 1 + len(lines) - len(after)
        old = "".join(lines[start:end])
        number = 1 + sum(line.count("\n") for line in lines[:start])
        new = _instead_of(old, after[start], number, magics)
        lines = [*lines[:start], new + "\n" * (old.count("\n") - new.count("\n")), *lines[end:]]
    return None, magics


def _without_cell_magic(lines: list[str], magics: list[Magic]) -> list[str]:
    first = next((n for n, line in enumerate(lines) if not line.isspace()), None)
    if first is None or not lines[first].startswith("%%") or lines[first].rstrip().endswith("?"):
        return lines
    name, _, given = lines[first][2:].strip().partition(" ")
    magics.append(Magic(1 + sum(line.count("\n") for line in lines[:first]), name))
    if name not in TIMED:
        return []  # a cell magic: the rest of the cell is not Python
    return [*lines[:first], f"{_timed(given, magics[-1].line, magics) or ''}\n", *lines[first + 1 :]]


def _instead_of(old: str, new: str, number: int, magics: list[Magic]) -> str:
    """Return a line of Python for `old`, which IPython turns into `new`: the code passed to a magic, or nothing."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    before = "".join(character for character, _ in same)  # an assignment's names and its =
    try:
        call = ast.parse(new[len(before) :].strip(), mode="eval").body
        method, given = call.func.attr, [argument.value for argument in call.args]
    except (SyntaxError, AttributeError):
        return new  # such as /f x, which is f(x)
    name = given[0] if method == "run_line_magic" else "!"
    magics.append(Magic(number, name))
    code = _timed(given[1], number, magics) if name in TIMED else None
    if not before.strip():
        return f"{before}{code or 'pass'}\n"
    if name in ("pinfo", "pinfo2", "psearch"):  # the names before the ? are what it asks about
        return f"{before[: len(before) - len(before.lstrip())]}pass\n"
    return f"{before}({code})\n" if code and _is_expression(code) else f"{before}None\n"


def _timed(text: str, number: int, magics: list[Magic]) -> str | None:
    """Return the code passed to a timing magic in `text`, or None if it is not one line of Python."""
    if len(text) > MOST_TIMED or text.startswith("-"):
        return None
    inner: list[Magic] = []
    try:
        python, inner = _without_magics(text)
        _parsed(python)
    except (SyntaxError, ValueError, TypeError, IndexError, RecursionError, MemoryError):
        return None
    finally:
        magics += [Magic(number, magic.name) for magic in inner]
    code = python.strip()
    return None if "\n" in code else code


def _is_expression(code: str) -> bool:
    try:
        ast.parse(code, mode="eval")
    except SyntaxError:
        return False
    return True
