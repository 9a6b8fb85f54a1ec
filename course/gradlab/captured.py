"""Capture the output of a block of code, to show it later, in a fold or in a widget."""

import base64
import contextlib
import html
import itertools
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
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
        self._capturing = contextlib.ExitStack()

    def start(self) -> "Captured":
        """Start capturing."""
        stdout, stderr = _Stream("stdout", self.parts, sys.stdout), _Stream("stderr", self.parts, sys.stderr)
        for each in (redirect_stdout(stdout), redirect_stderr(stderr), displays_go_to(Publisher(self.parts))):
            self._capturing.enter_context(each)
        return self

    def stop(self) -> None:
        """Stop capturing."""
        self._capturing.close()

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
        body = ""
        for kind, parts in itertools.groupby(self.parts, lambda part: part[0]):
            texts = [part for _, part in parts]
            body += "".join(_html(part, alt) for part in (texts if kind == "data" else ["".join(map(str, texts))]))
        return body

    def text(self) -> str:
        """Return everything captured as text."""
        texts = (part if isinstance(part, str) else part.get("text/plain", "") + "\n" for _, part in self.parts)
        return ANSI.sub("", "".join(texts)).rstrip("\n")


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


@contextlib.contextmanager
def displays_go_to(publisher: Publisher) -> Iterator[None]:
    """Inside the block, displays go to the publisher. Without a shell, do nothing: `display` then prints."""
    shell = get_ipython()
    if shell is None:
        yield
        return
    before, shell.display_pub = shell.display_pub, publisher
    try:
        yield
    finally:
        shell.display_pub = before


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
