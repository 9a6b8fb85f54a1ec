"""The engine of part two in stages: modules that later chapters import, with the learner's own functions in them.

A stage is a file such as `engine_11.py` for chapter 11. It contains the chapter's cells tagged `engine`, each after a
line with its id. Cell by cell, the learner's answers replace the finished ones. The files are in `gradlab/stages/`,
where Python searches last, so a class can keep its own beside a notebook.
"""

import ast
import builtins
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from . import notebook
from .checks import source
from .checks.cells import Chapter, tagged
from .checks.reached import defined, globals_read
from .checks.record import SUFFIX, RecordError
from .checks.results import answers, fingerprint, read
from .checks.stale_cells import missing_name, watched
from .ipynb import grade_id, tags
from .words import _, ngettext

STAGES = Path(__file__).with_name("stages")
sys.path.append(str(STAGES))
TAG = "engine"
CELL = re.compile(r"^# %% (\S+)\n", re.MULTILINE)  # the line before each cell's code in a stage's file
LAST = 14  # the last chapter of part two
ANSWER = re.compile(r"answer-(\d\d)-(\d+)")
STUB = "raise NotImplementedError()"  # the line in the student edition that an answer replaces
MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def parts_of(cells: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the code of each cell tagged `engine`, in order, by nbgrader's name for it or else by its id."""
    parts = {}
    for cell in cells:
        if TAG in tags(cell):
            lines = [line for line in cell["source"].splitlines() if line.strip() not in MARKS]
            parts[grade_id(cell) or cell.get("id", "")] = "\n".join(lines).strip()
    return parts


def source_of(cells: Iterable[dict[str, Any]]) -> str:
    """Return the code of the cells tagged `engine`, laid out like a stage's file."""
    return "\n\n\n".join(f"# %% {name}\n{text}" for name, text in parts_of(cells).items()) + "\n"


def finished_before(check_id: str, cells: Iterable[dict[str, Any]]) -> str:
    """Return the finished code of the engine's exercises before this one in a solved chapter, "" if there is none.

    A chapter without a later one gives none: students have no copy of its finished engine.
    """
    exercise = re.match(r"(\d+)\.(\d+)", check_id)
    if exercise is None or int(exercise[1]) == LAST:
        return ""
    parts = [(ANSWER.fullmatch(cell), text) for cell, text in parts_of(cells).items()]
    return "\n\n\n".join(text for cell, text in parts if cell and int(cell[2]) < int(exercise[2]))


def functions(text: str) -> dict[str, str]:
    """Return the source of each function and class that a text defines, by name."""
    nodes = [node for node in source.read(text).statements if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return {node.name: ast.get_source_segment(text, node) or "" for node in nodes}


@dataclass
class Stage:
    """A stage of the engine: the code of each of its cells, and who wrote it.

    parts: the finished code. own: the learner's answers, which replace some of it. why: for every other answer, the
    reason why it is not used. imports: the lines of the learner's setup cells that import a name. passed: whether the
    check of any answer has passed.
    """

    number: int
    parts: dict[str, str]
    own: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    passed: bool = False

    def mixed(self) -> dict[str, str]:
        """Return the stage's code by cell id, with the learner's answers."""
        used = set().union(*map(_names_read, self.own.values()))
        lines = sorted({line for name, line in self.imports.items() if name in used})
        return ({"imports": "\n".join(lines)} if lines else {}) | self.parts | self.own

    def whose(self) -> dict[str, str]:
        """Return for each function, in order, "" if it is the learner's, or why the finished one is used."""
        answers = filter(ANSWER.fullmatch, self.parts)
        return {name: self.why.get(cell, "") for cell in answers for name in functions(self.parts[cell])}

    def report(self) -> str:
        """Return who wrote the stage, in words: one line if no check has passed, else one more for each function."""
        whose = self.whose()
        mine, engine = sum(not why for why in whose.values()), _name(self.number)
        head = ngettext(
            "{engine}: {count} of {total} functions is yours",
            "{engine}: {count} of {total} functions are yours",
            mine,
            engine=engine,
            total=len(whose),
        )
        if not self.passed:
            return _("{yours}; the finished ones stand in until your checks pass", yours=head)
        width = max(map(len, whose)) + 2
        said = {name: _("the finished one: {why}", why=why) if why else _("yours") for name, why in whose.items()}
        return "\n".join([head, *(f"  {name:{width}}{words}" for name, words in said.items())])

    def refuse(self, cell: str = "", why: str = "") -> None:
        """Drop the learner's answer in a cell, and then all answers that use a name that nothing defines anymore."""
        if cell:
            del self.own[cell]
            self.why[cell] = why
        known = {name for text in [*self.parts.values(), *self.own.values()] for name in defined(text)}
        known |= {*self.imports, *vars(builtins)}
        for other, text in list(self.own.items()):
            unknown = sorted(_names_read(text) - known)
            if unknown and other in self.own:
                self.refuse(other, _lacks(unknown[0]))


def stage_of(number: int, parts: dict[str, str] | None = None) -> Stage:
    """Make the stage of a chapter, by its number, from the answers in the chapter's notebook.

    parts: the finished code; by default, all code comes from the notebook.
    """
    chapter = chapter_of(number)
    cells = _cells_of(chapter) if chapter else []
    theirs, known, seen = parts_of(cells), read() if chapter else {}, answers()
    stage = Stage(number, theirs if parts is None else parts, imports=_imports(cells))
    for cell in filter(ANSWER.fullmatch, stage.parts):
        stage.passed |= known.get(check_of(cell)) == "passed"
        asked = functions(stage.parts[cell])
        why = _why_not(cell, theirs.get(cell), asked, known.get(check_of(cell)), seen.get(check_of(cell)))
        (stage.why if why else stage.own)[cell] = why or theirs[cell]
    stage.refuse()
    return stage


def _cells_of(chapter: str) -> list[dict[str, Any]]:
    """Return the code cells of a chapter's notebook as JupyterLab shows them, or else as they were saved last."""
    session = watched()
    shown = session.open.get(chapter) if session else None
    return Chapter(notebook.home() / chapter).code if shown is None else shown


def finished_parts(number: int) -> dict[str, str]:
    """Return the finished code of a stage, by cell id."""
    beside = notebook.FOLDER / f"{_name(number)}.py"
    file = beside if beside.exists() else STAGES / beside.name
    pieces = CELL.split(file.read_text(encoding="utf-8"))
    return {cell: text.strip() for cell, text in zip(pieces[1::2], pieces[2::2], strict=True)}


def chapter_of(number: int) -> str:
    """Return the folder name of the chapter with this number in this workspace, "" if it is missing."""
    records = sorted(notebook.home().glob(f"{number}_*/*{SUFFIX}"))
    return next((path.parent.name for path in records if path.name == path.parent.name + SUFFIX), "")


def own_engine(*numbers: int) -> None:
    """Make `import engine_11` load the stage of chapter 11 with your own functions in it, and print who wrote each one.

    numbers: chapter numbers, in order. Call it before the import, in a restarted kernel. A function is yours if its
    check has passed and its cell has not changed since. Grading uses the finished functions, those of this chapter's
    earlier exercises included, so that an earlier answer never costs a later point.
    """
    for number in numbers:
        print(_load(number))


def _load(number: int) -> str:
    """Register a stage as an importable module, and return a message saying who wrote it."""
    name = _name(number)
    loaded = sys.modules.get(name)
    if whose := getattr(loaded, "whose", ""):
        return whose
    if why := why_finished(number):
        return _("{engine}: the finished one; {why}", engine=name, why=why)
    stage = stage_of(number, finished_parts(number))
    if stage.own and loaded:
        return _("{engine}: the finished one is already imported; restart the kernel and run this first", engine=name)
    if stage.own:
        sys.modules[name] = _module(stage)
    return stage.report()


def _name(number: int) -> str:
    return f"engine_{number}"


def why_finished(number: int) -> str:
    """Return the reason why a chapter's finished code must be used here, "" if there is none."""
    try:
        graded = not any(check.expected for check in Chapter(notebook.FOLDER).checks.values())
    except RecordError:
        return _("there is no record beside this notebook")
    if graded:
        return _("this run is graded")
    return "" if chapter_of(number) else _("chapter {number} is not here", number=number)


def _module(stage: Stage) -> ModuleType:
    """Run the code of a stage and return it as a module. Finished code replaces an answer that raises an error."""
    while True:
        module = ModuleType(_name(stage.number), f"Stage {stage.number} of the engine, with your functions in it.")
        for cell, text in stage.mixed().items():
            try:
                name = f"<{'your cell' if cell in stage.own else module.__name__} {cell}>"
                exec(source.compiled(text, name), vars(module))
            except Exception as error:
                if cell not in stage.own:
                    raise
                ends = _("your cell ends in {error}", error=f"{type(error).__name__}: {error}")
                name = missing_name(error)
                stage.refuse(cell, _lacks(name) if name else ends)
                break
        else:
            vars(module)["whose"] = stage.report()
            return module


def check_of(cell: str) -> str:
    """Return the id of an answer's check, given the id of the answer's cell."""
    return cell.removeprefix("answer-").replace("-", ".")


def _why_not(cell: str, text: str | None, asked: Iterable[str], verdict: str | None, seen: str | None) -> str:
    """Return why, judging by its cell alone, a learner's answer is not used; "" if nothing prevents its use.

    asked: the names that it must define. verdict: the result of its check. seen: the fingerprint of the text that
    passed the check, if recorded.
    """
    check = check_of(cell)
    if verdict != "passed":
        return _("{check} has not passed", check=check)
    if text is None:
        return _("your notebook for chapter {number} has no cell {cell}", number=cell[7:9], cell=cell)
    code = source.read(text)
    if code.magics:
        return _("your cell for {check} has a line with % or !, which works only in a notebook: remove it", check=check)
    is_open = code.tree and any(isinstance(n, ast.Raise) and ast.unparse(n) == STUB for n in ast.walk(code.tree))
    if code.tree is None or is_open or seen not in (None, fingerprint(text)):
        return _("your cell for {check} has changed since it passed: save the notebook and run the check", check=check)
    lacking = [name for name in asked if name not in defined(text)]
    return _("your cell for {check} does not define {name}", check=check, name=lacking[0]) if lacking else ""


def _lacks(name: str) -> str:
    """Return that an answer uses a name that nothing defines, as a reason."""
    return _("your cell uses {name}: import or define it in that cell", name=name)


def _imports(cells: list[dict[str, Any]]) -> dict[str, str]:
    """Return the import line of each name that the setup cells import; the learner's answers may use these names."""
    statements = [node for text in tagged(cells, "setup") for node in source.read(text).statements]
    nodes = [node for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
    return {each.asname or each.name.partition(".")[0]: ast.unparse(node) for node in nodes for each in node.names}


def _names_read(text: str) -> set[str]:
    """Return the global names that functions in the text read."""
    return globals_read(compile(text, "<answer>", "exec"), ["LOAD_GLOBAL"])
