"""Hold back what an answer prints and displays until the verdict, and cut it to a readable length."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from io import TextIOBase

from IPython.display import display

from ..captured import Publisher, displays_go_to
from ..words import ngettext

MOST = 2_000  # maximum number of characters kept
MOST_SHOWN = 10  # maximum number of displays kept


class Printed(TextIOBase):
    """A text stream that keeps the beginning of what is printed and counts the rest.

    displayed: MIME bundles, in order; past MOST_SHOWN, only their number is kept.
    """

    def __init__(self):
        self.kept, self.left_out = "", 0
        self.displayed: list[dict] = []

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        room = max(0, MOST - len(self.kept))
        self.kept += text[:room]
        self.left_out += len(text[room:])
        return len(text)

    @property
    def text(self) -> str:
        """The printed text that was kept, and the number of characters left out."""
        left_out = ngettext("… and {count:,} more character", "… and {count:,} more characters", self.left_out)
        return self.kept.rstrip("\n") + (f"\n{left_out}" if self.left_out else "")

    def show_displayed(self) -> None:
        """Show the displays that were held back, and say how many were left out."""
        for data in self.displayed[:MOST_SHOWN]:
            display(data, raw=True)
        left_out = len(self.displayed) - MOST_SHOWN
        if left_out > 0:
            print(ngettext("… and {count:,} more display", "… and {count:,} more displays", left_out))


class _FirstDisplays(Publisher):
    def publish(self, data, metadata=None, *arguments, **keywords):
        self._parts.append(data if len(self._parts) < MOST_SHOWN else {})


@contextlib.contextmanager
def held_back() -> Iterator[Printed]:
    """Hold back everything printed and displayed in the block, and show each warning once, without a cell's path."""
    printed = Printed()
    displays = displays_go_to(_FirstDisplays(printed.displayed))
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), displays:
        with warnings.catch_warnings(record=True) as caught:
            yield printed
        for text in dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught):
            print(text, file=sys.stderr)
