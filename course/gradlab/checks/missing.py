"""Names that a check lacks because a cell has not run since the kernel started: say which cell to run."""

from typing import Any

from IPython import get_ipython

from .. import notebook
from . import messages
from .card import show
from .cells import Chapter
from .results import memory
from .stale_cells import called_checks, missing_name, watched


class CheckFailed(AssertionError):
    """Raised by a check that does not pass. Its message addresses the learner; a terminal shows only the message."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def running() -> str:
    """Return the text of the running cell."""
    shell = get_ipython()
    return "".join(shell.user_ns.get("In", [])[-1:]) if shell is not None else ""


def explain_missing(shell: Any, kind: type, error: Exception, trace: Any, tb_offset: int | None = None) -> None:
    """Replace IPython's traceback if a check cell lacks its setup or its answer: say which cells to run.

    For any other cell, add this advice below the traceback if a setup cell defines the name.
    """
    name, checks = missing_name(error), called_checks(running())
    if name and name not in shell.user_ns and _is_in_a_cell_above(name, checks):
        feedback = messages.missing(next(iter(checks), ""), name)
        error.add_note(feedback.lead)
        if checks:
            show(feedback)
            kind, error, trace = CheckFailed, CheckFailed(feedback.text), None
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _is_in_a_cell_above(name: str, checks: dict[str, str]) -> bool:
    """Return whether a student's notebook defines the name in a setup cell, or in the answer to one of these checks."""
    is_answer = name in checks.values()
    return memory.authored is None and (is_answer or name in Chapter(notebook.FOLDER).setup_names(running()))


if watched() is not None:
    get_ipython().set_custom_exc((NameError,), explain_missing)
