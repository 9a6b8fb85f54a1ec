"""Define an operation: a forward function on arrays and, beside it, one gradient formula per input.

    mul = operation(
        "MulBackward0",
        lambda self, other: self * other,
        self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self,
    )

This is the whole definition. The formulas' parameters determine what backward needs: a formula is called with the
gradient and the values that its other parameters name. These values are saved, but only if the formula's input needs a
gradient. A parameter names an input (`self`), the output (`result`), an argument that is not a tensor (`dim`), or the
shape or strides of an input (`self_sym_sizes`, `self_sym_strides`). torch's table `derivatives.yaml` has the same form,
and so `grad_fn._saved_…` has torch's names.

Each formula serves both kinds of gradient: arrays, which are fast, and Tensors, which record it so that it can be
differentiated again. Operations therefore accept arrays too, and then return arrays. A formula may return a gradient in
the shape to which an input was broadcast; `Node.conform` sums it.
"""

import contextvars
import itertools

import numpy as np

from ..values import dtypes
from .modes import state
from .node import next_sequence_nr
from .plan import Operation
from .tensor import Tensor, make

ndarray = np.ndarray
quiet = contextvars.Context()  # in a copy of it, NumPy gives no warnings for inf and nan; torch gives none either
quiet.run(np.seterr, all="ignore")


def operation(name, forward, *, view=False, promote=False, into=None, constants=(), **formulas):
    """Return a function that runs `forward` and records it.

    name: torch's name for the node. forward: takes arrays for the tensors, which come first, and then the other
    arguments, all by position; returns an array.
    formulas: each tensor argument's gradient formula, or None if it has no gradient.
    promote: convert the tensors to one dtype by torch's rules before `forward`: "same", or "float" to convert integers
    to floating point.
    view: whether the output shares memory with the first input; in-place changes then reach it.
    into: like `forward`, but writes to the memory of its first argument, for in-place use that is not recorded.
    constants: arguments, such as a mask, that torch saves as tensors, so they are freed with the saved tensors.
    """
    op = Operation(name, forward, formulas, constants)
    arity, plans, node_class, to_float = op.arity, op.plans, op.node_class, promote == "float"

    def call(*args):
        if not isinstance(args[0], Tensor) and (arity == 1 or not isinstance(args[1], Tensor)):
            return forward(*args)  # on arrays, inside a formula
        arrays, edges, needs, bit, dtype, mixed = [], [], 0, 1, None, False
        for arg in args:
            edge = NO_EDGE
            if isinstance(arg, Tensor):
                if state.grad and (arg._requires_grad or arg._base is not None):
                    edge = arg._edge_or_leaf()
                    if edge[0] is not None:
                        needs |= bit
                arg = arg._data
                if arg.dtype is not dtype:
                    mixed = dtype is not None or arg.dtype.kind != "f"
                    dtype = arg.dtype
            elif promote and type(arg) not in NUMBERS and not bit >> arity:
                arg = as_operand(name, args, arg)
            arrays.append(arg)
            edges.append(edge)
            bit += bit
        if needs >> arity:
            raise TypeError(
                f"{name}: argument {arity + 1} must not require a gradient; pass a number, such as x.item()"
            )
        if promote and mixed:
            dtypes.promote(arrays, arity, promote)
        try:
            output = make(np.asarray(quiet.copy().run(forward, *arrays)))
        except ValueError:
            if promote:
                check_broadcast(arrays[:arity])
            raise
        if view:
            _note_view(args, output, forward)
        if needs:
            record(args, arrays, tuple(edges[:arity]), needs, output)
        return output

    def record(args, arrays, edges, needs, output):
        """Make the node of `output`."""
        node, array = node_class(), output._data
        node.sequence_nr, node.hooked = next_sequence_nr(), False
        node.next_functions, node.outputs = edges, ((array.shape, array.dtype),)
        node.plan = plan = plans.get(needs) or op.plan(needs)
        output._edge = (node, 0)
        output._requires_grad = True
        node.saved = plan.save(args, arrays, output)

    def call_two(a, b):
        """Do the work of `call` for the most common case, two Tensors of one dtype, without its loop."""
        if type(a) is not Tensor or type(b) is not Tensor or a._base is not None or b._base is not None:
            return call(a, b)
        arrays = x, y = a._data, b._data
        if x.dtype is not y.dtype or (to_float and x.dtype.kind != "f"):
            return call(a, b)
        try:
            result = quiet.copy().run(forward, x, y)
        except ValueError:
            return call(a, b)  # raises torch's error
        output = make(result if type(result) is ndarray else np.asarray(result))
        if state.grad:
            if a._requires_grad:
                edge = a._edge or a._edge_or_leaf()
                if b._requires_grad:
                    record((a, b), arrays, (edge, b._edge or b._edge_or_leaf()), 3, output)
                else:
                    record((a, b), arrays, (edge, NO_EDGE), 1, output)
            elif b._requires_grad:
                record((a, b), arrays, (NO_EDGE, b._edge or b._edge_or_leaf()), 2, output)
        return output

    chosen = call_two if arity == 2 == len(op.parameters) and promote else call
    chosen.__name__ = name
    chosen.into = into and np.errstate(all="ignore")(into)
    return chosen


NO_EDGE = (None, 0)
NUMBERS = {int, float, bool}
SYMBOLS = {"Add": "+", "Sub": "-", "Rsub": "-", "Mul": "*", "Div": "/", "Pow": "** or pow()"}


def as_operand(name, args, arg):
    """Return `arg`, a NumPy number, as a Python number; raise TypeError as torch does if it is anything else."""
    if isinstance(arg, np.generic):
        return arg.item()
    kinds = " and ".join(f"'{type(each).__name__}'" for each in args[:2])
    symbol = SYMBOLS.get(name.split("Backward")[0], name)
    raise TypeError(f"unsupported operand type(s) for {symbol}: {kinds}")


def check_broadcast(arrays):
    """Raise torch's error if two shapes cannot be broadcast together."""
    for a, b in itertools.pairwise(np.shape(array) for array in arrays):
        for i in range(1, min(len(a), len(b)) + 1):
            if a[-i] != b[-i] and 1 not in (a[-i], b[-i]):
                raise RuntimeError(
                    f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) "
                    f"at non-singleton dimension {max(len(a), len(b)) - i}"
                )


def _note_view(args, output, forward):
    """Record that `output` is a view of the first of `args`, and how to take the same view of a different tensor."""
    source = args[0]
    output._version_cell = source._version_cell
    output._base = source if source._base is None else source._base
    output._views = (*source._views, (forward, args[1:]))
    output._view_version = source._version_cell[0]
    output._view_kind = source._view_kind if state.grad else "no_grad"
