"""The switch that decides whether operations are recorded: `no_grad` and its relatives."""

import functools
import inspect


class _State:
    """The only place that stores the current mode (torch stores one per thread)."""

    grad = True  # whether operations are recorded


state = _State()


def is_grad_enabled():
    """Return whether operations are being recorded."""
    return state.grad


class set_grad_enabled:
    """Turn recording on or off immediately; with `with`, the earlier mode is restored at the end, even after an error.

    It can also decorate a function, and then holds for every call of it.
    """

    def __init__(self, mode):
        self._before = state.grad
        self.mode = state.grad = bool(mode)

    def __enter__(self):
        state.grad = self.mode

    def __exit__(self, *error):
        state.grad = self._before

    def __call__(self, function):
        state.grad = self._before
        return _decorated(function, self.mode)


class _Mode:
    """A fixed mode, entered with `with`, or by decorating a function: `@no_grad()` or `@no_grad`."""

    def __new__(cls, function=None):
        return super().__new__(cls) if function is None else _decorated(function, cls.mode)

    def __enter__(self):
        self._before, state.grad = state.grad, self.mode

    def __exit__(self, *error):
        state.grad = self._before

    def __call__(self, function):
        return _decorated(function, self.mode)


class no_grad(_Mode):
    """Turn recording off: results of operations have `requires_grad=False`."""

    mode = False


class enable_grad(_Mode):
    """Turn recording on, inside `no_grad`."""

    mode = True


def _decorated(function, mode):
    """Return `function` wrapped so that every call runs in `mode`."""
    if inspect.isclass(function) or inspect.isgeneratorfunction(function):
        raise TypeError(
            f"a mode of the mini engine decorates functions, and {function.__name__} is a "
            f"{'class' if inspect.isclass(function) else 'generator function'}; use a with statement inside it"
        )

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        with set_grad_enabled(mode):
            return function(*args, **kwargs)

    return wrapped
