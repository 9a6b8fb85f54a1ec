"""The ends of paths through the graph: `AccumulateGrad` adds each incoming gradient to the leaf's `grad`."""

import weakref

import numpy as np

from .hooks import call_post_accumulate_hooks
from .modes import state
from .node import Node
from .ownership import owned
from .tensor import Tensor, make


class AccumulateGrad(Node):
    """The last node of a path: adds incoming gradients to `variable.grad`. A leaf refers to its accumulator weakly."""

    def __init__(self, variable):
        super().__init__()
        self.variable = variable
        self.outputs = ((variable._data.shape, variable._data.dtype),)
        self.hooked = bool(variable._hooks)
        self.tensor_hooks = variable._hooks and {0: variable._hooks}

    def run(self, gradients, needs):
        variable = self.variable
        if variable._edge is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if gradients[0] is not None and variable._requires_grad:
            accumulate(variable, gradients)
            call_post_accumulate_hooks(variable)
        return ()


def accumulate(leaf, gradients):
    """Add `gradients[0]` to the `grad` of `leaf`: out of place if the pass is recorded, else in place."""
    if leaf._grad is None:
        leaf._grad = _copy_or_keep(leaf, gradients)
    elif state.grad:
        leaf._grad = leaf._grad + gradients[0]
    else:
        leaf._grad._data += gradients[0]
        leaf._grad._bump()


def _copy_or_keep(leaf, gradients):
    """Return the first gradient as a Tensor: with the same array if nothing else refers to it, else with a copy."""
    if state.grad:
        return make(np.empty_like(leaf._data)).copy_(gradients[0])  # recorded, as in torch
    if owned(gradients):
        return make(gradients[0])
    copied = make(np.array(gradients[0]))
    copied._bump()
    return copied


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
