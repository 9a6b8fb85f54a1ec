"""The engine of part two, in stages: what a chapter's cells define, as a module that later chapters import."""

import ast
import builtins
import dis
import linecache
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, ModuleType
from typing import Any

from . import notebook
from .checks import source
from .checks.memory import exercises, read
from .checks.page import cells_beside, tagged
from .checks.record import load_beside

TAG = "engine"
STUB = "raise NotImplementedError()"  # where an answer of the student edition is to stand
MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def source_of(cells: Iterable[dict[str, Any]]) -> str:
    """The code of the cells tagged `engine`, as one text, in their order."""
    texts = []
    for text in tagged(cells, TAG):
        texts.append("\n".join(line for line in text.splitlines() if line.strip() not in MARKS).strip())
    return "\n\n\n".join(texts) + "\n"


def own_engine(*stages: int) -> None:
    """Let `import engine_11` mean the code in your own notebook of chapter 11, if all its checks have passed.

    stages: numbers of chapters, 11 for chapter 11, in their order. Call it before the import, and restart the kernel
    first. The finished stage that lies beside the notebook is used where a notebook is not there, where a check of it
    has not passed, and in grading, which looks at this chapter alone; a line says which.
    """
    for stage in stages:
        name = f"engine_{stage}"
        why = _why_not(stage, name)
        print(f"{name}: {why}; the finished one beside this notebook is used" if why else f"{name}: your own")


def _why_not(stage: int, name: str) -> str:
    """Put the learner's own stage in the place of the finished one; return why not, "" if it was done."""
    if name in sys.modules:
        own = (getattr(sys.modules[name], "__file__", None) or "").endswith(".ipynb")
        return "" if own else "it is imported already"
    if not any(check.expected for check in load_beside(notebook.FOLDER).values()):
        return "this run is graded"
    home, known = notebook.FOLDER.parent, read()
    chapter = next((chapter for chapter in exercises() if chapter.startswith(f"{stage}_")), None)
    if chapter is None or not (home / chapter).is_dir():
        return f"chapter {stage} is not here"
    missing = [check_id for check_id in exercises()[chapter] if known.get(check_id) != "passed"]
    if missing:
        return f"in chapter {stage} {', '.join(missing)} {'has' if len(missing) == 1 else 'have'} not passed"
    cells = cells_beside(home / chapter)
    text, file = f"{_imports(cells)}\n{source_of(cells)}", f"<your engine of {chapter}>"
    if _is_open(text):
        return f"in your notebook of chapter {stage}, as it was saved last, an answer is still open"
    module = ModuleType(name, f"Stage {stage} of the engine, from the learner's own notebook of {chapter}.")
    module.__file__ = str(home / chapter / f"{chapter}.ipynb")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    sys.modules[name] = module
    try:
        code = compile(text, file, "exec")
        exec(code, module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        return f"running chapter {stage} ended in {type(error).__name__}: {error}"
    undefined = sorted(set(_globals_read(code)) - vars(module).keys() - vars(builtins).keys())
    if undefined:
        del sys.modules[name]
        return f"your answers of chapter {stage} use {', '.join(undefined)}, which none of the engine's cells defines"
    return ""


def _is_open(text: str) -> bool:
    """Whether an answer is still a stub; a text that is not Python ends in its error when it is run."""
    tree = source.read(text).tree
    return tree is not None and any(
        isinstance(node, ast.Raise) and ast.unparse(node) == STUB for node in ast.walk(tree)
    )


def _imports(cells: list[dict[str, Any]]) -> str:
    """The imports of the setup cells, which the learner's answers may use."""
    trees = [source.read(text).tree for text in tagged(cells, "setup")]
    nodes = [node for tree in trees if tree for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, nodes))


def _globals_read(code: CodeType) -> Iterator[str]:
    """The global names that code reads, and the functions in it; by the bytecode of CPython 3.11 to 3.13."""
    yield from (step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _globals_read(const)
