"""Names that a check lacks because a cell has not run since the kernel started: say which cell to run."""

from typing import Any

from IPython import get_ipython

from .. import notebook
from . import messages
from .card import show
from .cells import Chapter
from .messages import Feedback
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
    feedback = _cells_to_run(checks, name) if name and memory.authored is None and name not in shell.user_ns else None
    if feedback and checks:
        show(feedback)
        kind, error, trace = CheckFailed, CheckFailed(feedback.text), None
    elif feedback:
        error.add_note(feedback.lead)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _cells_to_run(checks: dict[str, str], name: str) -> Feedback | None:
    """Return feedback on which cells to run first to define `name`; None if no setup or answer cell defines it."""
    for title, answer in checks.items():
        if name == answer:
            return messages.answer_missing(title, name)
    known = Chapter(notebook.FOLDER).setup_names(running())
    return messages.setup_missing(next(iter(checks), ""), name) if name in known else None


if watched() is not None:
    get_ipython().set_custom_exc((NameError,), explain_missing)
