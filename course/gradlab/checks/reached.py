"""Find the cells that a function's definition reaches, from their source alone."""

import ast
import dis
import functools
import inspect
import types
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from . import source


def cells_behind(names: Iterable[str], sources: list[str]) -> set[int]:
    """Return the indices in `sources` of the cells that definitions of `names` reach or that mention these names."""
    reached = [definition for name in names for definition in _reached(name, sources)]
    known = {id(definition.statement) for definition in reached}
    given = {name for one in reached if not isinstance(one.statement, _IMPORTS) for name in one.binds}
    behind = set()
    for position, cell in enumerate(sources):
        for one in _definitions(cell):
            if id(one.statement) in known or given & (one.reads_now | one.reads_later):
                behind.add(position)
    return behind


def _reached(name: str, sources: Iterable[str]) -> list["_Definition"]:
    """Return the definitions that a name reaches. `sources` are cells in execution order.

    A later definition replaces an earlier one, even for functions defined before it.
    """
    bound: dict[str, tuple[_Definition, ...]] = {}
    then: dict[_Definition, dict] = {}  # which definitions a statement saw when it ran
    for cell in sources:
        for definition in _definitions(cell):
            then[definition] = {name: bound[name] for name in definition.reads_now if name in bound}
            for name_bound, again in definition.binds.items():
                bound[name_bound] = (*(() if again else bound.get(name_bound, ())), definition)
    todo, seen = [*bound.get(name, ()), *bound.get("*", ())], {}
    while todo:
        definition = todo.pop()
        if definition not in seen:
            seen[definition] = None
            todo += [one for ones in then[definition].values() for one in ones]
            todo += [one for read in definition.reads_later for one in bound.get(read, ())]
    return list(seen)


@dataclass(frozen=True, eq=False)
class _Definition:
    """A statement that binds names in a cell.

    binds: the names, and whether each one's earlier definition is gone. reads_now, reads_later: the global names that
    it reads when it runs, and when a function in it is called.
    """

    statement: ast.stmt
    binds: dict[str, bool]
    reads_now: frozenset[str]
    reads_later: frozenset[str]


def defined(text: str) -> set[str]:
    """Return the names that a cell defines."""
    return {name for definition in _definitions(text) for name in definition.binds} - {"*"}


def _definitions(text: str) -> list[_Definition]:
    """Return a cell's definitions, up to the first statement that does not compile, where IPython stops, too.

    Identical statements are separate definitions, so results are not shared between cells.
    """
    return [_Definition(*parts) for parts in _statements(text)]


@functools.lru_cache(maxsize=512)  # the submissions of a class share most of their cells
def _statements(text: str) -> list[tuple]:
    tree = source.read(text).tree
    statements = []
    for statement in tree.body if tree else []:
        try:
            reads = _globals_read(statement)
        except (SyntaxError, ValueError):
            break
        statements.append((statement, _bound_names(statement), *reads))
    return statements


_RUN_AT_ONCE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_IMPORTS = (ast.Import, ast.ImportFrom)
_NESTING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.Match)


def _bound_names(statement: ast.stmt) -> dict[str, bool]:
    """Return, for each name that a statement binds, whether it certainly does so and replaces the earlier binding.

    Setting a name's attribute or item counts as binding it, and so does a function's `global` declaration.
    """
    binds: dict[str, bool] = {}

    def bind(name, surely):
        binds[name] = binds.get(name, False) or surely

    surely, todo = not isinstance(statement, _NESTING), [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, _SCOPES):
            if not isinstance(node, ast.Lambda):
                bind(node.name, surely)
            for inner in ast.walk(node):
                for name in inner.names if isinstance(inner, ast.Global) else ():
                    bind(name, False)
            continue
        todo += ast.iter_child_nodes(node)
        match node:
            case ast.Name(ctx=ast.Store()):
                bind(node.id, surely)
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                root = node
                while isinstance(root, ast.Attribute | ast.Subscript):
                    root = root.value
                if isinstance(root, ast.Name):
                    bind(root.id, False)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    bind(alias.asname or alias.name.split(".")[0], surely and alias.name != "*")
            case ast.MatchAs() | ast.MatchStar() | ast.ExceptHandler():
                if node.name:
                    bind(node.name, False)
            case ast.MatchMapping(rest=str(name)):
                bind(name, False)
    return binds


def _globals_read(statement: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    """Return the global names that a statement reads when it runs, and those that functions in it read when called.

    Raises SyntaxError if Python cannot compile it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(ast.Module([statement], []), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (RecursionError, MemoryError):  # the depth limit depends on the caller's stack, so report any name
        names = frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
        return names, names
    now, later = set(), set()
    todo = [(code, now)]
    while todo:
        code, names = todo.pop()
        names |= {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        for inner in (const for const in code.co_consts if isinstance(const, types.CodeType)):
            is_function = inner.co_flags & inspect.CO_NEWLOCALS and inner.co_name not in _RUN_AT_ONCE
            todo.append((inner, later if is_function else names))
    return frozenset(now), frozenset(later)
