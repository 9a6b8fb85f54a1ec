"""Name the version of an assignment by what can change a verdict, so that new words make no grade outdated.

Cases and expected results come from the record; see `decides`. Everything else comes from the code; see `code_of`.
"""

import ast
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from authoring.cells import counts, tags
from gradlab.checks.meaning import meaning, without_docstrings


def made_from(notebook: NotebookNode, folder: Path, points: dict[str, float]) -> str:
    """Return a hash of all that an assignment's record and judges are made from, with its words.

    Prose, lessons and the version of gradlab are left out.
    """
    cells = [cell.source for cell in notebook.cells if counts(cell)]
    return hashed(cells, *_modules_and_points(folder, points, str))


def code_of(notebook: NotebookNode, folder: Path, points: dict[str, float]) -> str:
    """Return a hash of the points, and of all code but the reference cells, without words."""
    cells = [plain_code(cell.source) for cell in notebook.cells if counts(cell) and "reference" not in tags(cell)]
    return hashed(cells, *_modules_and_points(folder, points, meaning))


def decides(record: dict) -> dict[str, list]:
    """Return what decides a verdict in a record, read from its JSON, by check id: cases and expected results."""
    return {
        check_id: [[[case["inputs"], case.get("words")] for case in check["cases"]], check.get("expected")]
        for check_id, check in record["checks"].items()
    }


def hashed(*parts: object) -> str:
    """Return a short hash of plain data."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _modules_and_points(folder: Path, points: dict[str, float], text: Callable[[str], str]) -> tuple[list, list]:
    modules = [text(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.py"))]
    return modules, sorted((grade_id, float(worth)) for grade_id, worth in points.items())


def plain_code(source: str) -> str:
    """Return a cell's code without words: docstrings, titles of checks, and functions that only draw their pictures."""
    try:
        tree: Any = without_docstrings(ast.parse(source))
    except SyntaxError:  # a magic
        return source
    pictures = set()
    for call in checks_called(tree):
        call.args[0] = ast.Constant(ast.literal_eval(call.args[0]).split()[0])
        pictures |= {ast.unparse(word.value) for word in call.keywords if word.arg == "picture"}
        call.keywords = [word for word in call.keywords if word.arg != "picture"]
    tree.body = [node for node in tree.body if getattr(node, "name", None) not in pictures]
    return ast.unparse(tree)


def checks_called(tree: ast.AST) -> list[ast.Call]:
    """Return the calls of `check` in a cell."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "check"]
