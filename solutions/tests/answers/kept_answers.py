"""The answers that `chapter_NN.py` keeps, read as text, because a chapter's names exist only in its notebook.

A definition below `@wrong(…)` or `@right(…)` is a whole answer. `wrong(…).edit(…)` is the solution in the notebook after an
edit.
"""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

from authoring.chapter import home, source_path


@dataclass(frozen=True)
class Answer:
    """An answer to a check, as the source of a learner's cell, and what the check must say about it."""

    check_id: str
    is_right: bool
    said: list[str]  # words of the message; those after "not: " must not occur in it
    source: str
    place: str


@functools.cache
def sources(name: str) -> dict[str, str]:
    """Return the sources of a chapter's cells by their ids."""
    return {cell.id: cell.source for cell in nbformat.read(source_path(name), as_version=4).cells}


def solution(check_id: str) -> str:
    """Return a solution's source, without the marks that nbgrader replaces with a stub and a loop to fix below them."""
    source = sources(home(check_id))[f"answer-{check_id.replace('.', '-')}"] + "\n"
    source = re.sub(r"^ *### END SOLUTION\n[^\n]*loop to fix:\n.*", "", source, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^ *### (BEGIN|END) SOLUTION\n", "", source, flags=re.MULTILINE)


def edited(source: str, edit: dict[str, str] | str) -> str:
    """Return `source` with an edit; raises ValueError if something that it replaces does not occur exactly once.

    edit: new code by the code it replaces, or a diff of whole lines, with an empty line between its parts.
    """
    source = f"\n{source}"
    if isinstance(edit, str):
        parts = [part.splitlines() for part in edit.strip("\n").split("\n\n")]
        edit = {without("+", part): without("-", part) for part in parts}
    for old, new in edit.items():
        if source.count(old) != 1:
            raise ValueError(f"This must occur once, but occurs {source.count(old)} times:\n{old}\nin:\n{source}")
        source = source.replace(old, new)
    return source


def without(mark: str, part: list[str]) -> str:
    """Return a diff's lines, but those with this mark, as text that begins and ends with a line break."""
    return "".join(f"\n{line[1:]}" for line in part if line[0] != mark) + "\n"


def kept_answers() -> Iterator[Answer]:
    """Yield every answer that is kept; raises ValueError, with its place, for an edit that no longer fits."""
    for path in sorted(Path(__file__).parent.glob("chapter_*.py")):
        text = path.read_text()
        for statement in ast.parse(text).body[1:]:
            place = f"{path.name}, line {statement.lineno}"
            if isinstance(statement, ast.Expr):
                verdict, edit = statement.value.func.value, ast.literal_eval(statement.value.args[0])
            else:
                verdict, edit = statement.decorator_list[0], None
            check_id, *said = map(ast.literal_eval, verdict.args)
            if edit is None:
                source = "\n".join(text.splitlines()[verdict.end_lineno : statement.end_lineno]) + "\n"
            else:
                try:
                    source = edited(solution(check_id), edit)
                except ValueError as error:
                    raise ValueError(f"{place}: {error}") from None
            yield Answer(check_id, verdict.func.id == "right", said, source, place)
