"""Strip control characters from log records: nbgrader's messages quote names from submissions verbatim."""

import logging
import traceback

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


def log_text() -> None:
    """Make all loggers of this process create TextRecords from now on."""
    logging.setLogRecordFactory(TextRecord)
