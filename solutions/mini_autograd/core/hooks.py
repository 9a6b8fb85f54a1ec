"""The handle that removes a hook."""

import weakref
from collections import OrderedDict


class RemovableHandle:
    """The result of every `register_…hook`; `remove()` unregisters the hook and may be called twice.

    The handle refers to the hooks weakly, so it keeps nothing alive. At the end of a `with` statement the hook is
    removed.
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
    """Return an empty ordered dict of hooks (a plain dict does not support weak references)."""
    return OrderedDict()
