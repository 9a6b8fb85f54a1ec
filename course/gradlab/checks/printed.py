"""What an answer prints while it is checked: kept back until the verdict has been given, and no more than is read."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from io import TextIOBase

MOST = 2_000  # characters that are kept


class Printed(TextIOBase):
    """Takes what is printed, keeps the beginning, and counts the rest."""

    def __init__(self):
        self.kept, self.left_out = "", 0

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


@contextlib.contextmanager
def kept_back() -> Iterator[Printed]:
    """Keep back what is printed in the block, and each warning once, without the path of a cell."""
    printed = Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        with warnings.catch_warnings(record=True) as caught:
            yield printed
        for text in dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught):
            print(text, file=sys.stderr)
