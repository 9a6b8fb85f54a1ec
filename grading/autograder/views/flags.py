"""Flag suspicious lines in a submission: code that no honest answer needs.

A flag is not a verdict and costs no points. Flags mark code that could manipulate how the submission is observed, hide
a forbidden shortcut, or access other students' data. Released lines are never flagged.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import gradlab
from gradlab import ipynb
from gradlab.checks import reached, source
from gradlab.checks.cells import tagged
from gradlab.checks.record import SUFFIX
from gradlab.checks.source import MOST_CHARACTERS, Source

from ..steps.files import readable

MOST = 20  # flags per submission

_IPYTHON = "uses IPython's internals, which control how cells run and what they show"
_FRAMES = "inspects the internals of functions, frames or modules"
_COMPARISON = "changes how its objects compare, or how torch and NumPy treat them"
_COMPUTED = "computes a name, so that it does not appear in the source"
_TEXT_AS_CODE = "runs text as code"
_PROCESS = "starts, ends or interferes with processes"
_GRADLAB = "touches the parts of gradlab that check answers"
_BLOB = "contains opaque data, or imports something that unpacks it"
_RECORDS = "makes torch record a graph, near an exercise that forbids autograd"
_READS = "reads a file, near an exercise that forbids autograd"
_OTHERS = "names another student's submission, or the class's own files"
_OUTSIDE = "uses a path outside the submission's own folder"

WORDS = {
    _IPYTHON: "get_ipython InteractiveShell input_transformers_cleanup input_transformers_post ast_transformers "
    "input_transformer_manager run_cell run_cell_async showtraceback set_custom_exc displayhook display_pub user_ns "
    "display_formatter do_execute iopub_socket _render_traceback_ _ipython_display_ _repr_mimebundle_",
    _FRAMES: "__globals__ __code__ __closure__ __defaults__ __kwdefaults__ __builtins__ __subclasses__ __mro__ "
    "__base__ __bases__ __loader__ __spec__ __file__ __path__ f_globals f_locals f_back f_builtins f_code gi_frame "
    "cr_frame tb_frame _getframe currentframe settrace setprofile",
    _COMPARISON: "__eq__ __ne__ __instancecheck__ __torch_function__ __torch_dispatch__ __array_function__ "
    "__array_ufunc__ __getattribute__ __reduce__ __reduce_ex__",
    _TEXT_AS_CODE: "__import__",
}
BUILTINS = {  # unless the submission redefines the name
    _TEXT_AS_CODE: "exec eval compile",
    _FRAMES: "globals breakpoint",
    "reads the inputs or outputs of other cells": "In _ih _oh",
}
MODULES = {  # * matches the rest of a name
    _IPYTHON: "IPython ipykernel jupyter_client zmq nbclient nbformat",
    _FRAMES: "gc builtins sys.modules sys.settrace sys.setprofile sys._* sys.displayhook sys.excepthook sys.meta_path "
    "sys.path sys.path_hooks sys.addaudithook sys.monitoring inspect.stack inspect.trace inspect.currentframe "
    "inspect.getouterframes inspect.getinnerframes traceback.walk_stack traceback.extract_stack types.CodeType "
    "types.FunctionType threading.settrace threading.setprofile",
    _TEXT_AS_CODE: "importlib runpy imp code codeop pkgutil timeit",
    _COMPUTED: "operator.attrgetter operator.methodcaller string.Formatter inspect.getmembers* inspect.getattr_static",
    _PROCESS: "ctypes cffi subprocess multiprocessing socket atexit os._exit os.abort os.kill os.killpg os.fork* "
    "os.exec* os.spawn* os.posix_spawn* os.system os.popen os.close os.closerange os.dup2 os.getppid os.sched_* "
    "os.setpriority os.nice resource concurrent.futures.ProcessPoolExecutor concurrent.futures.process "
    "torch.multiprocessing joblib _posixsubprocess",
    "runs code concurrently with its cell, where a forbidden use of autograd is not detected": "threading _thread "
    "concurrent asyncio",
    _BLOB: "base64 binascii codecs marshal zlib pickle dill cloudpickle",
    "replaces objects temporarily, as tests do": "unittest.mock mock pytest",
    "uses private parts of torch": "torch._* functorch",
    "uses one of torch's own gradient formulas": "torch.ops torch.nn.grad",
    "uses a different engine that computes derivatives": "sympy jax autograd tensorflow tinygrad casadi",
    "uses code that belongs to grading": "autograder authoring mini_autograd",
    _OUTSIDE: "pathlib.Path.home os.path.expanduser",
}
BY_HAND = {  # near exercises that forbid autograd
    _RECORDS: "requires_grad_ torch.nn.Parameter",
    _READS: "open read_text read_bytes pathlib.* io.* glob.* os.listdir os.scandir os.walk torch.load numpy.load* "
    "numpy.genfromtxt numpy.fromfile numpy.memmap pandas.read_* json.load fileinput.* linecache.* mmap.* sqlite3.* "
    "h5py.*",
    _COMPUTED: "vars dir __get__ __annotations__ __annotate__ get_annotations get_type_hints inspect.signature",
}
TEXTS = {  # patterns in strings
    _OUTSIDE: r"^(file:)?/[\w.*-]+/\S*$|^~(/|$)|(^|/)\.\.(/|$)"
    r"|(^|[\s=:])/(proc|sys|dev|etc|home|root|tmp|var|usr|run|opt|mnt|srv|bin)(/|$)",
    "names a notebook, or the record of the checks": r"\.ipynb\b|\brecord\.json",
    _GRADLAB: r"vnd\.gradlab|^gradlab\.\w+",
    _OTHERS: r"(^|/)(submitted|autograded|gradebook\.db|feedback)(/|$)",
    _BLOB: r"^[\w+/=-]{160,}$",
}
MAGICS = "uses an IPython magic or a shell command"
HARMLESS = {"time", "timeit", "capture", "matplotlib", "precision", "debug", "pdb", "lsmagic", "memit"}
HARMLESS |= {"pinfo", "pinfo2", "psearch"}  # help: x? and x??
PATCHED = "patches an imported module, which affects the checks too"
REBOUND = "redefines a name that the checks use"
UNSEARCHED = "imports code that is not searched for a forbidden use of autograd"
UNREAD = "is too long or too deeply nested to be searched"
SHADOW = "shadows a module that Python would import"
RECORD = "is a record of checks, but not the class's"

_WORDS = {word: why for why, words in WORDS.items() for word in words.split()}
_BUILTINS = {word: why for why, words in BUILTINS.items() for word in words.split()}


def _patterns(modules: dict[str, str]) -> list[tuple[str, re.Pattern]]:
    joined = {
        why: "|".join(re.escape(n).replace(r"\*", r"\w*") for n in names.split()) for why, names in modules.items()
    }
    return [(why, re.compile(rf"({names})(\..*)?")) for why, names in joined.items()]


_MODULES, _BY_HAND = _patterns(MODULES), _patterns(BY_HAND)
_TEXTS = [(why, re.compile(pattern)) for why, pattern in TEXTS.items()]
_PUBLIC = {"IPython.display", "gradlab.resnet", *(f"gradlab.{name}" for name in gradlab.__all__)}
_USED_BY_CHECKS = ("torch", "numpy", "math", "gradlab.check")
_SETTINGS = ("torch.backends",)
_MAGIC = re.compile(r"\s*([\w ,.]*=\s*)?[%!]")
_STARTUP = {"sitecustomize", "usercustomize"}


@dataclass(frozen=True)
class Flag:
    """A flagged line. where: the cell or file. line: counted from 1, 0 for a whole file. why: the reason to show."""

    where: str
    line: int
    source: str
    why: str


class Look:
    """Searches the submissions of one assignment for lines to flag.

    folder: the released files, with the notebook `name`, which are never flagged. by_hand: the functions that must not
    use autograd. students: their ids, which must not appear in a path in another student's submission.
    """

    def __init__(self, folder: Path, name: str, by_hand: Iterable[str] = (), students: Iterable[str] = ()):
        path = folder / f"{name}.ipynb"
        cells = _code(ipynb.read(path.read_bytes())) if path.exists() else []
        self.given = {_source(cell) for cell in cells} | {text for _, text in _modules(folder)}
        self.files = {path.name for path in folder.rglob("*")} | {name + SUFFIX}
        self.lines = {line.strip() for text in self.given for line in _lines(text)}
        self.imports = _imports([source.read(text).tree for text in self.given], {})
        self.kept = {name: home for name, home in self.imports.items() if _starts(home, _USED_BY_CHECKS)}
        self.kept |= dict.fromkeys((name for text in tagged(cells, "setup") for name in _defined(text)), "the chapter")
        self.free = _PUBLIC | {
            home
            for home in self.imports.values()
            if home.startswith("gradlab.") or any(pattern.fullmatch(home) for _, pattern in _MODULES)
        }
        self.by_hand, self.students = set(by_hand), set(students)

    def at(self, notebook: dict, folder: Path, student: str = "") -> list[Flag]:
        """Return the flags of an autograded notebook (as JSON) and its folder, ignoring locked and released cells."""
        written = [
            (_name(cell, number), _source(cell))
            for number, cell in enumerate(_code(notebook), 1)
            if _source(cell) not in self.given and not _marks(cell).get("locked")
        ]
        modules = [(name, text) for name, text in _modules(folder) if text not in self.given]
        names = sorted(path.name for path in folder.rglob("*"))
        found = [Flag(readable(n), 0, "", RECORD) for n in names if n.endswith(SUFFIX) and n not in self.files]
        found += [Flag(readable(name), 0, "", SHADOW) for name, _ in modules if _is_taken(Path(name).parts[0])]
        return (found + self.find(written + modules, student))[:MOST]

    def find(self, sources: list[tuple[str, str]], student: str = "") -> list[Flag]:
        """Return the flags of sources, given as (name, text) of cells or files; at most one per reason and source."""
        read = [source.read(text) for _, text in sources]
        reader = _Reader(
            look=self,
            names=_imports([one.tree for one in read], self.imports),
            files={Path(where).stem for where, _ in sources if where.endswith(".py")},
            student=student,
        )
        return list(islice(self._flags(sources, read, reader), MOST))

    def _flags(self, sources: list[tuple[str, str]], read: list[Source], reader: "_Reader") -> Iterator[Flag]:
        by_hand = reached.cells_behind(self.by_hand, [text for _, text in sources])
        for number, ((where, text), one) in enumerate(zip(sources, read, strict=True)):
            lines = _lines(text)
            first: dict[str, int] = {}
            for line, why in sorted(set(reader.reasons(one, lines, number in by_hand))):
                if lines[line - 1].strip() not in self.lines:
                    first.setdefault(why, line)
            for why, line in first.items():
                yield Flag(readable(where), line, readable(lines[line - 1].strip()[:160]), why)


def _code(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _source(cell: dict) -> str:
    return "".join(cell["source"])[: MOST_CHARACTERS + 1]


def _marks(cell: dict) -> dict:
    marks = cell["metadata"].get("nbgrader")
    return marks if isinstance(marks, dict) else {}


def _name(cell: dict, number: int) -> str:
    return str(_marks(cell).get("grade_id") or cell.get("id") or f"code cell {number}")[:60]


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return the relative path and text of each Python file in a folder."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                found.append((str(path.relative_to(folder)), file.read(MOST_CHARACTERS + 1)))
    return found


def _is_taken(name: str) -> bool:
    stem = name.removesuffix(".py")
    try:
        return stem in _STARTUP or (stem.isidentifier() and find_spec(stem) is not None)
    except (ImportError, ValueError, AttributeError):  # an existing module without a spec
        return True


def _lines(source: str) -> list[str]:
    return re.split("\r\n|\r|\n", source)  # as Python counts lines; splitlines() splits at more characters


def _starts(dotted: str, heads: Iterable[str]) -> bool:
    return any(dotted == head or dotted.startswith(head + ".") for head in heads)


def _imports(trees: Iterable[ast.Module | None], known: dict[str, str]) -> dict[str, str]:
    """Map each imported name, and each name assigned only once, from an imported attribute, to its full name."""
    names = dict(known)
    nodes = [node for tree in trees if tree for node in ast.walk(tree)]
    for node in nodes:
        names |= _bound_by_import(node)
    bound = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            home = _dotted(node.value, names)
            once = [t.id for t in node.targets if isinstance(t, ast.Name) and bound[t.id] == 1 and home]
            names |= {name: home for name in once if name not in names}
    return names


def _defined(text: str) -> Iterator[str]:
    """Yield the names of the functions and classes that a cell defines."""
    tree = source.read(text).tree
    yield from (node.name for node in (tree.body if tree else []) if isinstance(node, (*_FUNCTION, ast.ClassDef)))


def _bound_by_import(node: ast.AST) -> dict[str, str]:
    if isinstance(node, ast.Import):
        return {a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name: f"{node.module or ''}.{alias.name}" for alias in node.names}
    return {}


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """Return the full name of an imported object, such as torch.Tensor.tolist; "" for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join([names[node.id], *reversed(parts)])


@dataclass(frozen=True)
class _Reader:
    """Searches one submission. names: the imported names' full names. files: the names of its own modules."""

    look: Look
    names: dict[str, str]
    files: set[str]
    student: str

    def reasons(self, read: Source, lines: list[str], by_hand: bool) -> Iterator[tuple[int, str]]:
        """Yield (line, reason) for each suspicious line.

        by_hand: whether an answer that must not use autograd may use this cell.
        """
        yield from ((magic.line, MAGICS) for magic in read.magics if magic.name not in HARMLESS)
        if read.tree is None:
            for number, line in enumerate(lines, 1):
                yield from ((number, why) for why in self.in_text(line))
                if read.unread:
                    yield number, UNREAD
            return
        nodes = list(ast.walk(read.tree))
        functions = {n.name for n in nodes if isinstance(n, (*_FUNCTION, ast.ClassDef))}
        own = functions | {n.arg for n in nodes if isinstance(n, ast.arg)}
        own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        prose = {id(n.value) for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}
        called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
        visitor = _Visitor(self, own, by_hand or bool(functions & self.look.by_hand), called)
        for node in nodes:  # instead of the visitor's own recursion: a tree may be deeper than Python's stack
            if id(node) not in prose:
                yield from ((node.lineno, why) for why in visitor.visit(node) if why)
        yield from self._rebound(read.tree)

    def in_module(self, home: str) -> Iterator[str]:
        """Yield reasons why an imported object is suspicious, by its full name."""
        if not _starts(home, self.look.free):
            yield from (why for why, pattern in _MODULES if pattern.fullmatch(home))
            if home.startswith("gradlab."):
                yield _GRADLAB

    def in_string(self, text: str) -> Iterator[str]:
        """Yield reasons why a string is suspicious."""
        yield from (why for why, pattern in _TEXTS if pattern.search(text))
        if "/" in text and self.look.students.intersection(text.split("/")) - {self.student}:
            yield _OTHERS

    def in_text(self, line: str) -> Iterator[str]:
        """Yield reasons why a line that is not Python is suspicious."""
        if _MAGIC.match(line):
            yield MAGICS
        for word in re.findall(r"[\w.]+", line):
            yield from filter(None, map(_WORDS.get, word.split(".")))
            yield from self.in_module(word)
        for text in re.findall(r"'([^']*)'", line) + re.findall(r'"([^"]*)"', line):
            yield from self.in_string(text)

    def _rebound(self, tree: ast.Module) -> Iterator[tuple[int, str]]:
        """Yield (line, reason) for lines that rebind a name used by checks, at the top level or through `global`."""
        todo: list[ast.AST] = [tree]
        while todo:
            node = todo.pop()
            bound = [name for name, home in _bound_by_import(node).items() if self.look.kept.get(name) != home]
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.append(node.id)
            elif isinstance(node, (*_FUNCTION, ast.ClassDef, ast.Lambda)):
                bound += [] if isinstance(node, ast.Lambda) else [node.name]
                bound += [name for n in ast.walk(node) if isinstance(n, ast.Global) for name in n.names]
            if not isinstance(node, (*_FUNCTION, ast.ClassDef, ast.Lambda)):
                todo += ast.iter_child_nodes(node)
            yield from ((node.lineno, REBOUND) for name in bound if name in self.look.kept)


@dataclass(frozen=True)
class _Visitor(ast.NodeVisitor):
    """A visitor whose `visit` yields reasons why a node of a source is suspicious.

    own: names defined in the source. by_hand: whether a function that must not use autograd may use this source.
    called: the nodes that are called.
    """

    reader: _Reader
    own: set[str]
    by_hand: bool
    called: set[int]

    def generic_visit(self, node: ast.AST) -> tuple:
        """Return no reasons, without visiting child nodes."""
        return ()

    def visit_Name(self, node: ast.Name) -> Iterator[str | None]:
        yield _WORDS.get(node.id) or (None if node.id in self.own else _BUILTINS.get(node.id))
        if node.id not in self.own:
            yield from self._beside(node.id)
            yield _COMPUTED if self.by_hand and node.id == "getattr" and id(node) not in self.called else None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Iterator[str | None]:
        yield _WORDS.get(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Constant(self, node: ast.Constant) -> Iterator[str | None]:
        if isinstance(node.value, str):
            yield _WORDS.get(node.value)
            yield from self.reader.in_string(node.value)
        elif isinstance(node.value, bytes) and len(node.value) >= 160:
            yield _BLOB

    def visit_Attribute(self, node: ast.Attribute) -> Iterator[str | None]:
        yield _WORDS.get(node.attr)
        home = _dotted(node, self.reader.names)
        yield from self.reader.in_module(home)
        yield from self._beside(home or node.attr)
        if node.attr == "requires_grad" and not isinstance(node.ctx, ast.Load):
            yield from self._beside("requires_grad_")
        if node.attr == "__dict__" and home:
            yield _COMPUTED
        if not isinstance(node.ctx, ast.Load) and (self._is_module(node.value) or _is_of_a_class(node.value)):
            yield None if _starts(home, _SETTINGS) else PATCHED

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        module, look = getattr(node, "module", None), self.reader.look
        for alias in node.names:
            home = f"{module}.{alias.name}" if module else alias.name
            yield from self.reader.in_module(home)
            yield from filter(None, map(_WORDS.get, home.split(".")))
            yield from self._beside(home)
            if look.by_hand and (home.split(".")[0] in self.reader.files or home == "torch.*"):
                yield UNSEARCHED

    visit_ImportFrom = visit_Import

    def visit_keyword(self, node: ast.keyword) -> Iterator[str]:
        if node.arg == "requires_grad" and not (isinstance(node.value, ast.Constant) and not node.value.value):
            yield from self._beside("requires_grad_")

    def visit_Call(self, node: ast.Call) -> Iterator[str]:
        if not isinstance(node.func, ast.Name):
            return
        called, arguments = node.func.id, node.args
        home = _dotted(arguments[0], self.reader.names) if arguments else ""
        if called in ("setattr", "delattr") and arguments and (home or _is_of_a_class(arguments[0])):
            yield PATCHED
        elif called in ("vars", "dir") and (home or not arguments):
            yield _COMPUTED
        elif called in ("getattr", "setattr", "delattr") and len(arguments) > 1:
            name = arguments[1]
            pieces = isinstance(name, ast.BinOp | ast.Call | ast.Subscript)
            if not isinstance(name, ast.Constant) and (pieces or home or self.by_hand):
                yield _COMPUTED

    def _beside(self, name: str) -> Iterator[str]:
        """Yield reasons why a name is suspicious near an exercise that forbids autograd."""
        yield from (why for why, pattern in _BY_HAND if self.by_hand and pattern.fullmatch(name))

    def _is_module(self, node: ast.expr) -> bool:
        """Return whether an expression is imported; names redefined in the source count only if the checks use them."""
        home = _dotted(node, self.reader.names)
        while isinstance(node, ast.Attribute):
            node = node.value
        return bool(home) and (node.id not in self.own or _starts(home, _USED_BY_CHECKS))


_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def _is_of_a_class(node: ast.expr) -> bool:
    """Return whether an expression is type(x) or x.__class__, whose attributes affect more than x."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
    return called or (isinstance(node, ast.Attribute) and node.attr == "__class__")
