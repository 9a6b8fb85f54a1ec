"""A learner's own error is always visible: for every check, its type, its message and the line that raised it."""

import ast
from collections.abc import Iterator

import nbformat
import pytest
from nbgrader.utils import is_solution

from authoring.chapter import chapter_names, load_chapter, read_chapter, source_path
from gradlab.checks.verdict import judge_check

TYPO = "xyzzy"  # close to no name, so that Python suggests none
CHECKS = [(name, check_id) for name in chapter_names() for check_id in load_chapter(name).checks]


def with_typos(source: str) -> Iterator[str]:
    """An answer with an unknown name in the first line of its functions and methods; then of those inside them."""
    tops = ast.parse(source).body
    tops += [part for top in tops if isinstance(top, ast.ClassDef) for part in top.body]
    outer = [part for part in tops if isinstance(part, ast.FunctionDef)]
    inner = [part for part in ast.walk(ast.parse(source)) if isinstance(part, ast.FunctionDef)]
    inner = [part for part in inner if part.lineno not in {top.lineno for top in outer}]
    for functions in filter(None, (outer, inner)):
        lines = source.splitlines()
        for function in sorted(functions, key=lambda part: part.lineno, reverse=True):
            first = function.body[ast.get_docstring(function) is not None]
            above = min([first.lineno, *(mark.lineno for mark in getattr(first, "decorator_list", []))])
            lines.insert(above - 1, " " * first.col_offset + TYPO)
        yield "\n".join(lines)


@pytest.mark.parametrize(("name", "check_id"), CHECKS)
def test_a_misspelled_name_is_shown_with_its_line(name, check_id):
    solved = nbformat.read(source_path(name), as_version=4)
    answer = "answer-" + check_id.replace(".", "-")
    (cell,) = (cell for cell in filter(is_solution, solved.cells) if cell.metadata.nbgrader["grade_id"] == answer)
    for source in list(with_typos(cell.source)):
        cell.source = source
        check = read_chapter(solved, name).checks[check_id]
        record = check.record([1], slips=False)
        message = judge_check(record, check.observe(check.answer, record.cases), check.judge).feedback.text
        assert f": {TYPO}.\n" in message
        assert f" raised NameError: name '{TYPO}' is not defined." in message
