"""Define an operation: a forward function on arrays and, beside it, one gradient formula per input.

    mul = operation(
        "MulBackward0",
        lambda self, other: self * other,
        self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self,
    )

This is the whole definition. The formulas' parameters determine what backward needs: a formula is called with the
gradient and the values that its other parameters name. These values are saved, but only if the formula's input needs a
gradient. A parameter names an input (`self`), the output (`result`, or `result0`, `result1`, … for several outputs), an
argument that is not a tensor (`dim`), or the shape or strides of an input (`self_sym_sizes`, `self_sym_strides`).
torch's table `derivatives.yaml` has the same form, and so `grad_fn._saved_…` has torch's names.

Each formula serves both kinds of gradient: arrays, which are fast, and Tensors, which record it so that it can be
differentiated again. Operations therefore accept arrays too, and then return arrays. A formula may return a gradient in
the shape to which an input was broadcast; `Node.conform` sums it.
"""

import itertools

import numpy as np

from ..values import dtypes
from .modes import state
from .node import next_sequence_nr
from .plan import Operation
from .tensor import Tensor, make

ndarray = np.ndarray


def operation(name, forward, *, view=None, promote=False, joint=None, names=None, into=None, constants=(), **formulas):
    """Return a function that runs `forward` and records it.

    name: torch's name for the node. forward: takes arrays for the tensors, which come first, and then the other
    arguments, all by position; returns an array or a tuple of arrays.
    formulas: each tensor argument's gradient formula, or None if it has no gradient. joint: a single formula for all
    tensor arguments (which are passed as None); it takes the gradient, `needs` (for each argument, whether its gradient
    is wanted) and the values it names, and returns a tuple.
    into: like `forward`, but writes to the memory of its first argument, for in-place use that is not recorded.
    names: the parameters of `forward`, if its signature does not show them.
    constants: values, such as a mask, that torch saves as tensors, so they are freed with the saved tensors.
    view: "one" or "many" if the outputs share memory with the first input; in-place changes then reach it.
    promote: convert the tensors to one dtype by torch's rules before `forward`.
    """
    op = Operation(name, forward, joint, formulas, names, constants)
    arity, plans, node_class, to_float = op.arity, op.plans, op.node_class, promote == "float"

    def call(*args):
        if arity == 1 and type(args[0]) is ndarray:
            return forward(*args)  # inside a formula
        arrays, edges, needs, bit, dtype, mixed = [], [], 0, 1, None, False
        for arg in args:
            if isinstance(arg, Tensor):
                if arg._base is not None and state.grad:
                    arg._follow_base()
                if arg._requires_grad:
                    needs |= bit
                    edges.append(arg._edge or arg._edge_or_leaf())
                else:
                    edges.append(NO_EDGE)
                arg = arg._data
                if arg.dtype is not dtype:
                    mixed = dtype is not None or arg.dtype.kind != "f"
                    dtype = arg.dtype
            else:
                edges.append(NO_EDGE)
                if promote and type(arg) not in NUMBERS:
                    arg = _operand(name, args, arg)
            arrays.append(arg)
            bit += bit
        if mixed and promote:
            dtypes.promote(arrays, arity, promote)
        try:
            result = forward(*arrays)
        except ValueError:
            if promote:
                check_broadcast(arrays[:arity])
            raise
        if dtype is None:
            return result  # no tensor among the arguments: inside a formula
        if type(result) is tuple:
            return record_many(args, arrays, edges, needs, result)
        if type(result) is not ndarray:
            result = np.asarray(result)
        output = make(result)
        if view is not None:
            _note_view(args, output, forward, view)
        if needs and state.grad:
            record(args, arrays, tuple(edges[:arity]), needs, result, output)
        return output

    def record(args, arrays, edges, needs, result, output):
        """Make the node of `output`, a Tensor with the array `result`."""
        node = node_class()
        node.sequence_nr = next_sequence_nr()
        node.hooked = False
        node.next_functions = edges
        node.outputs = ((result.shape, result.dtype),)
        node.plan = plan = plans.get(needs) or op.plan(needs)
        output._edge = (node, 0)
        output._requires_grad = True
        node.saved = plan.save(args, arrays, output) if plan.saves else ()

    def record_many(args, arrays, edges, needs, results):
        """Record an operation with several outputs, and return them."""
        outputs = tuple([make(np.asarray(result)) for result in results])
        for number, output in enumerate(outputs):
            if view is not None:
                _note_view(args, output, forward, view, number)
        if needs and state.grad:
            node = node_class()
            node.sequence_nr, node.hooked = next_sequence_nr(), False
            node.next_functions = tuple(edges[:arity])
            node.plan = plan = plans.get(needs) or op.plan(needs)
            node.outputs = tuple((output._data.shape, output._data.dtype) for output in outputs)
            for number, output in enumerate(outputs):
                if output._data.dtype.kind == "f":  # integers, such as indices, are constants
                    output._edge = (node, number)
                    output._requires_grad = True
            node.saved = plan.save(args, arrays, outputs)
        return outputs

    def call_two(a, b):
        """Do the work of `call` for the most common case, two Tensors of one floating dtype, without its loop."""
        if type(a) is not Tensor or type(b) is not Tensor or a._base is not None or b._base is not None:
            return forward(a, b) if type(a) is ndarray is type(b) else call(a, b)
        arrays = x, y = a._data, b._data
        if promote and (x.dtype is not y.dtype or (to_float and x.dtype.kind != "f")):
            return call(a, b)
        try:
            result = forward(x, y)
        except ValueError:
            return call(a, b)  # raises torch's error
        if type(result) is not ndarray:
            result = np.asarray(result)
        output = make(result)
        if state.grad:
            if a._requires_grad:
                edge = a._edge or a._edge_or_leaf()
                if b._requires_grad:
                    record((a, b), arrays, (edge, b._edge or b._edge_or_leaf()), 3, result, output)
                else:
                    record((a, b), arrays, (edge, NO_EDGE), 1, result, output)
            elif b._requires_grad:
                record((a, b), arrays, (NO_EDGE, b._edge or b._edge_or_leaf()), 2, result, output)
        return output

    chosen = call_two if arity == 2 == len(op.parameters) and view is None else call
    chosen.__name__ = chosen.__qualname__ = getattr(forward, "__name__", name)
    chosen.into = into
    return chosen


NO_EDGE = (None, 0)
NUMBERS = {int, float, bool, ndarray}
SYMBOLS = {"Add": "+", "Sub": "-", "Rsub": "-", "Mul": "*", "Div": "/", "Pow": "** or pow()"}


def _operand(name, args, arg):
    """Return `arg`, which is neither a Tensor nor a plain number, as an operand, or raise TypeError as torch does."""
    if isinstance(arg, np.generic):
        return arg.item()
    if arg is None or isinstance(arg, (str, list, tuple, dict)):
        kinds = [f"'{type(each).__name__}'" for each in args[:2]]
        symbol = SYMBOLS.get(name.split("Backward")[0])
        if symbol:
            raise TypeError(f"unsupported operand type(s) for {symbol}: {' and '.join(kinds)}")
    return arg


def check_broadcast(arrays):
    """Raise torch's error if two shapes cannot be broadcast together."""
    shapes = [array.shape for array in arrays if isinstance(array, ndarray)]
    for a, b in itertools.pairwise(shapes):
        for i in range(1, min(len(a), len(b)) + 1):
            if a[-i] != b[-i] and 1 not in (a[-i], b[-i]):
                raise RuntimeError(
                    f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) "
                    f"at non-singleton dimension {max(len(a), len(b)) - i}"
                )


def _note_view(args, output, forward, kind, number=None):
    """Record that `output` is a view of the first of `args`, and how to take the same view of a different tensor."""
    source = args[0]
    output._version_cell = source._version_cell
    output._base = source if source._base is None else source._base
    output._views = (*source._views, (forward, args[1:], number))
    output._view_version = source._version_cell[0]
    output._view_kind = "many" if kind == "many" else source._view_kind if state.grad else "no_grad"
