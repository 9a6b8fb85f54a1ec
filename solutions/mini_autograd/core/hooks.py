"""The handle that a hook is removed with."""

import weakref
from collections import OrderedDict


class RemovableHandle:
    """What every `register_…hook` returns; `remove()` takes the hook away, and may be called twice.

    The handle refers weakly to the hooks, so keeping it keeps nothing else alive. In a `with` statement the hook is
    removed at the end.
    """

    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=()):
        extra = extra_dict if isinstance(extra_dict, (list, tuple)) else (extra_dict,)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self._dicts = [weakref.ref(hooks) for hooks in (hooks_dict, *extra)]

    def remove(self):
        for reference in self._dicts:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def add_hook(hooks, hook):
    """Append `hook` to the ordered dict `hooks` and return its handle."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def new_hooks():
    """Return an empty ordered dict of hooks (a plain dict cannot be referred to weakly)."""
    return OrderedDict()
