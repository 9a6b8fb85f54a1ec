"""The shortcut that some exercises forbid: letting torch's autograd do what the learner was asked to do by hand.

It is blocked while the learner's callable runs, and looked for in the source of the cells that the callable reaches.
Neither finds a shortcut that is concealed well; the second at least leaves the concealment to be seen.
"""

import ast
import contextlib
import dis
import functools
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch

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
LOOK_UPS |= {"__import__", "import_module"}

_ENTRIES = [
    (torch.Tensor, ["backward"]),
    (torch.autograd, ["backward", "grad"]),
    (torch.autograd.functional, ["jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"]),
    (torch.func, ["grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize"]),
]


class ShortcutError(Exception):
    """torch's autograd was called in an exercise that asks to do without it."""


@contextlib.contextmanager
def blocked() -> Iterator[None]:
    """Make every entry to torch's autograd raise ShortcutError; restored on the way out."""
    saved = [(owner, name, getattr(owner, name)) for owner, names in _ENTRIES for name in names]

    def refuse(label):
        def refused(*args, **kwargs):
            raise ShortcutError(f"{label} was called")

        return refused

    try:
        for owner, name, _ in saved:
            setattr(owner, name, refuse(f"{owner.__module__ if isinstance(owner, type) else owner.__name__}.{name}"))
        yield
    finally:
        for owner, name, entry in saved:
            setattr(owner, name, entry)


def without_autograd(answer: Callable) -> Callable:
    """Wrap `answer` so that torch's autograd is blocked while it runs; of a class, each method of the learner's own."""
    if isinstance(answer, type):
        methods = {name: guarded for name, member in own_members(answer).items() if (guarded := _guarded(member))}
        names = {name: getattr(answer, name) for name in ("__module__", "__qualname__", "__doc__")}
        return type(answer)(answer.__name__, (answer,), names | methods)

    def guarded(*args, **kwargs):
        with blocked():
            return answer(*args, **kwargs)

    return guarded


def own_members(cls: type) -> dict:
    """What a class and its bases from the same module define, as it stands in their dicts."""
    own = [owner for owner in reversed(cls.__mro__) if owner.__module__ == cls.__module__]
    return {name: member for owner in own for name, member in vars(owner).items()}


def _guarded(member):
    """A member of a class with autograd blocked in it, or None where it runs nothing."""
    if isinstance(member, types.FunctionType):
        return without_autograd(member)
    if isinstance(member, classmethod | staticmethod):
        return type(member)(without_autograd(member.__func__))
    if isinstance(member, property):
        return property(*(part and without_autograd(part) for part in (member.fget, member.fset, member.fdel)))
    return None


def find(name: str, sources: Iterable[str]) -> list[str]:
    """Lines that mention torch's autograd in the definition of `name`, or in what that definition reaches.

    `sources` are cells in the order in which they ran; a later definition of a name replaces an earlier one. A word in
    a string counts only where something in reach can look a name up by a string.
    """
    definitions: dict[str, _Definition] = {}
    for cell in sources:
        definitions |= defined(cell)
    found, strings, looks_up = [], [], False
    todo, seen = [name], set()
    while todo:
        name = todo.pop()
        definition = definitions.get(name)
        if definition is None or name in seen:
            continue
        seen.add(name)
        found += _mentions(definition.statement)
        strings += _strings(definition.statement)
        looks_up = looks_up or _looks_up(definition.statement)
        todo += definition.reads
    return list(dict.fromkeys(found + strings if looks_up else found))


@dataclass(frozen=True)
class _Definition:
    """A statement that binds a name in a cell. reads: the names that it takes from other cells."""

    statement: ast.stmt
    reads: list[str]


@functools.lru_cache(maxsize=512)  # a class shares most of its cells
def defined(text: str) -> dict[str, _Definition]:
    """What a cell defines. IPython compiles statement by statement, and one that it cannot compile ends the cell."""
    tree = source.read(text).tree
    definitions = {}
    for statement in tree.body if tree else []:
        try:
            reads = _globals_read(statement)
        except (SyntaxError, ValueError):
            break
        definitions |= dict.fromkeys(_bound_names(statement), _Definition(statement, reads))
    return definitions


def _bound_names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    names = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    aliases = [a for n in ast.walk(statement) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names]
    return names + [alias.asname or alias.name.split(".")[0] for alias in aliases]


def _mentions(statement: ast.stmt) -> list[str]:
    lines = []
    for node in ast.walk(statement):
        words: set[str] = set()
        if isinstance(node, ast.Attribute):
            words = {node.attr}
        elif isinstance(node, ast.ImportFrom):
            words = {*(node.module or "").split("."), *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            words = {part for alias in node.names for part in alias.name.split(".")}
        if words & WORDS:
            lines.append(_text(node))
    return lines


def _strings(statement: ast.stmt) -> list[str]:
    """The strings, but for docstrings, that could be a name such as "backward", or code such as "x.backward()"."""
    docstrings = {
        id(n.body[0].value)
        for n in ast.walk(statement)
        if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.body and isinstance(n.body[0], ast.Expr)
    }
    constants = [n for n in ast.walk(statement) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [
        _text(node)
        for node in constants
        if id(node) not in docstrings and {part.partition("(")[0] for part in node.value.split(".")} & WORDS
    ]


def _looks_up(statement: ast.stmt) -> bool:
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)}
    return bool(names & LOOK_UPS)


def _globals_read(statement: ast.stmt) -> list[str]:
    """The names that a statement reads and does not define; raises SyntaxError if Python cannot compile it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(ast.Module([statement], []), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (RecursionError, MemoryError):  # how deep it may be depends on who asks: any name in it
        return [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    names, todo = [], [code]
    while todo:
        code = todo.pop()
        names += [i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
        todo += [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return names


def _text(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except RecursionError:
        return f"line {node.lineno}, which is nested deeply"
