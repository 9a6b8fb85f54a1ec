"""Track the session's cells: which definitions in memory differ from those in the notebook.

A cell that fails leaves the functions of its earlier version in memory, and a check would judge those. IPython
reports each cell with two events. Before it runs, the session notes the objects that its names refer to; afterwards,
it notes whether the cell failed, and the new objects.

Memory and notebook are compared by their definitions, because many editors write no cell ids or different ones.
JupyterLab sends the notebook as it stands on the page before each check; other editors only save it.
"""

import ast
import inspect
import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from IPython import get_ipython

from .. import notebook
from ..returned import bound
from ..words import _
from . import source
from .reached import defined, definitions, globals_read


@dataclass
class Session:
    """What is known about the cells that ran. namespace: where they define their names.

    texts: for each name, the text of the cell that defined it last; homes: that cell's id; saved_at: when the notebook
    was last saved, as of that cell's end. failed: for each name that its cell has since failed to define, how it ended,
    in a sentence. page: the code cells as they stand on JupyterLab's page, while a check runs; None if they are
    unknown. ran_first: whether the page ran cells before this one that were not in memory as they stand.
    """

    namespace: dict[str, Any]
    texts: dict[str, str] = field(default_factory=dict)
    homes: dict[str, str | None] = field(default_factory=dict)
    saved_at: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    page: list[dict[str, Any]] | None = None
    alone: bool = False
    open: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    ran_first: bool = False
    _before: dict[str, Any] = field(default_factory=dict)

    def requested(self) -> None:
        """Note `page`, `alone` and `open` if this request brings them; for IPython's pre_execute event."""
        sent = _sent_along()
        self.page, self.alone = sent.get("page", self.page), sent.get("alone", self.alone)
        self.open = sent.get("open", self.open)

    def begins(self, info: Any) -> None:
        """Note the objects that a cell's names refer to before it runs; for IPython's pre_run_cell event."""
        cell = getattr(info, "cell_id", None)
        earlier = {name for name, home in self.homes.items() if cell is not None and home == cell}
        self._before = {name: self.namespace.get(name) for name in _bound(info.raw_cell or "") | earlier}

    def ended(self, result: Any) -> None:
        """Note which of a cell's names were redefined; for IPython's post_run_cell event."""
        info, before, self._before = result.info, self._before, {}
        first = _sent_along().get("ran_first")
        if first is None:
            self.ran_first, self.page, self.alone, self.open = False, None, False, {}
        if info is None:
            return
        text, cell = info.raw_cell or "", getattr(info, "cell_id", None)
        error, names = result.error_before_exec or result.error_in_exec, _bound(text)
        self.ran_first |= first is not None and any(self.texts.get(name) != text for name in names)
        for name in names | before.keys():
            earlier = before.get(name)  # None also for the cell that imports gradlab, whose begin was not noted
            if self.namespace.get(name) is not earlier or (error is None and name in names):
                self.texts[name], self.homes[name], self.saved_at[name] = text, cell, notebook.saved_at()
                self.failed.pop(name, None)
            elif error is not None and callable(earlier) and self.homes.get(name) in (None, cell):
                self.failed[name] = _ended_in(error)

    def give_back(self, *own: Callable | None) -> None:
        """Restore the learner's helpers whose names a check cell's own functions have taken."""
        for name in {getattr(function, "__name__", "") for function in own} & self._before.keys():
            if (helper := self._before.pop(name)) is not None:
                self.namespace[name] = helper

    def why_stale(
        self, answer: Any, name: str, used: Iterable[Any], cells: list[dict[str, Any]]
    ) -> tuple[str, str] | None:
        """Return (name, reason) for a definition in memory that differs from the notebook's; None if there is none.

        Looks at the answer, at what it reads, and at what the check's own functions, `used`, read. The reason is "" if
        no cell defines the name anymore. cells: see `holding`.
        """
        own = [name, *self._reached([answer])]
        for name in [*own, "check", *self._reached(used)]:
            held = self.holding(name, cells)
            if name in own and name in self.failed and not held:
                return name, self.failed[name]
            if held == [] and not any(name in definitions(cell["source"]) for cell in cells):
                return name, ""
            if held == [] and name in own:
                return name, _("the cell that defines it does not hold what ran last.")
        return None

    def holding(self, name: str, cells: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """Return the cells whose definition of a name is the one in memory; None if that cannot be known.

        cells: the notebook's code cells, from the page or else as last saved. What was saved before the definition ran
        says nothing about it.
        """
        ran = definitions(self.texts.get(name, "")).get(name)
        if not (ran and cells) or (self.page is None and self.saved_at[name] == notebook.saved_at()):
            return None
        return [cell for cell in cells if definitions(cell["source"]).get(name) == ran]

    def _reached(self, functions: Iterable[Any]) -> list[str]:
        """Return the names that cells have defined and that these functions, or functions they call, read."""
        return sorted(reads_all(functions, self.namespace) & self.texts.keys())


def _sent_along() -> dict[str, Any]:
    """Return the metadata of the request that the kernel is answering; an empty dict if there is no kernel."""
    kernel = getattr(get_ipython(), "kernel", None)
    return kernel.get_parent("shell").get("metadata", {}) if kernel is not None else {}


def _bound(text: str) -> set[str]:
    """Return the names that a cell defines; if it is not valid Python, those in lines that begin like a definition."""
    return bound(text) if source.read(text).tree is None else defined(text)


def reads(value: Any) -> set[str]:
    """Return the global names in the code of a function, or of a class's methods."""
    functions = [*vars(value).values()] if isinstance(value, type) else [value]
    return {
        name for function in functions if isinstance(function, FunctionType) for name in globals_read(function.__code__)
    }


def reads_all(functions: Iterable[Any], namespace: dict[str, Any], without: Container[str] = ()) -> set[str]:
    """Return the names that these functions of a notebook read, and those that they call.

    without: names of functions that are not followed. Functions of other modules read no names of the notebook.
    """
    names: set[str] = set()
    todo = [*functions]
    while todo:
        value = unwrapped(todo.pop())
        own = isinstance(value, FunctionType | type) and value.__module__ == namespace.get("__name__")
        if own and value.__qualname__.partition(".")[0] not in without:
            new = reads(value) - names
            names |= new
            todo += map(namespace.get, new)
    return names


def unwrapped(value: Any) -> Any:
    """Return the function that a decorated one wraps; any other value as it is."""
    return inspect.unwrap(value) if isinstance(value, FunctionType) else value


def _ended_in(error: BaseException) -> str:
    name = type(error).__name__
    if isinstance(error, SyntaxError) and error.lineno:
        # Translators: error: the name of a Python error
        name = _("{error} in line {line}", error=name, line=error.lineno)
    return _("the cell that defines it ended in an error: {error}.", error=name)


def missing_name(error: BaseException) -> str:
    """Return the name that a NameError could not find, "" for any other error."""
    match = re.match(r"name '(\w+)' is not defined", str(error)) if isinstance(error, NameError) else None
    return match[1] if match else ""


def called_checks(text: str) -> dict[str, str]:
    """Return the checks that a cell calls by a literal name: {"02.1 the gradient …": "pull_back"}.

    Each value is the name of the checked answer, "" if that is not a plain name.
    """
    tree = source.read(text).tree
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    checks = {}
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id == "check" and call.args:
            name, *rest = call.args
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                checks[name.value] = rest[0].id if rest and isinstance(rest[0], ast.Name) else ""
    return checks


def watched() -> Session | None:
    """Return the running shell's `Session`, which the first call creates; None if there is no shell."""
    shell = get_ipython()
    if shell is None:
        return None
    session = getattr(shell, "_gradlab_session", None)
    if session is None:
        session = shell._gradlab_session = Session(shell.user_ns)
        shell.events.register("pre_execute", session.requested)
        shell.events.register("pre_run_cell", session.begins)
        shell.events.register("post_run_cell", session.ended)
    return session
