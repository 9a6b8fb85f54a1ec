"""Give a check's and a payoff's own functions the meanings that names had at release, whatever a learner rebinds."""

import ast
import builtins
import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any, TypeVar

from . import source
from .cells import text_of

_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
_PYTHON = {name: value for name, value in vars(builtins).items() if not name.startswith("__")}
Function = TypeVar("Function", bound=Callable | None)


def given(cells: Iterable[dict[str, Any]], last: str) -> str:
    """Return the imports, definitions and constants of setup and check cells, up to the cell with the text `last`.

    Of the engine's cells only imports of whole modules are returned, because learners extend its stages.
    """
    statements: list[ast.stmt] = []
    for cell in cells:
        text, metadata = text_of(cell), cell.get("metadata", {})
        tags, marks = metadata.get("tags", []), metadata.get("nbgrader", {})
        if not marks.get("solution") and (marks.get("grade") or "setup" in tags):
            tree = source.read(text).tree
            found = [one for one in (tree.body if tree else []) if isinstance(one, _DEFINES) or _is_constant(one)]
            statements += [one for one in found if isinstance(one, ast.Import) or "engine" not in tags]
        if text.strip() == last.strip():
            break
    return "\n".join(ast.unparse(one) for one in statements if not _is_star(one))


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def _is_constant(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    try:
        ast.literal_eval(statement.value)
    except (ValueError, TypeError):
        return False
    return True


def as_released(function: Function, text: str) -> Function:
    """Return a function of the notebook that reads Python's builtins and the names that `text`, from `given`, defines.

    It finds all other names as the notebook has them now. The notebook itself is unchanged, so the learner's functions
    keep the learner's names; `globals()` still returns it, because some checks patch what those functions read.
    Anything but a function of the notebook is returned as it is.
    """
    if not isinstance(function, FunctionType) or str(function.__module__).startswith("gradlab."):
        return function
    notebook = function.__globals__
    python = {**_PYTHON, "globals": lambda: notebook, "__builtins__": builtins}
    names = {**notebook, **python}
    exec(_compiled(text), names)
    names.update(python)  # a learner's setup cell may define one of them, too
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


@contextlib.contextmanager
def in_place_of_yours(text: str, function: Callable) -> Iterator[None]:
    """Inside the block, let what `text` defines stand in for the learner's in the notebook of `function`."""
    names, fresh = getattr(function, "__globals__", {}), {}
    exec(_compiled(text), names, fresh)
    before = {name: names[name] for name in fresh.keys() & names.keys()}
    names.update(fresh)
    try:
        yield
    finally:
        for name in fresh:
            names.pop(name, None)
        names.update(before)


@functools.lru_cache(maxsize=8)  # a check has up to three functions, and a payoff runs its own at each move
def _compiled(text: str) -> CodeType:
    return compile(text, "<given>", "exec")
