"""The ends of paths through the graph: `AccumulateGrad` adds each incoming gradient to the leaf's `grad`."""

import sys
import weakref

import numpy as np

from .modes import state
from .node import Node
from .tensor import Tensor, make


class AccumulateGrad(Node):
    """The last node of a path: adds incoming gradients to `variable.grad`. A leaf refers to its accumulator weakly."""

    def __init__(self, variable):
        self.variable = variable
        self.next_functions = ()
        self.outputs = ((variable._data.shape, variable._data.dtype),)
        self.sequence_nr = float("inf")
        self.hooked = bool(variable._hooks)
        self.tensor_hooks = variable._hooks and {0: variable._hooks}

    def run(self, gradients, needs):
        variable = self.variable
        if variable._edge is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if gradients[0] is not None and variable._requires_grad:
            accumulate(variable, gradients)
            if variable._post_accumulate:
                for hook in list(variable._post_accumulate.values()):
                    _check_nothing(hook(variable), variable)
        return ()


def accumulate(leaf, gradients):
    """Add `gradients[0]` to the `grad` of `leaf`."""
    if leaf._grad is None:
        leaf._grad = _copy_or_keep(leaf, gradients)
    elif state.grad:
        leaf._grad = leaf._grad + gradients[0]
    else:
        leaf._grad._data += gradients[0]
        leaf._grad._bump()


def accumulator(leaf):
    """Return the AccumulateGrad node of `leaf`, made when first needed and kept alive by the graphs that use it."""
    node = leaf._accumulator and leaf._accumulator()
    if node is None:
        node = AccumulateGrad(leaf)
        leaf._accumulator = weakref.ref(node)
    return node


def edge_or_leaf(tensor):
    """Return the edge along which a tensor's gradient travels: to its node, or to its accumulator."""
    if tensor._base is not None:
        tensor._follow_base()
    if not tensor._requires_grad:
        return (None, 0)
    return tensor._edge or (accumulator(tensor), 0)


Tensor._edge_or_leaf = edge_or_leaf


# You may stop here on first reading. Below: when the first gradient is copied into `grad`, and what hooks may return.


def _copy_or_keep(leaf, gradients):
    """Return `gradients[0]` as a Tensor: with the same array if nothing else refers to it, else with a copy."""
    if state.grad:
        return make(np.empty_like(leaf._data, gradients[0]._data.dtype)).copy_(gradients[0])  # recorded, as in torch
    if owned(gradients):
        return make(gradients[0])
    copied = make(np.array(gradients[0]))
    copied._bump()
    return copied


def owned(gradients):
    """Return whether only the list `gradients` holds the array `gradients[0]`, so that it need not be copied.

    torch checks a gradient's reference count in the same way before a leaf takes it over.
    """
    array = gradients[0]
    if type(array) is not np.ndarray or sys.getrefcount(array) != ALONE:
        return False
    memory = array.base
    # A view of a whole array to which only this view refers, such as a weight's gradient transposed back.
    return memory is None or (
        type(memory) is np.ndarray
        and memory.size == array.size
        and array.flags.c_contiguous
        and memory.flags.owndata
        and sys.getrefcount(memory) == ALONE
    )


def _check_nothing(result, variable):
    """Raise unless a post-accumulate hook returned None or its argument."""
    if isinstance(result, Tensor) and result is not variable:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")
    if not isinstance(result, Tensor) and result is not None:
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")


def _count_holders(gradients):
    array = gradients[0]
    return sys.getrefcount(array)


ALONE = _count_holders([np.empty(0)])  # one holder, plus the references that a name and a call add in this Python
