"""What an answer prints and displays while it is checked: kept back until the verdict, no more than is read."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from io import TextIOBase

from IPython import get_ipython
from IPython.display import display

from ..captured import Publisher

MOST = 2_000  # characters that are kept
MOST_SHOWN = 10  # displays that are kept


class Printed(TextIOBase):
    """Takes what is printed, keeps the beginning, and counts the rest.

    displayed: what was displayed, by MIME type; of what comes past MOST_SHOWN nothing is kept but that it was there.
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
        """What was kept, and how much was left out."""
        rest = f"\n… and {self.left_out:,} characters more" if self.left_out else ""
        return self.kept.rstrip("\n") + rest

    def show_displayed(self) -> None:
        """Display what was kept back, and say how much was left out."""
        for data in self.displayed[:MOST_SHOWN]:
            display(data, raw=True)
        if len(self.displayed) > MOST_SHOWN:
            print(f"… and {len(self.displayed) - MOST_SHOWN:,} displays more")


class _FirstDisplays(Publisher):
    def publish(self, data, metadata=None, *arguments, **keywords):
        self._parts.append(data if len(self._parts) < MOST_SHOWN else {})


@contextlib.contextmanager
def _displays_into(parts: list[dict]) -> Iterator[None]:
    """Let a shell put what is displayed into a list; without a shell, displaying is printing."""
    shell = get_ipython()
    if shell is None:
        yield
        return
    before, shell.display_pub = shell.display_pub, _FirstDisplays(parts)
    try:
        yield
    finally:
        shell.display_pub = before


@contextlib.contextmanager
def kept_back() -> Iterator[Printed]:
    """Keep back what is printed and displayed in the block, and each warning once, without the path of a cell."""
    printed = Printed()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        _displays_into(printed.displayed),
    ):
        with warnings.catch_warnings(record=True) as caught:
            yield printed
        for text in dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught):
            print(text, file=sys.stderr)
