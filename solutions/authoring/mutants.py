"""Mutants: generated variations of right answers. A check that accepts one may test less than it says.

Not every mutant is wrong: some compute the same result in a different way. Mutants that pass are listed for the author,
who adds a case that rejects them or explains in the Reference why they are right (`mutants={"the mutant": "why"}`).
"""

import ast
import contextlib
import copy
import functools
import inspect
import linecache
import signal
import textwrap
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradlab.checks.record import CheckRecord
from gradlab.checks.verdict import judge_check

from .reference import AuthoredCheck

LIMIT_S = 5  # for one mutant on all cases; an endless one is rejected
_TWINS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And}
_TWINS |= {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_TWINS |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
BLOCKS = ("body", "orelse", "finalbody")
Change = Callable[[Any], object]  # changes a node
_WRAPPERS = {"sorted", "reversed", "list", "tuple", "set", "abs", "float", "int"}


@dataclass(frozen=True)
class Mutant:
    """One variation of a right answer. says: one line on the change. answer: the changed function or class."""

    says: str
    answer: Callable


def surviving(check: AuthoredCheck, seeds: range) -> tuple[int, list[str]]:
    """Return how many mutants of a check's solution and reference were tested, and which passed on all seeds."""
    made = [mutant for answer in (check.answer, check.reference.answer) for mutant in mutants(answer)]
    left = list({mutant.says: mutant for mutant in made}.values())
    tried = len(left)
    for seed in seeds:
        record = check.record([seed], slips=False)
        left = [mutant for mutant in left if _passes(check, record, mutant)]
    return tried, [mutant.says for mutant in left]


def mutants(answer: Callable) -> Iterator[Mutant]:
    """Yield all variations of a function or class with known source, and a function that repeats its first result."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(answer)))
    except (OSError, TypeError, SyntaxError):  # one of torch's functions, or a lambda inside a line
        return
    if not isinstance(tree.body[0], ast.FunctionDef | ast.ClassDef):
        return
    for node in ast.walk(tree):
        _drop_what_is_never_reached(node)
    for says, changed in variations(tree):
        with contextlib.suppress(Exception):  # code that cannot be compiled is not a mutant
            yield Mutant(says, _made(changed, answer))
    if inspect.isfunction(answer) and not inspect.isgeneratorfunction(answer):
        yield Mutant("works on its first call only", _first_only(answer))


def _drop_what_is_never_reached(node: ast.AST) -> None:
    """Remove code after a block's `return` or `raise`, such as a stub's last line."""
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):
            ends = [at for at, statement in enumerate(block) if isinstance(statement, ast.Return | ast.Raise)]
            del block[ends[0] + 1 if ends else len(block) :]


def variations(tree: ast.Module) -> Iterator[tuple[str, ast.Module]]:
    """Yield, for each possible change, its description and a copy of the tree with only this change."""
    for at, node in enumerate(ast.walk(tree)):
        for says, change in _changes(node):
            changed = copy.deepcopy(tree)
            change(list(ast.walk(changed))[at])
            yield says, ast.fix_missing_locations(changed)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Yield each possible change at a node: a description, and a function that changes a copy of the node."""
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and not isinstance(node, ast.Module | ast.ClassDef):
            yield from _block_changes(name, block)
    if isinstance(node, ast.AugAssign):
        yield (
            f"`=` for the operator in `{_line(node)}`",
            lambda twin: _become(twin, ast.Assign(targets=[twin.target], value=twin.value)),
        )
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield (
            f"`not` before the condition in `{_line(node)}`",
            lambda twin: setattr(twin, "test", ast.UnaryOp(ast.Not(), twin.test)),
        )
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _TWINS:
        other = _TWINS[type(node.op)]
        yield (
            f"{other.__name__} for {type(node.op).__name__} in `{_line(node)}`",
            lambda twin: setattr(twin, "op", other()),
        )
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _TWINS:
        twin_op = _TWINS[type(node.ops[0])]
        yield (
            f"{twin_op.__name__} for {type(node.ops[0]).__name__} in `{_line(node)}`",
            lambda twin: twin.ops.__setitem__(0, twin_op()),
        )
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield f"{node.value + 1} for {node.value}", lambda twin: setattr(twin, "value", twin.value + 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"{not node.value} for {node.value}", lambda twin: setattr(twin, "value", not twin.value)
    if isinstance(node, ast.Call):
        yield from _call_changes(node)
    if isinstance(node, ast.Return) and node.value is not None:
        yield (
            f"abs of what `{_line(node)}` gives",
            lambda twin: setattr(twin, "value", ast.Call(ast.Name("abs", ast.Load()), [twin.value], [])),
        )


def _block_changes(name: str, block: list[ast.stmt]) -> Iterator[tuple[str, Change]]:
    for at, statement in enumerate(block):
        prose = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if prose or isinstance(statement, ast.Pass | ast.Nonlocal | ast.Global):
            continue
        yield f"without `{_line(statement)}`", functools.partial(_pass, name, at)
        if at + 1 < len(block) and not _only_begins(statement, block[at + 1]):
            says = f"`{_line(block[at + 1])}` before `{_line(statement)}`"
            yield says, functools.partial(_swap, name, at)


def _only_begins(*statements: ast.stmt) -> bool:
    """Return whether one statement gives a name an empty or constant start value and the other does not mention it."""
    for stmt, other in (statements, statements[::-1]):
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant | ast.List | ast.Dict | ast.Tuple):
            named, mentioned = ({n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in (stmt, other))
            ends = isinstance(other, ast.Return | ast.Raise | ast.Break | ast.Continue)
            if not ends and all(isinstance(t, ast.Name) for t in stmt.targets) and not named & mentioned:
                return True
    return False


def _call_changes(node: ast.Call) -> Iterator[tuple[str, Change]]:
    for at, keyword in enumerate(node.keywords):
        yield f"without `{keyword.arg}=` in `{_line(node)}`", functools.partial(_without_keyword, at)
    if isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        yield f"without `.{node.func.attr}()` in `{_line(node)}`", lambda twin: _become(twin, twin.func.value)
    if isinstance(node.func, ast.Name) and node.func.id in _WRAPPERS and len(node.args) == 1:
        yield f"without `{node.func.id}` in `{_line(node)}`", lambda twin: _become(twin, twin.args[0])


def _become(node: ast.AST, other: ast.AST) -> None:
    node.__class__ = other.__class__
    node.__dict__ = dict(other.__dict__)


def _pass(name: str, at: int, node: ast.AST) -> None:
    getattr(node, name)[at] = ast.Pass()


def _without_keyword(at: int, call: ast.Call) -> None:
    del call.keywords[at]


def _swap(name: str, at: int, node: ast.AST) -> None:
    block = getattr(node, name)
    block[at], block[at + 1] = block[at + 1], block[at]


def _line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:70]


def _made(tree: ast.Module, answer: Callable) -> Callable:
    """Compile `tree`, a mutant of `answer`, with the original's globals and closure, and return it."""
    free = inspect.getclosurevars(answer).nonlocals if inspect.isfunction(answer) else {}
    module = inspect.getmodule(answer)
    namespace = {**(getattr(answer, "__globals__", None) or vars(module)), **free}
    source, filename = ast.unparse(tree), f"<a mutant of {answer.__name__}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), namespace)
    return namespace[answer.__name__]


def _first_only(answer: Callable) -> Callable:
    calls: list = []

    def first_only(*args, **kwargs):
        if not calls:
            calls.append(answer(*args, **kwargs))
        return calls[0]

    return first_only


def _passes(check: AuthoredCheck, record: CheckRecord, mutant: Mutant) -> bool:
    with contextlib.suppress(TimeoutError), warnings.catch_warnings(record=True), _limited():
        return judge_check(record, check.observe(mutant.answer, record.cases), check.judge).passed
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
