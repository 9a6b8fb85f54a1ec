"""Hooks on tensors, leaves and nodes. They receive and return Tensors, even if the engine works with arrays."""

import weakref
from collections import OrderedDict

import numpy as np

from .modes import state
from .tensor import Tensor, make


class RemovableHandle:
    """The result of every `register_…hook`; `remove()` unregisters the hook and may be called twice.

    The handle refers to the hooks weakly, so it keeps nothing alive (a plain dict does not support this). At the end of
    a `with` statement the hook is removed.
    """

    next_id = 0

    def __init__(self, hooks):
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self._hooks = weakref.ref(hooks)

    def remove(self):
        hooks = self._hooks()
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


class HookedNode:
    """The part of `Node` that registers hooks and calls them. A node calls the hooks of the tensors it made first."""

    __slots__ = ()

    tensor_hooks = None  # output index → hooks registered on that tensor
    retained = None  # output index → weak reference to the tensor that called `retain_grad`
    pre_hooks = post_hooks = None

    def register_hook(self, hook):
        """Call `hook(grad_inputs, grad_outputs)` after this node has run; a returned tuple replaces grad_inputs."""
        self.post_hooks = self.post_hooks or OrderedDict()
        self.hooked = True
        return add_hook(self.post_hooks, hook)

    def register_prehook(self, hook):
        """Call `hook(grad_outputs)` before this node runs; a returned tuple replaces grad_outputs."""
        self.pre_hooks = self.pre_hooks or OrderedDict()
        self.hooked = True
        return add_hook(self.pre_hooks, hook)

    def hooks_of(self, number):
        """Return the dict of hooks on output `number`, to which new hooks can be added."""
        self.hooked = True
        if self.tensor_hooks is None:
            self.tensor_hooks = {}
        return self.tensor_hooks.setdefault(number, OrderedDict())

    def run_hooked(self, gradients, needs):
        """Return the result of `run`, with all hooks called before and after it."""
        self.call_tensor_hooks(gradients)
        outer = tuple(wrap(gradient) for gradient in gradients)
        for hook in list((self.pre_hooks or {}).values()):
            outer = _replaced(hook, hook(outer), outer)
        gradients[:] = [unwrap(gradient) for gradient in outer]
        produced = self.run(gradients, needs)
        if not self.post_hooks:
            return produced
        inner = tuple(
            wrap(gradient if node is None or gradient is None else node.conform(gradient, number, self))
            for (node, number), gradient in zip(self.next_functions, produced, strict=True)
        )
        for hook in list(self.post_hooks.values()):
            inner = _replaced(hook, hook(inner, outer), inner)
        return [unwrap(gradient) for gradient in inner]

    def call_tensor_hooks(self, gradients):
        """Run the hooks of this node's output tensors on the list `gradients`, in place; then retain gradients."""
        for number, hooks in sorted((self.tensor_hooks or {}).items()):
            for hook in list(hooks.values()):
                gradient = wrap(gradients[number])
                result = hook(gradient)
                gradients[number] = unwrap(gradient if result is None else _checked(hook, result, gradient))
        for number, reference in (self.retained or {}).items():
            tensor = reference()
            if tensor is not None and gradients[number] is not None:
                tensor._retain(gradients[number])


def wrap(gradient):
    """Return `gradient`, an array inside the engine, as the Tensor that hooks and users receive."""
    return gradient if gradient is None or isinstance(gradient, Tensor) else make(np.asarray(gradient))


def unwrap(gradient):
    """Return a gradient in the engine's form: the array, or the Tensor itself if the pass is recorded."""
    return gradient if gradient is None or state.grad else gradient._data


def _name(hook):
    return getattr(hook, "__name__", "<unknown>")


def _checked(hook, result, gradient):
    """Return `result`, which `hook` returned, after checking that it can replace `gradient`."""
    if gradient is None and result is not None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if result is not None and not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    if gradient is not None and result is not None:
        if result._data.dtype != gradient._data.dtype:
            raise RuntimeError(
                f"hook '{_name(hook)}' has changed the type of value "
                f"(was torch.{gradient._type_name()} got torch.{result._type_name()})"
            )
        if result._data.shape != gradient._data.shape:
            raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    return result


def _replaced(hook, result, values):
    """Return the replacement for the gradients `values`: the tuple `result` from `hook`, or `values` if it is None."""
    if result is None:
        return values
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
    if len(result) != len(values):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got "
            f"{len(result)}, but expected {len(values)})"
        )
    return tuple(_checked(hook, new, value) for new, value in zip(result, values, strict=True))


# ----- on tensors -----


def _register_hook(self, hook):
    """Call `hook(grad)` each time this tensor's gradient is computed; a returned Tensor replaces it.

    The hook must not change its argument in place. Returns a `RemovableHandle`.
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    node, number = self._edge_or_leaf()
    hooks = node.hooks_of(number)
    if self.is_leaf:
        self._hooks = hooks  # the leaf's node may be freed and made again
    return add_hook(hooks, hook)


def _register_post_accumulate_grad_hook(self, hook):
    """Call `hook(tensor)` each time a gradient has been accumulated into this leaf's `grad`."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    self._post_accumulate = self._post_accumulate or OrderedDict()
    return add_hook(self._post_accumulate, hook)


def call_post_accumulate_hooks(leaf):
    """Call the hooks of `leaf`, whose `grad` has just changed; raise unless each returns None or its argument."""
    for hook in list((leaf._post_accumulate or {}).values()):
        result = hook(leaf)
        if isinstance(result, Tensor) and result is not leaf:
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        if not isinstance(result, Tensor) and result is not None:
            raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")


def _retain_grad(self):
    """Let backward set the `grad` of this tensor even though it is not a leaf."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if not self.is_leaf and not self.retains_grad:
        self.retains_grad = True
        self._attach_retain()


def _attach_retain(self):
    """Let only the node that made this tensor last set `grad`, not a node from before an in-place change."""
    if self._retained_by is not None:
        node, number = self._retained_by
        del node.retained[number]
    self._retained_by = node, number = self._edge
    node.retained = {**(node.retained or {}), number: weakref.ref(self)}
    node.hooked = True


def _retain(self, gradient):
    """Add `gradient` to `grad`, called by the node that made this tensor."""
    gradient = gradient.clone() if isinstance(gradient, Tensor) else make(np.array(gradient))
    self._grad = gradient if self._grad is None else self._grad + gradient


Tensor.register_hook = _register_hook
Tensor.register_post_accumulate_grad_hook = _register_post_accumulate_grad_hook
Tensor.retain_grad, Tensor._attach_retain, Tensor._retain = _retain_grad, _attach_retain, _retain
