"""The switch that decides whether operations are recorded: `no_grad` and its relatives."""


class _State:
    """The only place that stores the current mode (torch stores one per thread)."""

    grad = True  # whether operations are recorded


state = _State()


def is_grad_enabled():
    """Return whether operations are being recorded."""
    return state.grad


class set_grad_enabled:
    """Turn recording on or off at once; with `with`, the earlier mode is restored at the end, even after an error."""

    def __init__(self, mode):
        self._before = state.grad
        self.mode = state.grad = bool(mode)

    def __enter__(self):
        state.grad = self.mode

    def __exit__(self, *error):
        state.grad = self._before


class _Mode:
    """A fixed mode, entered with `with`."""

    def __enter__(self):
        self._before, state.grad = state.grad, self.mode

    def __exit__(self, *error):
        state.grad = self._before


class no_grad(_Mode):
    """Turn recording off: results of operations have `requires_grad=False`."""

    mode = False


class enable_grad(_Mode):
    """Turn recording on, inside `no_grad`."""

    mode = True
