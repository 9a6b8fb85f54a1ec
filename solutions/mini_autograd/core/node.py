"""The building block of a graph: `Node`, one step of the forward pass with its edges."""

import itertools

from ..values import dtypes
from .hooks import HookedNode
from .tensor import Tensor

NAMESPACED = {"AccumulateGrad", "CopySlices", "CopyBackwards", "Error"}
next_sequence_nr = itertools.count().__next__


class Node(HookedNode):
    """One step of the forward pass, as backward sees it. Subclasses define how gradients pass through it.

    next_functions: one edge (node, output index) per input, `(None, 0)` for an input without a gradient.
    outputs: one (shape, dtype) per output of the forward step; gradients arrive in that form.
    sequence_nr: grows with every node made; backward runs the most recent ready node first.
    """

    __slots__ = ("__dict__", "__weakref__", "hooked", "next_functions", "outputs", "sequence_nr")

    def __init__(self):
        self.next_functions = self.outputs = ()
        self.sequence_nr = next_sequence_nr()
        self.hooked = False  # whether any kind of hook has ever been registered here

    def __lt__(self, other):
        """Return whether backward runs this node before `other` if both are ready."""
        return self.sequence_nr > other.sequence_nr

    def run(self, gradients, needs):
        """Return a gradient or None for each of `next_functions`.

        Called by the engine. gradients: one per output, None where nothing arrived. needs: for each input, whether its
        gradient is requested, or None for all inputs that can have one.
        """
        raise NotImplementedError

    def release(self):
        """Free the saved values; called by the engine after `run` unless the graph is retained."""

    def conform(self, gradient, number, source):
        """Return `gradient` in the shape and dtype of output `number`, summed over broadcast dimensions.

        Raise RuntimeError, which names the node `source` that returned it, if the shape does not fit.
        """
        shape, dtype = self.outputs[number]
        if gradient.shape != shape:
            if not _expandable(shape, gradient.shape):
                index = source.next_functions.index((self, number))
                raise RuntimeError(
                    f"Function {source.name()} returned an invalid gradient at index {index} - got "
                    f"{list(gradient.shape)} but expected shape compatible with {list(shape)}"
                )
            gradient = sum_to(gradient, shape)
        if gradient.dtype is dtype:
            return gradient
        return gradient.to(dtypes.of(dtype)) if isinstance(gradient, Tensor) else gradient.astype(dtype)

    def name(self):
        """Return torch's name for this kind of node; names of torch's handwritten nodes include a namespace."""
        name = type(self).__name__
        return "torch::autograd::" + name if name in NAMESPACED else name

    def __repr__(self):
        return f"<{type(self).__name__} object at {id(self):#x}>"


def sum_to(gradient, shape):
    """Sum `gradient` over the dimensions along which a tensor of `shape` was broadcast to the gradient's shape."""
    extra = len(gradient.shape) - len(shape)
    over = tuple(range(extra)) + tuple(
        extra + i for i, n in enumerate(shape) if n == 1 and gradient.shape[extra + i] != 1
    )
    return gradient.sum(over).reshape(shape)


def _expandable(shape, target):
    return len(shape) <= len(target) and all(
        a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False)
    )
