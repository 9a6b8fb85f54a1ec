"""Give a check's and a payoff's own functions the meanings that names had at release, whatever a learner rebinds."""

import ast
import builtins
import contextlib
import functools
import inspect
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .. import evidence
from ..ipynb import tags
from ..returned import is_check, is_setup
from . import source
from .reached import defined
from .stale_cells import reads, reads_all, unwrapped

_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
_EVIDENCE = ast.parse(inspect.getsource(evidence)).body
_PYTHON = {name: value for name, value in vars(builtins).items() if not name.startswith("__")}


def given(cells: Iterable[dict[str, Any]], last: str) -> str:
    """Return the imports, definitions and constants of setup and check cells, up to the cell with the text `last`.

    Of the engine's cells only imports of whole modules are returned, because learners extend its stages. At the top,
    `global Tensor, as_array` says which names are the engine's, below `last`, too. An import of `notes` is followed by
    the text of `gradlab.evidence`, because a learner's cell can change the module.
    """
    statements: list[ast.stmt] = []
    engine: list[str] = []
    above = True
    for cell in cells:
        text = cell["source"]
        if is_check(cell) or is_setup(cell):
            kept = [stmt for stmt in source.read(text).statements if isinstance(stmt, _DEFINES) or _is_constant(stmt)]
            if "engine" in tags(cell):
                engine += [stmt.name for stmt in kept if isinstance(stmt, ast.FunctionDef | ast.ClassDef)]
                kept = [stmt for stmt in kept if isinstance(stmt, ast.Import)]
            if any(_imports(stmt, "notes") for stmt in kept):
                kept += _EVIDENCE
            statements += [stmt for stmt in kept if above and not _imports(stmt, "*")]
        above = above and text.strip() != last.strip()
    return "\n".join(map(ast.unparse, [*[ast.Global(engine)] * bool(engine), *statements]))


def _imports(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.ImportFrom) and any(alias.name == name for alias in statement.names)


def _is_constant(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    try:
        ast.literal_eval(statement.value)
    except (ValueError, TypeError):
        return False
    return True


def as_released(function: Any, text: str) -> Any:
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
def in_place_of_yours(function: Callable, text: str, finished: str = "", answer: Any = None) -> Iterator[None]:
    """Inside the block, let what `finished` defines stand in for the learner's in the notebook of `function`.

    So do Python's builtins and the modules that `text`, from `given`, imports, because functions of setup cells read
    them. But a name keeps the learner's meaning if `answer` reads it, or a function of the learner's that `answer` or
    `function` calls.
    """
    notebook = getattr(unwrapped(function), "__globals__", {})
    fresh: dict[str, Any] = {}
    exec(_compiled(finished), notebook, fresh)
    before = dict(notebook)
    notebook.update(fresh)
    tree = ast.parse(text)
    meant = _PYTHON | _modules(tree)
    meant = {name: value for name, value in meant.items() if notebook.get(name, value) is not value}
    if meant:
        engine = [stmt.names for stmt in tree.body if isinstance(stmt, ast.Global)]
        released = {*defined(text), *defined(finished), *itertools.chain(*engine)} - {getattr(answer, "__name__", "")}
        kept = reads_all([answer, *map(notebook.get, reads(function))], notebook, without=released)
        fresh |= {name: value for name, value in meant.items() if name not in kept}
        notebook.update(fresh)
    try:
        yield
    finally:
        for name in fresh:
            notebook.pop(name, None)
        notebook.update({name: before[name] for name in fresh.keys() & before.keys()})


def _modules(tree: ast.Module) -> dict[str, ModuleType]:
    """Return the modules that a text imports, by the names it gives them, without importing them."""
    imports = [alias for statement in tree.body if isinstance(statement, ast.Import) for alias in statement.names]
    names = {alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else "" for alias in imports}
    return {name: sys.modules[full or name] for name, full in names.items() if (full or name) in sys.modules}


@functools.lru_cache(maxsize=8)  # a check has up to three functions, and a payoff runs its own at each move
def _compiled(text: str) -> CodeType:
    return compile(text, "<given>", "exec")
