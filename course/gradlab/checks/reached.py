"""What a function reaches by the source of its cells, and where that mentions torch's autograd; runs nothing."""

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

# With one of these a string becomes a name; without them a word in a string is a word.
LOOK_UPS = {"getattr", "attrgetter", "methodcaller", "vars", "__dict__", "__getattribute__", "eval", "exec", "compile"}
LOOK_UPS |= {"__import__", "import_module", "get_field", "resolve_name", "timeit"}


def find(name: str, sources: Iterable[str]) -> list[str]:
    """Lines that mention torch's autograd in the definition of `name`, or in what that definition reaches.

    `sources` are cells in the order in which they ran; a later definition of a name replaces an earlier one, also for
    functions that were defined before it. What the learner's own classes define is not torch's, and type hints are
    nobody's. A word in a string counts only where something in reach can look a name up by a string.
    """
    reached, own = _reached(name, sources)
    statements = [definition.statement for definition in reached]
    found = [line for statement in statements for line in _mentions(statement, own)]
    if any(map(_looks_up, statements)):
        found += [text for statement in statements for text in _strings(statement, own)]
    return list(dict.fromkeys(found))


def cells_behind(names: Iterable[str], sources: list[str]) -> set[int]:
    """The positions of the cells that the definitions of `names` reach, and of those that mention a name from there."""
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
    """The definition of a name, and all that it takes from others; and what the classes of all cells define."""
    bound: dict[str, tuple[_Definition, ...]] = {}
    then: dict[_Definition, dict] = {}  # what names meant to a statement when it ran
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

    binds: the names, and whether what they meant before is gone. reads_now, reads_later: the names that it takes from
    other statements when it runs, and when a function in it is called. own: what a class in it defines.
    """

    statement: ast.stmt
    binds: dict[str, bool]
    reads_now: frozenset[str]
    reads_later: frozenset[str]
    own: frozenset[str]


def defined(text: str) -> set[str]:
    """The names that a cell defines."""
    return {name for definition in _definitions(text) for name in definition.binds} - {"*"}


def _definitions(text: str) -> list[_Definition]:
    """What a cell defines. IPython compiles statement by statement, and one that it cannot compile ends the cell.

    A statement that stands twice is two definitions, so nothing of this is kept from cell to cell.
    """
    definitions = []
    for statement, reads_now, reads_later, binds, own in _statements(text):
        definitions.append(_Definition(statement, binds, reads_now, reads_later, own))
    return definitions


@functools.lru_cache(maxsize=512)  # a class shares most of its cells
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
    """The names that a statement binds, and whether it does so in any case and for good.

    A name whose attribute or item is set counts as bound as well, and so do names that a function calls global.
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
    """What the classes in a statement define: methods, names in their bodies, attributes of self."""
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
    """All parts of a statement but for type hints that are a name in torch: one that computes is code as any other."""
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
    """Tell a string that could be a name such as "backward" or "torch:grad", or code such as "x.backward()"."""
    return bool({part.partition("(")[0] for part in _SEPARATES.split(text)} & WORDS)


def _strings(statement: ast.stmt, own: set[str]) -> list[str]:
    """The strings, but for docstrings, keys and own names, that could be a name or code of torch's autograd."""
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
    """The names that a statement reads and does not define: when it runs, and when a function in it is called.

    Raises SyntaxError if Python cannot compile it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(ast.Module([statement], []), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (RecursionError, MemoryError):  # how deep it may be depends on who asks: any name in it
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
