"""Run a check with the names its setup and check cells define, even if other cells have redefined them."""

import ast
import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import source
from .cells import text_of
from .reached import defined
from .stale_cells import reads

_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def given(cells: Iterable[dict[str, Any]], check_cell: str) -> str:
    """Return the imports, definitions and constants of setup and check cells, up to the one with text `check_cell`.

    Names that an answer's cell defines are left out, and so are the engine's stages, because the learner writes them.
    """
    statements: list[ast.stmt] = []
    answers: set[str] = set()
    for cell in cells:
        text, metadata = text_of(cell), cell.get("metadata", {})
        tags, marks = metadata.get("tags", []), metadata.get("nbgrader", {})
        if marks.get("solution"):
            answers |= defined(text)
        elif marks.get("grade") or ("setup" in tags and "engine" not in tags):
            tree = source.read(text).tree
            statements += [one for one in (tree.body if tree else []) if isinstance(one, _DEFINES) or _is_constant(one)]
        if text.strip() == check_cell.strip():
            break
    return "\n".join(ast.unparse(one) for one in statements if not answers & defined(ast.unparse(one)))


def _is_constant(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    try:
        ast.literal_eval(statement.value)
    except (ValueError, TypeError):
        return False
    return True


@contextlib.contextmanager
def as_given(text: str, scenario: Callable, missing: bool = False) -> Iterator[None]:
    """Inside the block, set the names that a scenario uses to the values that `text`, from `given`, defines.

    A name that is undefined because its setup cell has not run stays undefined, unless `missing` is true.
    """
    names, fresh = getattr(scenario, "__globals__", {}), {}
    if text:
        exec(compile(text, "<given>", "exec"), names, fresh)
    names_given = fresh.keys() if missing else fresh.keys() & names.keys()
    todo, used = [scenario], set()
    while todo:
        new = (reads(todo.pop()) & names_given) - used
        used |= new
        todo += [fresh[name] for name in new]
    before = {name: names[name] for name in used & names.keys()}
    names.update({name: fresh[name] for name in used})
    try:
        yield
    finally:
        for name in used:
            names.pop(name, None)
        names.update(before)
