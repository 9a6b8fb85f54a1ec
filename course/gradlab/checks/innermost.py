"""Where an error was raised."""

from types import FrameType


def innermost(error: BaseException) -> FrameType | None:
    """Return the last frame of an error's traceback, which is where it was raised; None if it never was."""
    frame, trace = None, error.__traceback__
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
    return frame


def raised_in_torch(error: BaseException) -> bool:
    """Return whether torch's Python code raised an error."""
    frame = innermost(error)
    return frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "torch"
