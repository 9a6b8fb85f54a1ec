"""Interrupt a run between two submissions, never while one is being written."""

import contextlib
import signal
from collections.abc import Iterator

_deferred: list[int] | None = None  # signals received inside `uninterrupted`; None outside


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGTERM raise KeyboardInterrupt as Ctrl-C does, and defer both signals inside `uninterrupted`."""

    def interrupt(number: int, frame: object) -> None:
        if _deferred is None:
            raise KeyboardInterrupt
        _deferred.append(number)

    try:
        before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # only the main thread receives signals
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer signals until the end of the block, then raise KeyboardInterrupt; blocks may be nested."""
    global _deferred
    if _deferred is not None:
        yield
        return
    _deferred = []
    try:
        yield
    finally:
        came, _deferred = _deferred, None
        if came:
            raise KeyboardInterrupt
