"""Keep what others log readable: without control characters, and without warnings that need no action."""

import logging
import traceback
import warnings

from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning

from .steps.files import readable


class TextRecord(logging.LogRecord):
    """A log record without control characters, which a terminal would interpret."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.exc_info:
            self.exc_text = _text("".join(traceback.format_exception(*self.exc_info)).rstrip("\n"))

    def getMessage(self) -> str:
        """Return the message for a handler. Line breaks are harmless: nbgrader indents all lines but the first."""
        return _text(super().getMessage())


def _text(message: str) -> str:
    return "\n".join(map(readable, message.split("\n")))


def ignore_cell_ids() -> None:
    """Ignore warnings about missing or repeated cell ids, which nbformat repairs and grading does not need."""
    for kind in (MissingIDFieldWarning, DuplicateCellId):
        warnings.filterwarnings("ignore", category=kind)


def log_text() -> None:
    """Make all loggers of this process create TextRecords: nbgrader quotes names from submissions verbatim."""
    logging.setLogRecordFactory(TextRecord)
