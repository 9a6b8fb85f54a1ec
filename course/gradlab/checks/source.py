"""Parse the text of a student's cell into a syntax tree; any text is accepted."""

import ast
import functools
import linecache
import re
import warnings
from dataclasses import dataclass
from types import CodeType

from IPython.core.inputtransformer2 import TransformerManager

MOST_CHARACTERS = 200_000  # in one source
MOST_WORK = 300_000  # characters IPython's transformer reads; it starts again for each magic
TIMED = {"time", "timeit", "capture", "prun"}  # magics whose text is Python code


@dataclass(frozen=True)
class Source:
    """A parsed cell: its tree, and the names of its magics; a shell command is "!".

    In the tree, the code passed to a timing magic replaces the magic, and None or pass any other. It is None if the
    text is not Python, or too large or too deeply nested to parse here.
    """

    tree: ast.Module | None
    magics: tuple[str, ...] = ()

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


def compiled(text: str, name: str) -> CodeType:
    """Compile code so that tracebacks and `inspect` show its lines, under this name."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec")


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
        return Source(ast.Module([], []), (cell_magic[1],))
    text = "\n" * cell_magic[0].count("\n") + text[cell_magic.end() :] if cell_magic else text
    if len(text) * (1 + len(re.findall("[%!?]", text))) > MOST_WORK:
        return Source(None)
    magics = _Magics([cell_magic[1]] if cell_magic else [])
    tree = magics.visit(_parsed(TransformerManager().transform_cell(text)))
    return Source(ast.fix_missing_locations(tree), tuple(magics.names))


class _Magics(ast.NodeTransformer):
    """Replaces what IPython turned magics into; names: the names of those found."""

    def __init__(self, names: list[str]):
        self.names = names

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        code = self._code(node.value)
        return self.generic_visit(node) if code is None else code or ast.Pass()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match self._code(node):
            case None:
                return self.generic_visit(node)
            case [ast.Expr(value=value)]:
                return value
        return ast.Constant(None)

    def _code(self, node: ast.AST) -> list[ast.stmt] | None:
        """Return the statements passed to a timing magic, [] for any other magic, None for any other node."""
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython"), []), method), [*_, ast.Constant(str(text))]):
                first = node.args[0]
                name = first.value if isinstance(first, ast.Constant) and method == "run_line_magic" else "!"
                self.names.append(str(name))
                try:
                    return _parsed(text).body if name in TIMED else []
                except SyntaxError:
                    return []
        return None
