"""What a graph is made of: `Node`, the leaf's `AccumulateGrad`, and what nodes keep for backward."""

import itertools
import sys
import weakref

import numpy as np

from .hooks import add_hook, new_hooks
from .modes import no_grad, state

next_sequence_nr = itertools.count().__next__

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


class Node:
    """One step of the forward pass, as backward sees it. Subclasses say how gradients go through it.

    next_functions: one edge (node, number of its output) for each input, `(None, 0)` where no gradient goes.
    outputs: one (shape, dtype) for each output of the forward step; gradients arrive in that form.
    sequence_nr: grows with every node made; backward runs the latest ready node first.
    """

    __slots__ = ("__dict__", "__weakref__", "hooked", "next_functions", "outputs", "sequence_nr")

    requires_grad = True
    tensor_hooks = None  # number of the output → hooks registered on that tensor
    retained = None  # number of the output → weak reference to the tensor that asked for `retain_grad`
    pre_hooks = post_hooks = None

    def __init__(self):
        self.next_functions = self.outputs = ()
        self.sequence_nr = next_sequence_nr()
        self.hooked = False  # whether any kind of hook has ever been registered here

    def name(self):
        """Return the name that torch gives this kind of node; those written by hand there carry their namespace."""
        name = type(self).__name__
        return "torch::autograd::" + name if name in ("AccumulateGrad", "CopySlices", "CopyBackwards") else name

    def forward_name(self):
        """Return the name of what this node is the backward of, as errors show it: "Mul" for MulBackward0."""
        name = self.name()
        return name.rpartition("Backward")[0] or name

    def __repr__(self):
        return f"<{type(self).__name__} object at {id(self):#x}>"

    @property
    def metadata(self):
        """A dict of the user's own, empty at first."""
        return self.__dict__.setdefault("_metadata", {})

    def _sequence_nr(self):
        return self.sequence_nr

    def __call__(self, *gradients):
        """Send gradients (Tensors, one for each output) through this node alone, as in a backward run by hand."""
        gradients = [_unwrap(gradient) for gradient in gradients]
        produced = tuple(_wrap(gradient) for gradient in self.run(gradients, None))
        return produced[0] if len(produced) == 1 else produced

    def run(self, gradients, needs):
        """Return a gradient or None for each of `next_functions`.

        Called by the engine. gradients: one for each output, None where nothing arrived. needs: for each input
        whether its gradient is asked for, or None for all that can have one.
        """
        raise NotImplementedError

    def release(self):
        """Free what was saved; called by the engine after `run` unless the graph is retained."""

    # Hooks. They see Tensors, whatever the engine works with.

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
        """Run the hooks of this node's output tensors on `gradients`, a list that is changed in place."""
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
        """Return the hooks on output `number`, to which one may be added."""
        self.hooked = True
        if self.tensor_hooks is None:
            self.tensor_hooks = {}
        return self.tensor_hooks.setdefault(number, new_hooks())

    def run_hooked(self, gradients, needs):
        """Do `run` with this node's prehooks before and its hooks after."""
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

    def conform(self, gradient, number, source):
        """Return `gradient` in the shape and dtype of output `number`: what a broadcast spread is summed again."""
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
        from .ops.elementwise import cast

        return cast(gradient, dtype)


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


class AccumulateGrad(Node):
    """The end of a path: adds the gradient that arrives to `variable.grad`. A leaf refers to its own weakly."""

    def __init__(self, variable):
        self.variable = variable
        self.next_functions = ()
        self.outputs = ((variable._data.shape, variable._data.dtype),)
        self.sequence_nr = float("inf")
        self.hooked = bool(variable._hooks)
        self.tensor_hooks = variable._hooks and {0: variable._hooks}

    def run(self, gradients, needs):
        variable = self.variable
        if gradients[0] is not None:
            variable._accumulate(gradients)
            for hook in list((variable._post_accumulate or {}).values()):
                result = hook(variable)
                if result is not None:
                    raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
        return ()


def owned(gradients):
    """Return whether the array `gradients[0]` is held by the list `gradients` alone, so that it may be kept as it is.

    torch asks the same of a gradient's reference count before a leaf takes it over instead of copying it.
    """
    array = gradients[0]
    if type(array) is not np.ndarray or sys.getrefcount(array) != ALONE:
        return False
    memory = array.base
    # A view of the whole of a memory that only the view holds: a weight, transposed back.
    return memory is None or (
        type(memory) is np.ndarray
        and memory.size == array.size
        and array.flags.c_contiguous
        and memory.flags.owndata
        and sys.getrefcount(memory) == ALONE
    )


def _count_holders(gradients):
    array = gradients[0]
    return sys.getrefcount(array)


ALONE = _count_holders([np.empty(0)])  # one holder, and what a name and a call add in this Python


# What a node keeps for backward is a list of pairs (value, version). An input is kept as (Tensor, its version); with
# version None, a `Saved` says itself how it comes back, and anything else is a plain value.


class Saved:
    """A tensor that is not kept as it is: `array` and `unpack` give it back for the node that keeps it."""

    __slots__ = ()


class SavedOutput(Saved):
    """An output kept by its own node: without its place in the graph, else the two would hold each other."""

    __slots__ = ("number", "tensor", "version")

    def __init__(self, tensor, number):
        self.number = number
        self.tensor, self.version = tensor._alias(), tensor._version_cell[0]

    def array(self, node):
        if self.tensor._version_cell[0] != self.version:
            refuse_changed(self.tensor, self.version, node, self.number)
        return self.tensor._data

    def unpack(self, node):
        self.array(node)
        return self.tensor._alias((node, self.number))


class PackedTensor(Saved):
    """What the `pack` of a user's hooks made of a tensor. Its version is the user's own affair."""

    __slots__ = ("edge", "number", "packed", "unpack_hook")

    def __init__(self, tensor, number):
        pack, self.unpack_hook = hooks_on_saved[-1]
        self.number, self.edge = number, tensor._edge_or_leaf() if number is None else None
        version = tensor._version_cell[0]
        with no_grad():
            self.packed = pack(tensor.detach())
        if tensor._version_cell[0] != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook."
            )

    def array(self, node):
        return self.unpack(node)._data

    def unpack(self, node):
        tensor = self.unpack_hook(self.packed)
        if not hasattr(tensor, "_version_cell"):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                + type(tensor).__name__
            )
        return tensor._alias(self.edge if self.number is None else (node, self.number))


def save(tensor, number=None):
    """Return the pair in which a node keeps `tensor`, an input of it, or its output `number`."""
    if hooks_on_saved:
        return PackedTensor(tensor, number), None
    version = tensor._version_cell[0]
    if version is None:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
            "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
            "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    return (tensor, version) if number is None else (SavedOutput(tensor, number), None)


def restore(pair, node, as_tensors):
    """Return the value that `node` kept as `pair`: a tensor as its array, or as a Tensor in its place in the graph."""
    value, version = pair
    if version is not None:
        if value._version_cell[0] != version:
            refuse_changed(value, version, value.grad_fn, value._output_nr)
        return value if as_tensors else value._data
    if isinstance(value, Saved):
        return value.unpack(node) if as_tensors else value.array(node)
    return value


def refuse_changed(tensor, version, made_by, number):
    """Raise torch's error for a saved tensor that was changed in place."""
    origin = "" if made_by is None else f", which is output {number} of {made_by.forward_name()},"
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{tensor._type_name()} {list(tensor._data.shape)}]{origin} is at version "
        f"{tensor._version_cell[0]}; expected version {version} instead. Hint: enable anomaly detection to find the "
        "operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )


hooks_on_saved = []  # the (pack, unpack) pairs of the `with` statements that are open, the innermost last


class saved_tensors_hooks:
    """Inside `with`, keep `pack(tensor)` instead of each saved tensor, and ask `unpack` for it when it is needed."""

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = pack_hook, unpack_hook

    def __enter__(self):
        hooks_on_saved.append(self.hooks)

    def __exit__(self, *error):
        hooks_on_saved.pop()


def _wrap(gradient):
    """Return `gradient`, an array inside the engine, as the Tensor that hooks and users see."""
    from .tensor import Tensor, make

    return gradient if gradient is None or isinstance(gradient, Tensor) else make(np.asarray(gradient))


def _unwrap(gradient):
    """Return what the engine works with: the array, or the Tensor itself where the walk is recorded."""
    return gradient if gradient is None or state.grad else gradient._data


def _name(hook):
    return getattr(hook, "__name__", "<unknown>")


def _checked(hook, result, gradient):
    """Return what `hook` gave for `gradient`, refused if it cannot take its place."""
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
    """Return the gradients after `hook` gave `result` for `values`."""
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


def accumulator(leaf):
    """Return the node of `leaf`, made when first needed and kept alive by the graphs that use it."""
    node = leaf._accumulator and leaf._accumulator()
    if node is None:
        node = AccumulateGrad(leaf)
        leaf._accumulator = weakref.ref(node)
    return node
