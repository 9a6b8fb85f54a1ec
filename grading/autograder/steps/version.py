"""Name the version of an assignment by what can change a verdict, so that new words make no grade outdated.

Cases and expected results come from the record; see `decides`. Everything else comes from the code; see `code_of`.
"""

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from authoring.cells import counts, tags
from gradlab.checks.meaning import meaning, without_docstrings


def made_from(notebook: NotebookNode, folder: Path, points: dict[str, float]) -> str:
    """Return a hash of all that an assignment's record and judges are made from, with its words.

    Prose, lessons, comments and the version of gradlab are left out.
    """
    cells = [without_comments(cell.source) for cell in notebook.cells if counts(cell)]
    return hashed(cells, *_modules_and_points(folder, points, without_comments))


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
        return without_comments(source)
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


def without_comments(source: str) -> str:
    """Return source code without comments and comment-only lines; unchanged if it cannot be tokenized."""
    lines, whole = source.split("\n"), set()
    try:
        comments = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):
        return source
    for comment in comments:
        row, column = comment.start[0] - 1, comment.start[1]
        lines[row] = lines[row][:column].rstrip()
        whole |= set() if lines[row] else {row}
    return "\n".join(line for row, line in enumerate(lines) if row not in whole)
