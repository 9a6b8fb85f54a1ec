"""The switches that decide whether operations are recorded: `no_grad` and its relatives."""

import functools
import inspect
import warnings

CLASSES = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
    "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
    "and nothing else."
)


class _State:
    """The only place that stores the current mode (torch stores one per thread)."""

    def set(self, enabled, inference):
        self.enabled, self.inference = enabled, inference
        self.grad = enabled and not inference  # whether operations are recorded


state = _State()
state.set(True, False)


def is_grad_enabled():
    """Return whether operations are being recorded."""
    return state.enabled


def is_inference_mode_enabled():
    """Return whether inference mode is on."""
    return state.inference


class _Mode:
    """A mode entered with `with`, or by decorating a function or a generator function.

    Subclasses define the (grad, inference) pair to enter; the earlier pair is restored on exit, even after an error. A
    generator is in the mode only while it runs, not while its consumer does.
    """

    modes = (True, False)

    def __enter__(self):
        self._before = state.enabled, state.inference
        state.set(*self.modes)

    def __exit__(self, *error):
        state.set(*self._before)

    def clone(self):
        return type(self)()

    def __call__(self, function):
        """Return `function` wrapped so that every call runs in this mode."""
        if inspect.isclass(function):
            warnings.warn(CLASSES, FutureWarning, stacklevel=2)
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapped(*args, **kwargs):
                generator = function(*args, **kwargs)
                resume, value = generator.send, None
                try:
                    while True:
                        with self.clone():
                            produced = resume(value)
                        try:
                            resume, value = generator.send, (yield produced)
                        except GeneratorExit:
                            with self.clone():
                                generator.close()
                            raise
                        except BaseException as error:
                            resume, value = generator.throw, error
                except StopIteration as stop:
                    return stop.value
        else:

            @functools.wraps(function, updated=())
            def wrapped(*args, **kwargs):
                with self.clone():
                    return function(*args, **kwargs)

        return wrapped


class _PlainMode(_Mode):
    """A mode without arguments, which can decorate without parentheses: `@no_grad`."""

    def __new__(cls, function=None):
        mode = super().__new__(cls)
        return mode if function is None else mode(function)


class no_grad(_PlainMode):
    """Turn recording off: results of operations have `requires_grad=False`."""

    @property
    def modes(self):
        return False, state.inference


class enable_grad(_PlainMode):
    """Turn recording on, inside `no_grad`. It has no effect inside `inference_mode`."""

    @property
    def modes(self):
        return True, state.inference


class set_grad_enabled(_Mode):
    """Turn recording on or off immediately; with `with`, the earlier mode is restored at the end."""

    def __init__(self, mode):
        self._before = state.enabled, state.inference
        self.mode = bool(mode)
        state.set(self.mode, state.inference)

    def __enter__(self):
        state.set(self.mode, state.inference)

    def __call__(self, function):
        state.set(*self._before)
        return super().__call__(function)

    def clone(self):
        return type(self)(self.mode)


class inference_mode(_Mode):
    """Turn recording off permanently: tensors made inside can never be in a graph. mode=False turns recording on."""

    def __new__(cls, mode=True):
        created = super().__new__(cls)
        if callable(mode):
            created.mode = True
            return created(mode)
        return created

    def __init__(self, mode=True):
        self.mode = mode

    @property
    def modes(self):
        return not self.mode, bool(self.mode)

    def clone(self):
        return type(self)(self.mode)
