"""Module hooks: on one module (`module.register_…_hook`) or on all (`register_module_…_hook`).

`HookedCall` calls a module with hooks in this order: forward pre hooks, `forward`, forward hooks; global hooks come
first. `BackwardHook` catches gradients with a node before and a node after the module.
"""

import warnings

from ...core.hooks import RemovableHandle, new_hooks
from ...core.tensor import Tensor
from .backward_hook import BackwardHook, register_legacy_hooks

BOTH_KINDS = (
    "Cannot use both regular backward hooks and full backward hooks {where} Module{hook}. Please use only one of them."
)


def register(hooks, hook, flags=(), prepend=False):
    """Add `hook` to `hooks` and return its handle; `flags` are pairs (dict, whether to list the hook in it)."""
    handle = RemovableHandle(hooks, extra_dict=[noted for noted, _ in flags])
    hooks[handle.id] = hook
    for noted, wanted in flags:
        if wanted:
            noted[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Hooked:
    """The part of `Module` that registers hooks and calls the module with them.

    Every registration returns a handle whose `remove()` unregisters the hook.
    """

    _is_full_backward_hook = None  # which kind of backward hook this module has, full or legacy

    def _init_hooks(self):
        for name in ("_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_pre_hooks"):
            self.__dict__[name] = new_hooks()
        for name in ("_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called"):
            self.__dict__[name] = new_hooks()

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call `hook(module, args)` before `forward`; a returned tuple or single value replaces args.

        with_kwargs: call `hook(module, args, kwargs)`, which may return a new (args, kwargs).
        """
        flags = [(self._forward_pre_hooks_with_kwargs, with_kwargs)]
        return register(self._forward_pre_hooks, hook, flags, prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call `hook(module, args, output)` after `forward`; a returned value replaces the output.

        with_kwargs: call `hook(module, args, kwargs, output)`. always_call: call it even if an error was raised.
        """
        flags = [(self._forward_hooks_with_kwargs, with_kwargs), (self._forward_hooks_always_called, always_call)]
        return register(self._forward_hooks, hook, flags, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call `hook(module, grad_output)` when the outputs' gradients are known; a returned tuple replaces them."""
        return register(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are known.

        Both gradients are tuples, with None for a non-tensor or an input without a gradient; a returned tuple
        replaces grad_input.
        """
        self._choose_backward_hooks(full=True)
        return register(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook):
        """Call `hook(module, grad_input, grad_output)` after the last node of the module's forward runs.

        Legacy: grad_input belongs to that node, not to the module. Use `register_full_backward_hook`.
        """
        self._choose_backward_hooks(full=False)
        return register(self._backward_hooks, hook)

    def _choose_backward_hooks(self, full):
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(BOTH_KINDS.format(where="on a single", hook=""))
        self._is_full_backward_hook = full

    def _get_backward_hooks(self):
        """Return the full backward hooks and the legacy ones; global hooks come first."""
        found = {True: [], False: [], None: []}
        found[every_module.is_full_backward_hook] += every_module.backward_hooks.values()
        found[self._is_full_backward_hook] += self._backward_hooks.values()
        return found[True], found[False]

    def __call__(self, *args, **kwargs):
        """Run `forward` with the hooks before and after it."""
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or every_module.has_hooks()
        ):
            return HookedCall(self, args, kwargs).run()
        return self.forward(*args, **kwargs)


class _EveryModule:
    """The global hooks, which are registered on all modules."""

    def __init__(self):
        self.forward_pre_hooks, self.forward_hooks = new_hooks(), new_hooks()
        self.backward_pre_hooks, self.backward_hooks = new_hooks(), new_hooks()
        self.with_kwargs, self.always_called = new_hooks(), new_hooks()
        self.is_full_backward_hook = None

    def has_hooks(self):
        return self.forward_hooks or self.forward_pre_hooks or self.backward_hooks or self.backward_pre_hooks

    def choose_backward_hooks(self, full):
        if self.is_full_backward_hook is (not full):
            raise RuntimeError(BOTH_KINDS.format(where="as a global", hook=" hook"))
        self.is_full_backward_hook = full


every_module = _EveryModule()


def register_module_forward_pre_hook(hook):
    """Call `hook(module, args)` before the forward of every module."""
    return register(every_module.forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call `hook(module, args, output)` after the forward of every module."""
    flags = [(every_module.with_kwargs, with_kwargs), (every_module.always_called, always_call)]
    return register(every_module.forward_hooks, hook, flags)


def register_module_full_backward_pre_hook(hook):
    """Call `hook(module, grad_output)` for every module when the gradients of its outputs are known."""
    return register(every_module.backward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """Call `hook(module, grad_input, grad_output)` for every module when the gradients of its inputs are known."""
    every_module.choose_backward_hooks(full=True)
    return register(every_module.backward_hooks, hook)


def register_module_backward_hook(hook):
    """Call `hook(module, grad_input, grad_output)` after every module's last node runs: the legacy form."""
    every_module.choose_backward_hooks(full=False)
    return register(every_module.backward_hooks, hook)


class HookedCall:
    """One call of a module that has hooks."""

    def __init__(self, module, args, kwargs):
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result = None
        self.called = set()  # hooks with `always_call` that have been called

    def run(self):
        """Run the call and return its result."""
        try:
            return self._run()
        except Exception:
            self._call_what_is_always_called()
            raise

    def _run(self):
        module = self.module
        pre_hooks = [*every_module.backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
        full_hooks, legacy_hooks = module._get_backward_hooks()
        self._call_forward_pre_hooks()
        backward = BackwardHook(module, full_hooks, pre_hooks) if full_hooks or pre_hooks else None
        if backward:
            self.args = backward.watch_inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        self._call_forward_hooks()
        if backward:
            if not isinstance(self.result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
                    f"but received {type(self.result)}",
                    stacklevel=4,
                )
            self.result = backward.watch_outputs(self.result)
        if legacy_hooks:
            register_legacy_hooks(legacy_hooks, module, self.args, self.result)
        return self.result

    def _call_forward_pre_hooks(self):
        module = self.module
        for number, hook in (*every_module.forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
            if number in module._forward_pre_hooks_with_kwargs:
                new = hook(module, self.args, self.kwargs)
                if new is None:
                    continue
                if not isinstance(new, tuple) or len(new) != 2:
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {new}."
                    )
                self.args, self.kwargs = new
            else:
                new = hook(module, self.args)
                if new is not None:
                    self.args = new if isinstance(new, tuple) else (new,)

    def _call_forward_hooks(self):
        module = self.module
        for number, hook in (*every_module.forward_hooks.items(), *module._forward_hooks.items()):
            if number in module._forward_hooks_always_called or number in every_module.always_called:
                self.called.add(number)
            self._call_forward_hook(
                hook, number in module._forward_hooks_with_kwargs or number in every_module.with_kwargs
            )

    def _call_forward_hook(self, hook, with_kwargs):
        keywords = (self.kwargs,) if with_kwargs else ()
        new = hook(self.module, self.args, *keywords, self.result)
        if new is not None:
            self.result = new

    def _call_what_is_always_called(self):
        """Call the remaining `always_call` hooks after an error; errors that they raise become warnings."""
        module = self.module
        waiting = [
            *((number, hook, "global module", False) for number, hook in every_module.forward_hooks.items()),
            *(
                (number, hook, "module", number in module._forward_hooks_with_kwargs)
                for number, hook in module._forward_hooks.items()
            ),
        ]
        always = {*every_module.always_called, *module._forward_hooks_always_called}
        for number, hook, kind, with_kwargs in waiting:
            if number not in always or number in self.called:
                continue
            try:
                self._call_forward_hook(hook, with_kwargs)
            except Exception as error:
                warnings.warn(
                    f"{kind} forward hook with ``always_call=True`` raised an exception "
                    f"that was silenced as another error was raised in forward: {error}",
                    stacklevel=4,
                )
