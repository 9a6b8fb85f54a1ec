"""Mutants: generated variations of right answers. A check that accepts one may test less than it says.

Not every mutant is wrong: some compute the same result in a different way. Mutants that pass are listed for the author,
who adds a case that rejects them or explains in the Reference why they are right (`mutants={"the mutant": "why"}`).
"""

import ast
import contextlib
import copy
import inspect
import signal
import textwrap
import warnings
import weakref
from collections.abc import Callable, Iterator
from types import FrameType

from gradlab.checks.record import CheckRecord
from gradlab.checks.source import compiled
from gradlab.checks.verdict import judge_check

from .reference import AuthoredCheck

LIMIT_S = 5  # for one mutant on all cases; an endless one is rejected
_TWINS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And}
_TWINS |= {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_TWINS |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
BLOCKS = ("body", "orelse", "finalbody")
_WRAPPERS = {"sorted", "reversed", "list", "tuple", "set", "abs", "float", "int"}


def surviving(check: AuthoredCheck, seeds: range) -> tuple[int, list[str]]:
    """Return how many mutants of a check's solution and reference were tested, and which passed on all seeds."""
    left = mutants(check.answer) | mutants(check.reference.answer)
    tried = len(left)
    for seed in seeds:
        record = check.record([seed], slips=False)
        left = {says: mutant for says, mutant in left.items() if _passes(check, record, mutant)}
    return tried, list(left)


def mutants(answer: Callable) -> dict[str, Callable]:
    """Return all variations of a function or class with known source, and a function that repeats its first result.

    Each is named by one line on its change.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(answer)))
    except (OSError, TypeError, SyntaxError):  # one of torch's functions, or a lambda inside a line
        return {}
    if not isinstance(tree.body[0], ast.FunctionDef | ast.ClassDef):
        return {}
    for node in ast.walk(tree):
        _drop_what_is_never_reached(node)
    made = {}
    for says, source in variations(tree):
        with contextlib.suppress(Exception):  # code that cannot be compiled is not a mutant
            made[says] = _made(source, answer)
    if inspect.isfunction(answer) and not inspect.isgeneratorfunction(answer):
        made["works on its first call only"] = _first_only(answer)
    return made


def _drop_what_is_never_reached(node: ast.AST) -> None:
    """Remove code after a block's `return` or `raise`, such as a stub's last line."""
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):
            ends = [at for at, statement in enumerate(block) if isinstance(statement, ast.Return | ast.Raise)]
            del block[ends[0] + 1 if ends else len(block) :]


def variations(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield, for each possible change, its description and the source with only this change."""
    for node in ast.walk(tree):
        before = copy.copy(node)
        for says, changed in _changes(node):
            _become(node, changed)
            source = ast.unparse(tree)
            _become(node, before)
            yield says, source


def _become(node: ast.AST, other: ast.AST) -> None:
    node.__class__ = other.__class__
    node.__dict__ = dict(other.__dict__)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """Return a node like this one, but with these fields."""
    twin = copy.copy(node)
    vars(twin).update(fields)
    return twin


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each possible change at a node: a description, and what the node becomes."""
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and not isinstance(node, ast.Module | ast.ClassDef):
            yield from ((says, _with(node, **{name: statements})) for says, statements in _block_changes(block))
    if isinstance(node, ast.AugAssign):
        assignment = ast.copy_location(ast.Assign([node.target], node.value), node)
        yield f"`=` for the operator in `{_line(node)}`", assignment
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield f"`not` before the condition in `{_line(node)}`", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _TWINS:
        twin = _TWINS[type(node.op)]
        yield f"{twin.__name__} for {type(node.op).__name__} in `{_line(node)}`", _with(node, op=twin())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _TWINS:
        twin = _TWINS[type(node.ops[0])]
        says = f"{twin.__name__} for {type(node.ops[0]).__name__} in `{_line(node)}`"
        yield says, _with(node, ops=[twin(), *node.ops[1:]])
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{other} for {node.value}", _with(node, value=other)
    if isinstance(node, ast.Call):
        yield from _call_changes(node)
    if isinstance(node, ast.Return) and node.value is not None:
        size = ast.Call(ast.Name("abs", ast.Load()), [node.value], [])
        yield f"abs of what `{_line(node)}` gives", _with(node, value=size)


def _block_changes(block: list[ast.stmt]) -> Iterator[tuple[str, list[ast.stmt]]]:
    for at, statement in enumerate(block):
        prose = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if prose or isinstance(statement, ast.Pass | ast.Nonlocal | ast.Global):
            continue
        before, after = block[:at], block[at + 1 :]
        yield f"without `{_line(statement)}`", [*before, ast.Pass(), *after]
        if after and not _only_begins(statement, after[0]):
            yield f"`{_line(after[0])}` before `{_line(statement)}`", [*before, after[0], statement, *after[1:]]


def _only_begins(*statements: ast.stmt) -> bool:
    """Return whether one statement gives a name an empty or constant start value and the other does not mention it."""
    for stmt, other in (statements, statements[::-1]):
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant | ast.List | ast.Dict | ast.Tuple):
            named, mentioned = ({n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in (stmt, other))
            ends = isinstance(other, ast.Return | ast.Raise | ast.Break | ast.Continue)
            if not ends and all(isinstance(t, ast.Name) for t in stmt.targets) and not named & mentioned:
                return True
    return False


def _call_changes(call: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    for at, keyword in enumerate(call.keywords):
        others = call.keywords[:at] + call.keywords[at + 1 :]
        yield f"without `{keyword.arg}=` in `{_line(call)}`", _with(call, keywords=others)
    if isinstance(call.func, ast.Attribute) and not call.args and not call.keywords:
        yield f"without `.{call.func.attr}()` in `{_line(call)}`", call.func.value
    if isinstance(call.func, ast.Name) and call.func.id in _WRAPPERS and len(call.args) == 1:
        yield f"without `{call.func.id}` in `{_line(call)}`", call.args[0]


def _line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:70]


def _made(source: str, answer: Callable) -> Callable:
    """Compile the source of a mutant of `answer`, with the original's globals and closure, and return the mutant."""
    free = inspect.getclosurevars(answer).nonlocals if inspect.isfunction(answer) else {}
    module = inspect.getmodule(answer)
    namespace = {**(getattr(answer, "__globals__", None) or vars(module)), **free}
    exec(compiled(source, f"<a mutant of {answer.__name__}>"), namespace)
    return namespace[answer.__name__]


def _first_only(answer: Callable) -> Callable:
    calls: list = []

    def first_only(*args, **kwargs):
        if not calls:
            calls.append(answer(*args, **kwargs))
        return calls[0]

    return first_only


def _passes(check: AuthoredCheck, record: CheckRecord, mutant: Callable) -> bool:
    with contextlib.suppress(TimeoutError), warnings.catch_warnings(record=True), _limited():
        return judge_check(record, check.observe(mutant, record.cases), check.judge).passed
    return False


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise TimeoutError in a `with` block after LIMIT_S, and keep raising it, because the observer catches errors."""

    def late(number: int, frame: FrameType | None) -> None:
        if frame is None or frame.f_code.co_filename != weakref.__file__:  # Python loses an error in a callback
            raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
