"""Find the names that a cell defines, and the cells that a function's definition reaches, from their source alone."""

import ast
import dis
import functools
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from . import source

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class _Statement(NamedTuple):
    """A statement of a cell: the global names that it binds, and those that it or a function in it reads."""

    binds: frozenset[str]
    reads: frozenset[str]


def cells_behind(names: Iterable[str], sources: list[str]) -> set[int]:
    """Return the indices in `sources` of the cells that define these names or what their definitions use.

    All definitions of a name count, even those that a later cell replaces, and so does setting its attribute or item.
    """
    binding: dict[str, list[tuple[int, _Statement]]] = {}
    for number, text in enumerate(sources):
        for statement in _statements(text):
            for name in statement.binds:
                binding.setdefault(name, []).append((number, statement))
    reached, todo = set(), {*names, "*"}
    while todo:
        statements = binding.pop(todo.pop(), ())
        reached |= {number for number, _ in statements}
        todo.update(*(statement.reads for _, statement in statements))
    return reached


def defined(text: str) -> set[str]:
    """Return the names that a cell defines."""
    return {name for statement in _statements(text) for name in statement.binds} - {"*"}


@functools.lru_cache(maxsize=512)
def definitions(text: str) -> dict[str, str]:
    """Return the statements of a cell that bind each of its names, without comments and layout."""
    texts: dict[str, str] = {}
    for statement in source.read(text).statements:
        try:
            plain = ast.unparse(statement)
        except RecursionError:  # nested too deeply
            plain = text
        for name in set(_bound_names(statement)):
            texts[name] = f"{texts.get(name, '')}{plain}\n"
    return texts


@functools.lru_cache(maxsize=512)  # the submissions of a class share most of their cells
def _statements(text: str) -> tuple[_Statement, ...]:
    """Return a cell's statements, up to the first that does not compile, where IPython stops, too."""
    statements = []
    for statement in source.read(text).statements:
        try:
            reads = _globals_read(statement)
        except (SyntaxError, ValueError):
            break
        statements.append(_Statement(frozenset(_bound_names(statement)), reads))
    return tuple(statements)


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement may bind.

    Setting a name's attribute or item counts as binding it, and so does a function's `global` declaration.
    """
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, _SCOPES):
            if not isinstance(node, ast.Lambda):
                yield node.name
            for inner in ast.walk(node):
                yield from inner.names if isinstance(inner, ast.Global) else ()
            continue
        todo += ast.iter_child_nodes(node)
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                root: ast.expr = node
                while isinstance(root, ast.Attribute | ast.Subscript):
                    root = root.value
                if isinstance(root, ast.Name):
                    yield root.id
            case ast.Import() | ast.ImportFrom():
                yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)


def _globals_read(statement: ast.stmt) -> frozenset[str]:
    """Return the global names that a statement, or a function in it, reads.

    Raises SyntaxError if Python cannot compile it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(ast.Module([statement], []), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (RecursionError, MemoryError):  # the depth limit depends on the caller's stack, so report every name
        return frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
    return frozenset(globals_read(code))


def globals_read(code: types.CodeType, by: Iterable[str] = ("LOAD_GLOBAL", "LOAD_NAME")) -> set[str]:
    """Return the global names that code, or a function in it, reads; by: with which instructions of the bytecode."""
    names: set[str] = set()
    todo = [code]
    while todo:
        code = todo.pop()
        names |= {i.argval for i in dis.get_instructions(code) if i.opname in by}
        todo += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return names
