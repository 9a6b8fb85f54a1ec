"""Interrupts: a signal ends a run between two submissions, and waits while one is being written."""

import contextlib
import signal
from collections.abc import Iterator

_deferred: list[int] | None = None  # signals that came while nothing may be interrupted


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGTERM end a run as Ctrl-C does, and both wait while a submission is being written."""

    def interrupt(number: int, frame: object) -> None:
        if _deferred is None:
            raise KeyboardInterrupt
        _deferred.append(number)

    try:
        before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread, where there are no signals
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a signal wait until the end of the block; blocks may lie in each other."""
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
