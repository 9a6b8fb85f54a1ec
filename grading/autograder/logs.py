"""What is logged is shown as text: names that come from submissions stand in nbgrader's own messages as they are."""

import logging
import traceback

from .steps.files import readable


class TextRecord(logging.LogRecord):
    """A log record without control characters, which a terminal would obey, whoever logs and wherever it is shown."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.exc_info:
            self.exc_text = _text("".join(traceback.format_exception(*self.exc_info)).rstrip("\n"))

    def getMessage(self) -> str:
        """Called by whatever shows the record; nbgrader indents all lines but the first."""
        return _text(super().getMessage())


def _text(message: str) -> str:
    return "\n".join(map(readable, message.split("\n")))


def log_text() -> None:
    """Let all loggers of this process make such records from now on."""
    logging.setLogRecordFactory(TextRecord)
