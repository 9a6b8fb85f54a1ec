"""Run a learner's code in a known state, and restore the earlier state afterwards."""

import contextlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator

_LIMIT = sys.getrecursionlimit()


@contextlib.contextmanager
def known_state() -> Iterator[Callable[[], list[str]]]:
    """Enter the state of a fresh process with seed 0, and restore the earlier state on exit, even after an error.

    The state is: a fixed recursion limit, fixed random states of Python, NumPy and torch, each warning shown once and
    never raised as an error, and what `torch_state` says. NumPy and torch count only if they have been imported.
    Yields a function that lists the settings that have changed since, as codes with what they are now. Random states
    and warnings do not count: any code may change them.
    """
    limit, state, numpy = sys.getrecursionlimit(), random.getstate(), sys.modules.get("numpy")
    numpy_state = numpy and numpy.random.get_state()

    def left_changed() -> list[str]:
        own = [f"recursion_limit:{sys.getrecursionlimit()}"] * (sys.getrecursionlimit() != _LIMIT)
        return torch_changed() + own

    with warnings.catch_warnings(), _torch_state() as torch_changed:
        try:
            warnings.simplefilter("default")
            sys.setrecursionlimit(_LIMIT)
            random.seed(0)
            if numpy:
                numpy.random.seed(0)
            yield left_changed
        finally:
            sys.setrecursionlimit(limit)
            random.setstate(state)
            if numpy:
                numpy.random.set_state(numpy_state)


def _torch_state() -> contextlib.AbstractContextManager[Callable[[], list[str]]]:
    """Return `torch_state`, or without torch a block in which nothing of it changes."""
    if not sys.modules.get("torch"):
        return contextlib.nullcontext(list)
    from .torch_state import torch_state

    return torch_state()
