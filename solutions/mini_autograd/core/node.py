"""The building block of a graph: `Node`, one step of the forward pass with its edges and hooks."""

import itertools

import numpy as np

from ..values import dtypes
from .hooks import add_hook, new_hooks
from .modes import state
from .tensor import Tensor, make

NAMESPACED = {"AccumulateGrad", "CopySlices", "CopyBackwards", "Error", "NotImplemented"}
next_sequence_nr = itertools.count().__next__


class Node:
    """One step of the forward pass, as backward sees it. Subclasses define how gradients pass through it.

    next_functions: one edge (node, output index) per input, `(None, 0)` for an input without a gradient.
    outputs: one (shape, dtype) per output of the forward step; gradients arrive in that form.
    sequence_nr: grows with every node made; backward runs the most recent ready node first.
    """

    __slots__ = ("__dict__", "__weakref__", "hooked", "next_functions", "outputs", "sequence_nr")

    requires_grad = True
    tensor_hooks = None  # output index → hooks registered on that tensor
    retained = None  # output index → weak reference to the tensor that called `retain_grad`
    pre_hooks = post_hooks = None

    def __init__(self):
        self.next_functions = self.outputs = ()
        self.sequence_nr = next_sequence_nr()
        self.hooked = False  # whether any kind of hook has ever been registered here

    def run(self, gradients, needs):
        """Return a gradient or None for each of `next_functions`.

        Called by the engine. gradients: one per output, None where nothing arrived. needs: for each input, whether its
        gradient is requested, or None for all inputs that can have one.
        """
        raise NotImplementedError

    def release(self):
        """Free the saved values; called by the engine after `run` unless the graph is retained."""

    def conform(self, gradient, number, source):
        """Return `gradient` in the shape and dtype of output `number`, summed over broadcast dimensions."""
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

    # Hooks. They receive Tensors, even if the engine works with arrays.

    def register_hook(self, hook):
        """Call `hook(grad_inputs, grad_outputs)` after this node has run; a returned tuple replaces grad_inputs."""
        if self.post_hooks is None:
            self.post_hooks = new_hooks()
        self.hooked = True
        return add_hook(self.post_hooks, hook)

    def register_prehook(self, hook):
        """Call `hook(grad_outputs)` before this node runs; a returned tuple replaces grad_outputs."""
        if self.pre_hooks is None:
            self.pre_hooks = new_hooks()
        self.hooked = True
        return add_hook(self.pre_hooks, hook)

    def call_tensor_hooks(self, gradients):
        """Run the hooks of this node's output tensors on the list `gradients`, in place."""
        for number, hooks in sorted((self.tensor_hooks or {}).items()):
            for hook in list(hooks.values()):
                gradient = _wrap(gradients[number])
                result = hook(gradient)
                if result is None:
                    gradients[number] = _unwrap(gradient)
                else:
                    gradients[number] = _unwrap(_checked(hook, result, gradient))
        for number, reference in (self.retained or {}).items():
            tensor = reference()
            if tensor is not None and gradients[number] is not None:
                tensor._retain(gradients[number])

    def hooks_of(self, number):
        """Return the dict of hooks on output `number`, to which new hooks can be added."""
        self.hooked = True
        if self.tensor_hooks is None:
            self.tensor_hooks = {}
        return self.tensor_hooks.setdefault(number, new_hooks())

    def run_hooked(self, gradients, needs):
        """Return the result of `run`, with this node's prehooks called before it and its hooks after it."""
        outer = tuple(_wrap(gradient) for gradient in gradients)
        for hook in list((self.pre_hooks or {}).values()):
            outer = _replaced(hook, hook(outer), outer)
        gradients = [_unwrap(gradient) for gradient in outer]
        produced = self.run(gradients, needs)
        if not self.post_hooks:
            return produced
        produced = [
            gradient if node is None or gradient is None else node.conform(gradient, number, self)
            for (node, number), gradient in zip(self.next_functions, produced, strict=True)
        ]
        inner = tuple(_wrap(gradient) for gradient in produced)
        for hook in list(self.post_hooks.values()):
            inner = _replaced(hook, hook(inner, outer), inner)
        return [_unwrap(gradient) for gradient in inner]

    # What a node reports about itself.

    def name(self):
        """Return torch's name for this kind of node; names of torch's handwritten nodes include a namespace."""
        name = type(self).__name__
        return "torch::autograd::" + name if name in NAMESPACED else name

    def forward_name(self):
        """Return the name of the forward operation as errors show it: "Mul" for MulBackward0."""
        name = self.name()
        return name.rpartition("Backward")[0] or name

    def __repr__(self):
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def _sequence_nr(self):
        return self.sequence_nr

    def __call__(self, *gradients):
        """Run only this node's backward step on `gradients` (Tensors, one per output) and return its results."""
        if len(gradients) != len(self.outputs):
            raise TypeError(f"expected {len(self.outputs)} arguments, got {len(gradients)} instead")
        for index, gradient in enumerate(gradients):
            if gradient is not None and not isinstance(gradient, Tensor):
                raise TypeError(f"argument {index} is not a Variable")
        gradients = [_unwrap(gradient) for gradient in gradients]
        produced = tuple(_wrap(gradient) for gradient in self.run(gradients, None))
        return produced[0] if len(produced) == 1 else produced


def _expandable(shape, target):
    return len(shape) <= len(target) and all(
        a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False)
    )


def sum_to(gradient, shape):
    """Sum `gradient` over the dimensions along which a tensor of `shape` was broadcast to the gradient's shape."""
    extra = len(gradient.shape) - len(shape)
    if gradient.shape[extra:] == shape:
        return gradient.sum(tuple(range(extra)))
    over = tuple(range(extra)) + tuple(
        extra + i for i, n in enumerate(shape) if n == 1 and gradient.shape[extra + i] != 1
    )
    return gradient.sum(over).reshape(shape)


def _wrap(gradient):
    """Return `gradient`, an array inside the engine, as the Tensor that hooks and users receive."""
    return gradient if gradient is None or isinstance(gradient, Tensor) else make(np.asarray(gradient))


def _unwrap(gradient):
    """Return a gradient in the engine's form: the array, or the Tensor itself if the pass is recorded."""
    return gradient if gradient is None or state.grad else gradient._data


def _name(hook):
    return getattr(hook, "__name__", "<unknown>")


def _checked(hook, result, gradient):
    """Return `result`, which `hook` returned, after checking that it can replace `gradient`."""
    if gradient is None and result is not None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if result is not None and not hasattr(result, "_version_cell"):
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
