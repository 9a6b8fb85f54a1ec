"""Read what code does, apart from its words: comments, layout and docstrings."""

import ast


def without_docstrings(tree: ast.AST) -> ast.AST:
    """Remove all docstrings from a syntax tree, in place, and return it."""
    for node in ast.walk(tree):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def meaning(code: str) -> str:
    """Return code without comments, layout and docstrings."""
    return ast.unparse(without_docstrings(ast.parse(code)))
