"""What a check uses of the notebook: as setup and check cells give it, whatever other cells have made of a name."""

import ast
import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import source
from .page import text_of
from .reached import defined
from .session import reads

_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def given(cells: Iterable[dict[str, Any]], check_cell: str) -> str:
    """The imports, definitions and constants of the setup and check cells down to the check cell with this text.

    Left out are the names that an answer's cell defines, and the stages of an engine, which are the learner's as well.
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
    """Let what a scenario uses mean what a text of `given` says; afterwards the names mean what they meant before.

    A name that means nothing, because its setup cell has not run, stays missing, unless `missing` ones are given too.
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
