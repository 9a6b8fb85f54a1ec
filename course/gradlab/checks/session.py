"""What the session's cells did: which definitions in memory are not those that stand on the page.

A cell that fails leaves the functions of its earlier version behind, and a check would judge those. Two of IPython's
events tell of each cell: before it runs, what its names mean; afterwards, whether it failed, and what they mean now.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from IPython import get_ipython

from .. import notebook
from . import source
from .reached import defined

_BINDS = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_MISSING = None  # what a name means that is not defined: nothing that can be called


@dataclass
class Session:
    """What is known of the cells that ran. namespace: where they define their names.

    homes: for each name, the id of the cell that defined it last; texts: that cell's text; saved_at: when the notebook
    had been saved then. stale: for each name whose
    definition on the page is not in memory, why, in a sentence. ran_first: the names of the cells that the page ran of
    its own accord before the cell that runs now, because they had been edited.
    """

    namespace: dict[str, Any]
    homes: dict[str, str | None] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    saved_at: dict[str, int] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)
    ran_first: set[str] = field(default_factory=set)
    _before: dict[str, Any] = field(default_factory=dict)

    def begins(self, info: Any) -> None:
        """Note what the names of a cell mean before it runs; for IPython's event pre_run_cell."""
        self._before = {name: self.namespace.get(name, _MISSING) for name in self._names(info)}
        if _runs_first():
            self.ran_first |= self._before.keys()

    def ended(self, result: Any) -> None:
        """Note what has become of the names of a cell; for IPython's event post_run_cell."""
        info, before, self._before = result.info, self._before, {}
        if not _runs_first():
            self.ran_first.clear()
        if info is None:
            return
        text, cell = info.raw_cell or "", getattr(info, "cell_id", None)
        error = result.error_before_exec or result.error_in_exec
        here = _bound(text)
        renewed = {name for name in before if self.namespace.get(name, _MISSING) is not before[name]}
        for name in before:
            if name in renewed or (name in here and error is None):
                self.homes[name], self.texts[name], self.saved_at[name] = cell, text, notebook.saved_at()
                self.stale.pop(name, None)
            elif error is not None and callable(before[name]) and self.homes.get(name) in (None, cell):
                self.stale[name] = f"the cell that defines it ended in {_in_words(error)}."
            elif error is None:
                self.stale[name] = "the cell that defined it has since run without that definition."

    def give_back(self, *own: Callable | None) -> None:
        """Let the names of a check cell's own functions mean what they meant before the cell ran.

        A released check cell has names that nobody else uses. One of an older edition may have taken the name of a
        learner's helper, which the answer calls.
        """
        for name in {getattr(function, "__name__", "") for function in own} & self._before.keys():
            if self._before[name] is not _MISSING:
                self.namespace[name] = self._before.pop(name)

    def why_stale(self, answer: Any, name: str, saved: dict[str, str]) -> tuple[str, str] | None:
        """The name and the reason, if the answer of this name, or a function that it calls, is not the page's.

        saved: the texts of the cells by their ids, as the notebook was saved last.
        """
        todo, seen, now = [name], set(), notebook.saved_at()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self.stale:
                return name, self.stale[name]
            text = self.texts.get(name, "")
            if self.saved_at.get(name, now) != now and saved.get(self.homes[name], text).strip() != text.strip():
                return name, "its cell was edited and saved since it ran."
            value = self.namespace.get(name, answer)
            todo += [other for other in reads(value) if other in self.homes]
        return None

    def _names(self, info: Any) -> set[str]:
        """The names that a cell defines, and those that its earlier version did."""
        cell = getattr(info, "cell_id", None)
        before = {name for name, home in self.homes.items() if cell is not None and home == cell}
        return _bound(info.raw_cell or "") | before


def _runs_first() -> bool:
    """Whether the page says of the cell that runs that it does so before another one, as it was edited."""
    kernel = getattr(get_ipython(), "kernel", None)
    return kernel is not None and bool(kernel.get_parent("shell").get("metadata", {}).get("ran_first"))


def _bound(text: str) -> set[str]:
    """The names that a cell defines; of one that is no Python, those that begin a line as a definition does."""
    tree = source.read(text).tree
    if tree is not None:
        return defined(text)
    return {name for found in _BINDS.findall(text) for name in found if name}


def reads(value: Any) -> set[str]:
    """The global names in the code of a function, or of a class's methods."""
    functions = [*vars(value).values()] if isinstance(value, type) else [value]
    todo = [function.__code__ for function in functions if isinstance(function, FunctionType)]
    names: set[str] = set()
    while todo:
        code = todo.pop()
        names |= set(code.co_names)
        todo += [const for const in code.co_consts if isinstance(const, CodeType)]
    return names


def _in_words(error: BaseException) -> str:
    line = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
    kind = type(error).__name__
    return f"{'an' if kind[:1] in 'AEIOU' else 'a'} {kind}{line}"


def missing_name(error: BaseException) -> str:
    """The name that a NameError could not find, "" for any other error."""
    found = re.match(r"name '(\w+)' is not defined", str(error)) if isinstance(error, NameError) else None
    return found[1] if found else ""


def called_checks(text: str) -> dict[str, str]:
    """The checks that a cell calls, as far as their names are written out: {"02.1 the gradient …": "pull_back"}.

    With each the name of what it tries, "" where that is no name alone.
    """
    tree = source.read(text).tree
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    found = {}
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id == "check" and call.args:
            name, *rest = call.args
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                found[name.value] = rest[0].id if rest and isinstance(rest[0], ast.Name) else ""
    return found


def watched() -> Session | None:
    """The session of the shell that runs, watched from the first call on; None where there is no shell."""
    shell = get_ipython()
    if shell is None:
        return None
    session = getattr(shell, "_gradlab_session", None)
    if session is None:
        session = shell._gradlab_session = Session(shell.user_ns)
        shell.events.register("pre_run_cell", session.begins)
        shell.events.register("post_run_cell", session.ended)
    return session
