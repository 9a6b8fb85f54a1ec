"""Parse the text of a student's cell into a syntax tree; any text is accepted."""

import ast
import functools
import re
import warnings
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager

MOST_CHARACTERS = 200_000  # in one source
MOST_WORK = 300_000  # characters IPython's transformer reads; it starts again for each magic
TIMED = {"time", "timeit", "capture", "prun"}  # cell magics whose text is Python code


@dataclass(frozen=True)
class Source:
    """A parsed cell: its tree, and whether its text has magics or shell commands, which are calls in the tree.

    The tree of a cell with a timing magic in its first line is that of the lines below. It is None if the text is not
    Python, or too large or too deeply nested to parse here.
    """

    tree: ast.Module | None
    magics: bool = False

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements of the tree, or an empty list without one."""
        return self.tree.body if self.tree else []


@functools.lru_cache(maxsize=512)  # the submissions of a class share most of their cells
def read(text: str) -> Source:
    """Parse the source of a cell; never raises. The tree is cached and shared: do not change it."""
    text = re.sub("\r\n?", "\n", text)
    if len(text) > MOST_CHARACTERS:
        return Source(None)
    try:
        try:
            return Source(_parsed(text))
        except SyntaxError:
            return _without_magics(text)
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):  # IndexError: IPython, for =%\
        return Source(None)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SyntaxWarning, which learners would see
        try:
            return ast.parse(text)
        except SystemError:  # CPython up to 3.12 can raise it if another thread parses at the same time
            return ast.parse(text)


def _without_magics(text: str) -> Source:
    cell_magic = re.match(r"\s*%%(\w+)[^\n]*\n", text)
    if cell_magic and cell_magic[1] not in TIMED:
        return Source(ast.Module([], []), magics=True)
    text = "\n" * cell_magic[0].count("\n") + text[cell_magic.end() :] if cell_magic else text
    if len(text) * (1 + len(re.findall("[%!?]", text))) > MOST_WORK:
        return Source(None)
    return Source(_parsed(TransformerManager().transform_cell(text)), magics=True)
