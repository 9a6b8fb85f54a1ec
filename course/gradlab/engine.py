"""The engine of part two in stages, each a module that later chapters import, with the learner's own functions in it.

A stage lies beside the notebook as a file, `engine_11.py`: the cells tagged `engine` of that chapter, each after a line
with its id. The learner's answers take the place of the finished ones, cell by cell.
"""

import ast
import builtins
import dis
import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from . import notebook
from .checks import source
from .checks.memory import answers, fingerprint, read
from .checks.page import cells_beside, tagged, text_of
from .checks.reached import defined
from .checks.record import SUFFIX, RecordError, load_beside
from .checks.session import missing_name

TAG = "engine"
CELL = re.compile(r"^# %% (\S+)\n", re.MULTILINE)  # in a stage's file, before the code of each cell
ANSWER = re.compile(r"answer-(\d\d)-(\d+)")
STUB = "raise NotImplementedError()"  # where an answer of the student edition is to stand
MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def parts_of(cells: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The code of the cells tagged `engine`, by id, in their order."""
    parts = {}
    for cell in cells:
        if TAG in cell.get("metadata", {}).get("tags", []):
            lines = [line for line in text_of(cell).splitlines() if line.strip() not in MARKS]
            parts[cell.get("id", "")] = "\n".join(lines).strip()
    return parts


def source_of(cells: Iterable[dict[str, Any]]) -> str:
    """The code of the cells tagged `engine`, as a stage's file holds it."""
    return "\n\n\n".join(f"# %% {name}\n{text}" for name, text in parts_of(cells).items()) + "\n"


def functions(text: str) -> dict[str, str]:
    """The source of each function and class that a text defines, by name."""
    tree = source.read(text).tree
    nodes = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)] if tree else []
    return {node.name: ast.get_source_segment(text, node) or "" for node in nodes}


@dataclass
class Stage:
    """A stage of the engine: what each of its cells holds, and whose it is.

    parts: the finished ones. own: the learner's, in the place of some. why: for each other answer, why not. imports:
    what the learner's setup cells import, by name.
    """

    number: int
    parts: dict[str, str]
    own: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)

    def mixed(self) -> dict[str, str]:
        """The parts that make the stage. Functions that the learner's form of a cell lacks are the finished ones."""
        parts = dict(self.parts)
        for cell, text in self.own.items():
            lacking = [code for name, code in functions(self.parts[cell]).items() if name not in defined(text)]
            parts[cell] = "\n\n\n".join([*lacking, text])
        used = {name for text in self.own.values() for name in _names_read(text)}
        lines = sorted({line for name, line in self.imports.items() if name in used})
        return ({"imports": "\n".join(lines)} if lines else {}) | parts

    def whose(self) -> dict[str, str]:
        """For each function of an answer, in their order, "" if it is the learner's, or why it is the finished one."""
        found = {}
        for cell in filter(ANSWER.fullmatch, self.parts):
            own, why = defined(self.own.get(cell, "")), self.why.get(cell, f"your cell of {check_of(cell)} has none")
            found |= {name: "" if name in own else why for name in functions(self.parts[cell])}
        return found

    def told(self) -> str:
        """Say whose the stage is, function by function if any is the learner's or has a reason of its own."""
        whose = self.whose()
        mine = sum(not why for why in whose.values())
        head = f"engine_{self.number}: {mine} of {len(whose)} functions are yours"
        if not mine and all(why == _not_passed(cell) for cell, why in self.why.items()):
            return head + "; the finished ones stand in until your checks pass"
        width = max(map(len, whose)) + 2
        lines = [f"  {name:{width}}{'the finished one: ' * bool(why)}{why or 'yours'}" for name, why in whose.items()]
        return "\n".join([head, *lines])

    def refuse(self, cells: list[dict[str, Any]], cell: str = "", why: str = "") -> None:
        """Do without the learner's form of a cell, and of all that use a name which then nobody defines."""
        if cell:
            del self.own[cell]
            self.why[cell] = why
        known = {name for text in [*self.parts.values(), *self.own.values()] for name in defined(text)}
        known |= {*self.imports, *vars(builtins)}
        for other, text in list(self.own.items()):
            unknown = sorted(set(_names_read(text)) - known)
            if unknown and other in self.own:
                self.refuse(cells, other, _remedy(unknown[0], cells))


def stage_of(number: int, parts: dict[str, str] | None = None) -> Stage:
    """Make a stage of the learner's answers in the notebook of that chapter, as it was saved last.

    parts: the finished ones; without them, all are the notebook's.
    """
    chapter = chapter_of(number)
    cells = cells_beside(notebook.home() / chapter) if chapter else []
    theirs, known, seen = parts_of(cells), read() if chapter else {}, answers()
    stage = Stage(number, theirs if parts is None else parts, imports=_imports(cells))
    for cell in filter(ANSWER.fullmatch, stage.parts):
        why = _why_not(cell, theirs.get(cell), known.get(check_of(cell)), seen.get(check_of(cell)))
        (stage.why if why else stage.own)[cell] = why or theirs[cell]
    stage.refuse(cells)
    return stage


def finished_parts(number: int) -> dict[str, str]:
    """The parts of the finished stage that lies beside the notebook."""
    pieces = CELL.split((notebook.FOLDER / f"engine_{number}.py").read_text(encoding="utf-8"))
    return {cell: text.strip() for cell, text in zip(pieces[1::2], pieces[2::2], strict=True)}


def chapter_of(number: int) -> str:
    """The name of a chapter that is here, "" if it is not."""
    found = sorted(notebook.home().glob(f"{number}_*/*{SUFFIX}"))
    return next((path.parent.name for path in found if path.name == path.parent.name + SUFFIX), "")


def own_engine(*numbers: int) -> None:
    """Let `import engine_11` mean the stage of chapter 11 with your own functions in it, and say whose each is.

    numbers: of chapters, in their order. Call it before the import, in a kernel that was restarted. A function is yours
    if its check has passed and its cell has stayed as it was. Grading looks at this chapter alone, and takes the
    finished stage.
    """
    for number in numbers:
        print(_hand_over(number))


def _hand_over(number: int) -> str:
    """Put a stage where an import finds it, and say whose it is."""
    name, file = f"engine_{number}", notebook.FOLDER / f"engine_{number}.py"
    loaded = sys.modules.get(name)
    if hasattr(loaded, "whose"):
        return loaded.whose
    why = "" if chapter_of(number) else f"chapter {number} is not here"
    if why := why_finished() or why:
        return f"{name}: the finished one; {why}"
    stage = stage_of(number, finished_parts(number))
    if stage.own and loaded:
        return f"{name}: the finished one, which is imported already; restart the kernel and run this cell first"
    if stage.own:
        sys.modules[name] = _module(stage, file)
    return stage.told()


def why_finished() -> str:
    """Why nothing here is a learner's own, "" where it may be."""
    try:
        graded = not any(check.expected for check in load_beside(notebook.FOLDER).values())
    except RecordError:
        return "there is no record beside this notebook"
    return "this run is graded" if graded else ""


def _module(stage: Stage, file: Path) -> ModuleType:
    """Run the parts of a stage. An answer that ends in an error makes way for the finished one."""
    cells = cells_beside(notebook.home() / chapter_of(stage.number))
    while True:
        module = ModuleType(file.stem, f"Stage {stage.number} of the engine, with the learner's own functions in it.")
        module.__file__ = str(file)
        for cell, text in stage.mixed().items():
            try:
                exec(_compiled(text, file, cell, cell in stage.own or cell not in stage.parts), vars(module))
            except Exception as error:
                if cell not in stage.own:
                    raise
                name = missing_name(error)
                why = _remedy(name, cells) if name else f"your cell ends in {type(error).__name__}: {error}"
                stage.refuse(cells, cell, why)
                break
        else:
            module.whose = stage.told()
            return module


def _compiled(text: str, file: Path, cell: str, own: bool) -> CodeType:
    """The code of a part, so that a traceback shows its lines: of the stage's file, or of the learner's cell."""
    if own:
        name = f"<your cell {cell}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        return compile(text, name, "exec")
    before = file.read_text(encoding="utf-8").partition(f"# %% {cell}\n")[0].count("\n") + 1
    return compile("\n" * before + text, str(file), "exec")


def check_of(cell: str) -> str:
    """The id of the check of an answer, by that of its cell."""
    return ".".join(ANSWER.fullmatch(cell).groups())


def _not_passed(cell: str) -> str:
    return f"{check_of(cell)} has not passed"


def _why_not(cell: str, text: str | None, verdict: str | None, seen: str | None) -> str:
    """Why the learner's form of an answer's cell is not taken, as far as it can be seen by itself; "" if it is.

    verdict: of its check. seen: the fingerprint of the text that the check saw when it passed, if that was noted.
    """
    if verdict != "passed":
        return _not_passed(cell)
    if text is None:
        return f"your notebook of chapter {cell[7:9]} has no cell {cell}"
    code, yours = source.read(text), f"your cell of {check_of(cell)}"
    if code.magics:
        return f"{yours} uses {_magic(text, code.magics[0])}, which only a notebook knows: remove it"
    if code.tree is None or seen not in (None, fingerprint(text)):
        return f"{yours}, as it is saved, is not what passed: run it and its check again, and save the notebook"
    if any(isinstance(node, ast.Raise) and ast.unparse(node) == STUB for node in ast.walk(code.tree)):
        return f"{yours}, as it is saved, is still open: save the notebook"
    return ""


def _magic(text: str, magic: source.Magic) -> str:
    cell_magic = text.lstrip().startswith(f"%%{magic.name}")
    return "a line with !" if magic.name == "!" else f"{'%%' if cell_magic else '%'}{magic.name}"


def _remedy(name: str, cells: list[dict[str, Any]]) -> str:
    """What to do about a name that an answer uses and that nothing in the engine defines."""
    trees = [source.read(text).tree for cell in cells if name in defined(text := text_of(cell))]
    if not trees:
        return f"yours uses {name}, which no cell of your notebook defines"
    imported = any(name in _imported(tree) for tree in trees if tree)
    return f"yours uses {name}: move {'its import' if imported else 'its definition'} into the answer's cell"


def _imports(cells: list[dict[str, Any]]) -> dict[str, str]:
    """What the setup cells import, by name: the learner's answers may use it."""
    trees = [source.read(text).tree for text in tagged(cells, "setup")]
    return {name: line for tree in trees if tree for name, line in _imported(tree).items()}


def _imported(tree: ast.Module) -> dict[str, str]:
    """For each name that a text imports, the line that does."""
    nodes = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {each.asname or each.name.partition(".")[0]: ast.unparse(node) for node in nodes for each in node.names}


def _names_read(text: str) -> Iterator[str]:
    """The global names that the functions of a text read; by the bytecode of CPython 3.11 to 3.13."""
    todo = [compile(text, "<answer>", "exec")]
    while todo:
        code = todo.pop()
        yield from (step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")
        todo += [const for const in code.co_consts if isinstance(const, CodeType)]
