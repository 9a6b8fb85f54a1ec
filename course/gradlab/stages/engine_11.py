"""The engine of part two as chapter 11 leaves it. Made from the cells of that chapter."""

# %% engine-imports
import functools
import types

import numpy as np


# %% engine-tensor
class Tensor:
    """An array, and what autograd must know about it."""

    __array_ufunc__ = None  # so that array * tensor is a Tensor

    def __init__(self, data, requires_grad=False):
        self.data = as_array(data)
        if requires_grad and self.data.dtype.kind != "f":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad = requires_grad
        self.grad = self.grad_fn = self._accumulator = None  # grad_fn: the node that made it; see 11.1 for the last

    is_leaf = property(lambda self: self.grad_fn is None)
    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)


# %% engine-shown
def as_array(data):
    """Return data as an array: Python floats become float32, as in torch; an array is returned as it is, uncopied."""
    array = np.asarray(data)
    return array.astype(np.float32) if array.dtype == np.float64 and not hasattr(data, "dtype") else array


def shown(tensor):
    """Return a tensor as text; one without elements shows its shape."""
    end = f", grad_fn=<{tensor.grad_fn.name()}>" if tensor.grad_fn else ", requires_grad=True" * tensor.requires_grad
    size = f", size={tensor.shape}" * (tensor.data.size == 0)
    return f"tensor({np.array2string(tensor.data, separator=', ', prefix='tensor(')}{size}{end})"


Tensor.__repr__ = shown


# %% engine-node
class Node:
    """One step of the forward pass, as the backward pass will see it.

    next_functions: one edge (node, 0) for each tensor argument, (None, 0) where no gradient goes.
    outputs: ((shape, dtype),), one pair for the step's one result: its gradient arrives in that shape and dtype.
    """

    next_functions = ()
    outputs = ()

    def name(self):
        return type(self).__name__

    def run(self, gradient):
        """Return a gradient or None for each edge, given the gradient of the step's result as an array."""
        return self.apply(gradient)


class AccumulateGrad(Node):
    """The end of a path: the gradient that arrives here belongs to the leaf `variable`."""

    def __init__(self, variable):
        self.variable = variable
        self.outputs = ((variable.shape, variable.dtype),)


# %% answer-11-1
def accumulator(leaf):
    """Return a leaf's node, which is created when first needed and then never changes.

    leaf: Tensor that requires a gradient and has no grad_fn.
    Returns an AccumulateGrad.
    """
    if leaf._accumulator is None:
        leaf._accumulator = AccumulateGrad(leaf)
    return leaf._accumulator


def edge_or_leaf(tensor):
    """Return the edge along which a tensor's gradient leaves: to the node that made it, or to its accumulator.

    tensor: Tensor, even of a subclass, or a Python or NumPy number. Only a leaf's _accumulator may change.
    Returns a tuple: a node or None, and 0.
    """
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return (None, 0)
    return (tensor.grad_fn or accumulator(tensor), 0)


# %% engine-state
state = types.SimpleNamespace(grad=True)  # grad: whether operations are recorded; no_grad switches this off


# %% answer-11-2
def record(node, inputs, output):
    """Attach output, the tensor that a step computed from inputs, to the graph through the step's node.

    node: a new Node. inputs: tuple of numbers and Tensors, even of a subclass: the step's tensor arguments. output:
        Tensor, so far a leaf that requires no gradient.
    Nothing is recorded if gradients are off or no input requires one.
    """
    edges = tuple(edge_or_leaf(each) for each in inputs)
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions = edges
        node.outputs = ((output.shape, output.dtype),)
        output.grad_fn = node
        output.requires_grad = True


# %% answer-11-3
class no_grad:
    """Record nothing inside a with block, and restore the earlier state at its end."""

    def __enter__(self):
        self.before = state.grad
        state.grad = False

    def __exit__(self, *error):
        state.grad = self.before


# %% engine-names
def parameters(function):
    """Return the names of a function's parameters, in order."""
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])


def asked_for(formula):
    """Return the names that a formula asks for besides the gradient, its first parameter."""
    return parameters(formula)[1:]


def value_of(value):
    """Return the array of a Tensor, and anything else as it is."""
    return value.data if isinstance(value, Tensor) else value


# %% engine-operation
class OperationNode(Node):
    """An operation's node. Its class holds the gradient formulas; the node holds what they need."""

    formulas = {}

    def apply(self, gradient):
        return apply_formulas(self, gradient)

    def restore(self, name):
        """Return what the node saved under a name."""
        return self.saved[name]


# %% answer-11-4
def save(node, known):
    """Return, by name, the values that the formulas for a node's wanted gradients ask for.

    node: OperationNode with formulas (a dict) and next_functions, one of each per tensor argument.
    known: dict by name: the arguments of the step, "result" and "shape". It stays unchanged.
    Returns a new dict with some of the items of known: the objects themselves, not copies.
    """
    kept = {}
    for (below, _), formula in zip(node.next_functions, node.formulas.values(), strict=True):
        if below is not None:
            for name in asked_for(formula):
                kept[name] = known[name]
    return kept


# %% answer-11-5
class Formulas:
    """Gradient formulas. grad is an array; self and other are arrays or numbers. Leave them all unchanged."""

    def neg_self(grad):
        """Return the gradient for self in -self, an array of grad's shape."""
        return -grad

    def sub_other(grad):
        """Return the gradient for other in self - other."""
        return -grad

    def div_self(grad, other):
        """Return the gradient for self in self / other."""
        return grad / other

    def div_other(grad, self, other):
        """Return the gradient for other in self / other."""
        return -grad * self / other**2

    def pow_self(grad, self, exponent):
        """Return the gradient for self in self ** exponent, where exponent is a number."""
        if exponent == 0:
            return np.zeros_like(grad)
        return grad * exponent * self ** (exponent - 1)


# %% answer-11-6
def sum_to(gradient, shape):
    """Sum a gradient over the dimensions along which an array of the given shape was broadcast.

    gradient: array, float64 or float32, with any number of dimensions. It stays unchanged.
    shape: tuple of int.
    Returns an array of that shape and the gradient's dtype; it may be the gradient itself, and a NumPy scalar
    counts as an array of shape (). Raises RuntimeError if the shape cannot be broadcast to the gradient's.
    """
    extra = gradient.ndim - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, gradient.shape[extra:], strict=True)):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(gradient.shape)}}}.")
    copied = [extra + i for i, n in enumerate(shape) if n == 1]
    return gradient.sum((*range(extra), *copied)).reshape(shape)


# %% engine-conform
def conform(gradient, node):
    """Return a gradient in the shape and dtype of the node's result; this undoes the broadcasts of every operation."""
    shape, dtype = node.outputs[0]
    return (gradient if gradient.shape == shape else sum_to(gradient, shape)).astype(dtype, copy=False)


# %% engine-make
def operation(name, forward, **formulas):
    """Return a function on tensors that calls forward, a function on arrays, and records the call.

    name: the node's name. formulas: the gradient formula of each tensor argument; these arguments come first. A
    formula asks by name for what else it needs: an argument, "result", or "shape", the shape of the first argument.
    """
    kind = type(name, (OperationNode,), {"formulas": formulas})
    return lambda *args: call(kind, forward, args)


add = operation("AddBackward0", lambda self, other: self + other, self=lambda grad: grad, other=lambda grad: grad)
mul = operation(
    "MulBackward0",
    lambda self, other: self * other,
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)


# %% answer-11-8
def apply_formulas(node, gradient):
    """Return the gradients that an operation's node sends along its edges.

    node: OperationNode with formulas (a dict) and next_functions, one of each per tensor argument.
    gradient: array, the gradient of the result. It stays unchanged.
    Returns a list of arrays, with None for each edge to None.
    """
    made = []
    for (below, _), formula in zip(node.next_functions, node.formulas.values(), strict=True):
        if below is None:
            made.append(None)
        else:
            made.append(formula(gradient, *[value_of(node.restore(name)) for name in asked_for(formula)]))
    return made


# %% answer-11-9
def call(kind, forward, args):
    """Compute the result of an operation, and record the call.

    kind: class of the operation's nodes, an OperationNode. forward: function of arrays and numbers. args: tuple of
        Tensors, numbers and other values, as many as forward has parameters.
    Returns a new Tensor.
    """
    output = Tensor(forward(*[value_of(arg) for arg in args]))
    node = kind()
    record(node, args[: len(kind.formulas)], output)
    if output.grad_fn is node:
        known = dict(zip(parameters(forward), args, strict=True))
        known["result"], known["shape"] = output.data, np.shape(value_of(args[0]))
        node.saved = save(node, known)
    return output


# %% engine-arithmetic
@functools.cache  # made once, and again after you change your formulas
def arithmetic(table):
    """Return the operations that a class of gradient formulas makes."""
    return types.SimpleNamespace(
        sub=operation("SubBackward0", lambda self, other: self - other, self=lambda grad: grad, other=table.sub_other),
        neg=operation("NegBackward0", lambda self: -self, self=table.neg_self),
        div=operation("DivBackward0", lambda self, other: self / other, self=table.div_self, other=table.div_other),
        pow=operation("PowBackward0", lambda self, exponent: self**exponent, self=table.pow_self),
    )


def spread(grad, shape, dim, keepdim):
    """Undo a sum: repeat the gradient along the dimensions that were summed."""
    return np.broadcast_to(grad if keepdim else np.expand_dims(grad, dim), shape)


sum_all = operation("SumBackward0", lambda self: self.sum(), self=lambda grad, shape: np.broadcast_to(grad, shape))
sum_dim = operation("SumBackward1", lambda self, dim, keepdim: self.sum(dim, keepdims=keepdim), self=spread)


# %% engine-reflected
Tensor.__add__ = Tensor.__radd__ = add
Tensor.__mul__ = Tensor.__rmul__ = mul
Tensor.__sub__ = lambda self, other: arithmetic(Formulas).sub(self, other)
Tensor.__rsub__ = lambda self, other: arithmetic(Formulas).sub(other, self)
Tensor.__truediv__ = lambda self, other: arithmetic(Formulas).div(self, other)
Tensor.__rtruediv__ = lambda self, other: arithmetic(Formulas).div(other, self)
Tensor.__neg__ = lambda self: arithmetic(Formulas).neg(self)
Tensor.__pow__ = lambda self, exponent: arithmetic(Formulas).pow(self, exponent)
Tensor.sum = lambda self, dim=None, keepdim=False: sum_all(self) if dim is None else sum_dim(self, dim, keepdim)


# %% answer-11-10
def of_my_choice():
    """Return the name of one operation, "maximum", "exp", "abs" or "clamp", and the operation, made by operation(…)."""

    def share(grad, one, two):
        return grad * ((one > two) + (one == two) / 2)

    maximum = operation(
        "MaximumBackward0",
        lambda self, other: np.maximum(self, other),
        self=lambda grad, self, other: share(grad, self, other),
        other=lambda grad, self, other: share(grad, other, self),
    )
    return "maximum", maximum
