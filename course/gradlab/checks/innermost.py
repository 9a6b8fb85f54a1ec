"""Where an error was raised."""

from types import TracebackType


def innermost(error: BaseException) -> TracebackType | None:
    """Return the last entry of an error's traceback, which is where it was raised; None if it never was."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace
