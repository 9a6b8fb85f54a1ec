"""Change a tensor in place, and update the graph if it is a view or has views.

An in-place operation runs the ordinary operation on the tensor's old value. The result then replaces the tensor's
value, and its edge replaces the tensor's edge in the graph. If the tensor is a view, the memory belongs to its base, so
the base gets the node `CopySlices`, and each view is derived from the base again when its history is next needed.
"""

import numpy as np

from ..core.modes import enable_grad, no_grad, state
from ..core.node import Node
from ..core.saved import SavedOutput, save
from ..core.tensor import Tensor, make
from .elementwise import keep, raw
from .shaping import put, take

VIEW_FUNCTION = (
    "Output {number} of {name} is a view and {what} modified inplace. This view was created inside a custom Function "
    "(or because an input was returned as-is) and the autograd logic to handle view+inplace would override the custom "
    "backward associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can "
    "fix this by cloning the output of the custom Function."
)
VIEW_NO_GRAD = (
    "A view was created in no_grad mode and {what} modified inplace with grad mode enabled. Given that this use case "
    "is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace "
    "either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want "
    "the inplace to be tracked)."
)
ON_VIEWS = {"function": VIEW_FUNCTION, "no_grad": VIEW_NO_GRAD}
OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation."
)


def inplace(call, target, *args):
    """Run `call(target, *args)` in place and return `target`."""
    recorded = state.grad and (target.requires_grad or any(isinstance(a, Tensor) and a.requires_grad for a in args))
    check_inplace(target, recorded)
    if not recorded:
        arrays = [raw(arg) for arg in args]
        if call.into and _alike(arrays[0], target._data):
            call.into(target._data, *arrays)
            target._bump()
            return target
        with no_grad():
            write(target, call(target, *args)._data)
        return target
    if target._base is not None:
        target._follow_base()
    old = make(target._data.copy())
    old._requires_grad, old._edge = target._requires_grad, target._edge
    result = call(old, *args)
    write(target, result._data)
    node = result._edge[0]
    node.saved = [save(target, 0) if type(value) is SavedOutput else (value, version) for value, version in node.saved]
    rebase(target, node)
    return target


def _alike(value, array):
    return isinstance(value, np.ndarray) and value.shape == array.shape and value.dtype is array.dtype


def check_inplace(target, recorded):
    """Raise torch's error for a forbidden in-place change, before anything has changed."""
    if not recorded:
        return
    if target._base is not None:
        if target._view_kind in ON_VIEWS:
            refuse_view(target, "is being")
        if target.requires_grad and target._base.is_leaf:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if target.requires_grad and target.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def refuse_view(view, what):
    """Raise torch's error for a view of a kind that must not change, directly or through its base."""
    name = view._edge[0].name().rpartition("Backward")[0] if view._edge else ""
    raise RuntimeError(ON_VIEWS[view._view_kind].format(number=view.output_nr, name=name, what=what))


def write(target, array):
    """Write `array` to the memory of `target`, and count the change."""
    mine = target._data
    if array.shape != mine.shape:
        raise RuntimeError(
            f"output with shape {list(mine.shape)} doesn't match the broadcast shape {list(array.shape)}"
        )
    if "biuf".index(array.dtype.kind) > "biuf".index(mine.dtype.kind):
        names = [make(a)._type_name().removesuffix("Tensor") for a in (array, mine)]
        raise RuntimeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}")
    if not mine.flags.writeable:
        raise RuntimeError(OVERLAP)
    mine[...] = array
    target._bump()


def rebase(target, node, number=0):
    """Record `target`, which the operation of `node` just changed, as that node's output `number`."""
    base = target._base
    if base is None:
        target._edge, target._requires_grad = (node, number), True
        if target.retains_grad:
            target._attach_retain()
        return
    base._edge = (CopySlices(base, target, node), 0)
    base._requires_grad = True
    if base.retains_grad:
        base._attach_retain()
    follow_base(target)


def positions(view):
    """Return, in the shape of `view`, the index of each element in the flattened base.

    They are found by taking the same view of the numbers 0, 1, 2, …
    """
    base = view._base
    numbers = np.empty_like(base._data, np.intp)  # with the base's memory layout, so that every view of it is possible
    numbers[...] = np.arange(numbers.size).reshape(numbers.shape)
    for forward, parameters in view._views:
        numbers = forward(numbers, *parameters)
    return numbers


def follow_base(view):
    """Update a view's edge in the graph if its base has changed."""
    base = view._base
    if not base._requires_grad:
        return
    view._requires_grad = True
    if view._view_version == view._version_cell[0]:
        return
    if view._view_kind in ON_VIEWS:
        refuse_view(view, "its base or another view of its base has been")
    view._view_version = view._version_cell[0]
    with enable_grad():
        view._edge = take(base, positions(view))._edge
    if view.retains_grad:
        view._attach_retain()


Tensor._follow_base = follow_base


class CopySlices(Node):
    """A base tensor's node after an in-place operation (node `inner`) changed one of its views."""

    def __init__(self, base, view, inner):
        super().__init__()
        self.inner, self.positions = inner, positions(view)
        self.outputs = ((base._data.shape, base._data.dtype),)
        self.next_functions = (base._edge_or_leaf(), *inner.next_functions[1:])

    def run(self, gradients, needs):
        grad = gradients[0]
        if grad is None:
            return [None] * len(self.next_functions)
        shape, _ = self.outputs[0]
        to_view, *others = self.inner.run([take(grad, self.positions)], needs)
        untouched = np.ones(shape, bool)
        untouched.reshape(-1)[self.positions] = False
        to_base = keep(grad, untouched)
        if to_view is not None:
            to_base = to_base + put(self.inner.conform(to_view, 0, self), self.positions, shape)
        return [to_base, *others]

    def release(self):
        self.inner.release()
