"""Hold back what an answer prints and displays until the verdict, and cut it to a readable length."""

import contextlib
import sys
import warnings
from collections.abc import Iterator

from IPython.utils.capture import CapturedIO, capture_output

from ..words import ngettext

MOST = 2_000  # maximum number of characters shown
MOST_SHOWN = 10  # maximum number of displays shown


class Printed:
    """What a block printed and displayed."""

    def __init__(self, captured: CapturedIO):
        self._captured = captured

    @property
    def text(self) -> str:
        """The beginning of the printed text, and the number of characters left out."""
        text = self._captured.stdout + self._captured.stderr
        left_out = ngettext("… and {count:,} more character", "… and {count:,} more characters", len(text) - MOST)
        return text[:MOST].rstrip("\n") + (f"\n{left_out}" if len(text) > MOST else "")

    def show_displayed(self) -> None:
        """Show the first displays that were held back, and say how many were left out."""
        displayed = self._captured.outputs
        for output in displayed[:MOST_SHOWN]:
            output.display()
        left_out = len(displayed) - MOST_SHOWN
        if left_out > 0:
            print(ngettext("… and {count:,} more display", "… and {count:,} more displays", left_out))


@contextlib.contextmanager
def held_back() -> Iterator[Printed]:
    """Hold back everything printed and displayed in the block, and show each warning once, without a cell's path."""
    with capture_output() as captured:
        with warnings.catch_warnings(record=True) as caught:
            yield Printed(captured)
        for text in dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught):
            print(text, file=sys.stderr)
