"""Capture the output of a block of code, to show it later, in a fold or in a widget."""

import base64
import html
import re
import sys
from io import TextIOBase
from typing import TextIO

from IPython import get_ipython
from IPython.core.displaypub import DisplayPublisher
from IPython.display import display

ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Captured:
    """Capture stdout, stderr and displays, in order, between `start` and `stop`. `parts` holds them.

    A part is ("stdout" or "stderr", text) or ("data", mimebundle).
    """

    def __init__(self):
        self.parts: list[tuple[str, str | dict]] = []
        self._before = None

    def start(self) -> "Captured":
        """Start capturing."""
        shell = get_ipython()
        self._before = sys.stdout, sys.stderr, shell, shell and shell.display_pub
        sys.stdout, sys.stderr = (_Stream(name, self.parts, getattr(sys, name)) for name in ("stdout", "stderr"))
        if shell is not None:
            shell.display_pub = Publisher(self.parts)
        return self

    def stop(self) -> None:
        """Stop capturing; may be called twice."""
        if self._before is None:
            return
        sys.stdout, sys.stderr, shell, publisher = self._before
        self._before = None
        if shell is not None:
            shell.display_pub = publisher

    def add(self, value) -> None:
        """Append a value, formatted as a notebook would show it."""
        shell = get_ipython()
        if isinstance(value, str) or shell is None:
            self.parts.append(("stdout", f"{value}\n"))
            return
        data, _ = shell.display_formatter.format(value)
        self.parts.append(("data", data or value._repr_mimebundle_()))

    def replay(self) -> None:
        """Show everything captured, as it would have appeared without capturing."""
        for kind, part in self.parts:
            if kind == "data":
                display(part, raw=True)
            else:
                getattr(sys, kind).write(part)

    def html(self, alt: str = "") -> str:
        """Return everything captured as HTML. alt: the alternative text for pictures without a description."""
        return "".join(_html(part, alt) for _, part in self._joined())

    def text(self) -> str:
        """Return everything captured as text."""
        texts = (part if isinstance(part, str) else part.get("text/plain", "") + "\n" for _, part in self.parts)
        return ANSI.sub("", "".join(texts)).rstrip("\n")

    def _joined(self):
        joined = []
        for kind, part in self.parts:
            if joined and kind != "data" and joined[-1][0] == kind:
                joined[-1] = (kind, joined[-1][1] + part)
            else:
                joined.append((kind, part))
        return joined


class _Stream(TextIOBase):
    def __init__(self, name: str, parts: list, before: TextIO):
        self.name, self._parts, self.before = name, parts, before

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._parts.append((self.name, text))
        return len(text)


class Publisher(DisplayPublisher):
    """A display publisher that appends everything displayed to a list of parts."""

    def __init__(self, parts: list):
        super().__init__()
        self._parts = parts

    def publish(self, data, metadata=None, *arguments, **keywords):
        self._parts.append(("data", data))

    def clear_output(self, wait=False):
        """Do nothing: lesson output is never cleared."""


def _html(part: str | dict, alt: str) -> str:
    if isinstance(part, str):
        return f"<pre>{html.escape(ANSI.sub('', part).rstrip())}</pre>"
    for mime in ("text/html", "image/svg+xml"):
        if mime in part:
            return part[mime]
    if "image/png" in part:
        image = part["image/png"]
        encoded = base64.b64encode(image).decode() if isinstance(image, bytes) else image.replace("\n", "")
        return f'<img alt="{html.escape(alt)}" style="max-width:100%" src="data:image/png;base64,{encoded}">'
    return f"<pre>{html.escape(ANSI.sub('', part.get('text/plain', '')))}</pre>"
