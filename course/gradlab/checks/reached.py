"""Find mentions of torch's autograd in the source that a function reaches, without running any of it."""

import ast
import dis
import functools
import inspect
import re
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from . import source

WORDS = {
    "autograd",
    "backward",
    "grad_fn",
    "jacobian",
    "hessian",
    "vjp",
    "jvp",
    "hvp",
    "vhp",
    "jacrev",
    "jacfwd",
    "func",
}

# These functions look up a name by a string; if none is in reach, words in strings do not matter.
LOOK_UPS = {"getattr", "attrgetter", "methodcaller", "vars", "__dict__", "__getattribute__", "eval", "exec", "compile"}
LOOK_UPS |= {"__import__", "import_module", "get_field", "resolve_name", "timeit"}


def find(name: str, sources: Iterable[str]) -> list[str]:
    """Return the lines that mention torch's autograd in the definition of `name`, or in any definition it reaches.

    `sources` are cells in execution order. A later definition replaces an earlier one, even for functions defined
    before it. Names that the learner's own classes define do not count as torch's, and type hints are ignored. A word
    in a string counts only if something in reach can look up a name by a string.
    """
    reached, own = _reached(name, sources)
    statements = [definition.statement for definition in reached]
    found = [line for statement in statements for line in _mentions(statement, own)]
    if any(map(_looks_up, statements)):
        found += [text for statement in statements for text in _strings(statement, own)]
    return list(dict.fromkeys(found))


def cells_behind(names: Iterable[str], sources: list[str]) -> set[int]:
    """Return the indices in `sources` of the cells that definitions of `names` reach or that mention these names."""
    reached = [definition for name in names for definition in _reached(name, sources)[0]]
    known = {id(definition.statement) for definition in reached}
    given = {name for one in reached if not isinstance(one.statement, _IMPORTS) for name in one.binds}
    behind = set()
    for position, cell in enumerate(sources):
        for one in _definitions(cell):
            if id(one.statement) in known or given & (one.reads_now | one.reads_later):
                behind.add(position)
    return behind


def _reached(name: str, sources: Iterable[str]) -> tuple[list["_Definition"], set[str]]:
    """Return the definitions that a name reaches, and the names that the classes of all cells define."""
    bound: dict[str, tuple[_Definition, ...]] = {}
    then: dict[_Definition, dict] = {}  # which definitions a statement saw when it ran
    own: set[str] = set()
    for cell in sources:
        for definition in _definitions(cell):
            then[definition] = {name: bound[name] for name in definition.reads_now if name in bound}
            own |= definition.own
            for name_bound, again in definition.binds.items():
                bound[name_bound] = (*(() if again else bound.get(name_bound, ())), definition)
    todo, seen = [*bound.get(name, ()), *bound.get("*", ())], {}
    while todo:
        definition = todo.pop()
        if definition not in seen:
            seen[definition] = None
            todo += [one for ones in then[definition].values() for one in ones]
            todo += [one for read in definition.reads_later for one in bound.get(read, ())]
    return list(seen), own


@dataclass(frozen=True, eq=False)
class _Definition:
    """A statement that binds names in a cell.

    binds: the names, and whether each one's earlier definition is gone. reads_now, reads_later: the global names that
    it reads when it runs, and when a function in it is called. own: the names that a class in it defines.
    """

    statement: ast.stmt
    binds: dict[str, bool]
    reads_now: frozenset[str]
    reads_later: frozenset[str]
    own: frozenset[str]


def defined(text: str) -> set[str]:
    """Return the names that a cell defines."""
    return {name for definition in _definitions(text) for name in definition.binds} - {"*"}


def _definitions(text: str) -> list[_Definition]:
    """Return a cell's definitions, up to the first statement that does not compile, where IPython stops, too.

    Identical statements are separate definitions, so results are not shared between cells.
    """
    definitions = []
    for statement, reads_now, reads_later, binds, own in _statements(text):
        definitions.append(_Definition(statement, binds, reads_now, reads_later, own))
    return definitions


@functools.lru_cache(maxsize=512)  # the submissions of a class share most of their cells
def _statements(text: str) -> list[tuple]:
    tree = source.read(text).tree
    statements = []
    for statement in tree.body if tree else []:
        try:
            reads = _globals_read(statement)
        except (SyntaxError, ValueError):
            break
        statements.append((statement, *reads, _bound_names(statement), _own_names(statement)))
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


def _own_names(statement: ast.stmt) -> frozenset[str]:
    """Return the names that classes in a statement define: methods, class attributes, and attributes of self."""
    own = set()
    for cls in (node for node in ast.walk(statement) if isinstance(node, ast.ClassDef)):
        for node in ast.walk(cls):
            if isinstance(node, ast.FunctionDef) and node in cls.body:
                own.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                own.add(node.attr)
    return frozenset(own)


def _without_hints(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield a statement's nodes except type hints that are torch names; a hint with a computation counts as code."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop(0)
        yield node
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns") or not _is_name_in_torch(value):
                todo += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST)]


def _is_name_in_torch(node: ast.expr | None) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "torch"


def _mentions(statement: ast.stmt, own: set[str]) -> list[str]:
    lines = []
    for node in _without_hints(statement):
        words: set[str] = set()
        if isinstance(node, ast.Attribute):
            words = {node.attr} - own
        elif isinstance(node, ast.ImportFrom):
            words = {*(node.module or "").split("."), *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            words = {part for alias in node.names for part in alias.name.split(".")}
        elif isinstance(node, ast.MatchClass):
            words = set(node.kwd_attrs) - own
        if words & WORDS:
            lines.append(_text(node))
    return lines


_SEPARATES = re.compile(r"[.:]")


def _is_name(text: str) -> bool:
    """Return whether a string could be a name, such as "backward" or "torch:grad", or code, such as "x.backward()"."""
    return bool({part.partition("(")[0] for part in _SEPARATES.split(text)} & WORDS)


def _strings(statement: ast.stmt, own: set[str]) -> list[str]:
    """Return a statement's strings that could name or use torch's autograd, except docstrings, keys and `own` names."""
    no_names = set()
    for n in ast.walk(statement):
        if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.body and isinstance(n.body[0], ast.Expr):
            no_names.add(id(n.body[0].value))
        if isinstance(n, ast.Dict):  # keys that an exercise may ask for
            no_names.update(map(id, n.keys))
        if isinstance(n, ast.Subscript) and not _looks_up(n.value):
            no_names.add(id(n.slice))
    constants = [n for n in ast.walk(statement) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    names = [node for node in constants if id(node) not in no_names and node.value not in own]
    return [_text(node) for node in names if _is_name(node.value)]


def _looks_up(statement: ast.AST) -> bool:
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)}
    return bool(names & LOOK_UPS)


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


def _text(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except RecursionError:
        return f"line {node.lineno}, which is nested deeply"
