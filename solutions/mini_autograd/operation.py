"""What an operation is: a forward function on arrays and, beside it, one formula for each gradient.

    mul = operation(
        "MulBackward0",
        lambda self, other: self * other,
        self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self,
    )

That is all that an operation has to say. What backward needs is read off the formulas: a formula is called with the
gradient and whatever its further parameters name, which is then saved, but only if the formula's own input needs a
gradient. A parameter names an input (`self`), the output (`result`, or `result0`, `result1`, … where there are
several), an argument that is not a tensor (`dim`), or the shape or strides of an input (`self_sym_sizes`,
`self_sym_strides`). This is the form of torch's own table, `derivatives.yaml`, and so `grad_fn._saved_…` has torch's
names.

A formula is written once and used for both kinds of gradient: with arrays, which is fast, and with Tensors, which
records it, so that it can be differentiated again. Hence operations work on arrays too, and return arrays then.
Gradients may come back in the shape to which an input was broadcast; `Node.conform` sums them.
"""

import inspect
import itertools

import numpy as np

from . import dtypes
from .graph import FREED, Node, next_sequence_nr, restore, save
from .modes import state
from .tensor import Tensor, make

ndarray = np.ndarray


def operation(name, forward, *, view=None, promote=False, joint=None, names=None, into=None, **formulas):
    """Return a function that does `forward` and records it.

    name: of the node, torch's. forward: takes arrays for the tensors, which come first, and then the other arguments,
    all by position; returns an array, or a tuple of arrays.
    formulas: for each tensor argument the formula of its gradient, None where there is none. joint: one formula
    instead, for all tensor arguments (named as before, with None) at once: it takes the gradient, `needs` (for each
    whether its gradient is wanted) and what it names, and returns a tuple.
    into: does the same as `forward` in the memory of its first argument, for in-place use that is not recorded.
    names: the parameters of `forward`, where its signature does not tell.
    view: "one" or "many" if the outputs share memory with the first input; in-place changes then go through.
    promote: bring the tensors to one dtype by torch's rules before `forward`.
    """
    op = _Operation(name, forward, joint, formulas, names)
    arity, plans, node_class, to_float = op.arity, op.plans, op.node_class, promote == "float"

    def call(*args):
        if arity == 1 and type(args[0]) is ndarray:
            return forward(*args)  # a formula at work
        arrays, edges, needs, bit, dtype, mixed = [], [], 0, 1, None, False
        for arg in args:
            if isinstance(arg, Tensor):
                if arg._base is not None:
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
            return result  # no tensor among the arguments: a formula at work
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

    def call_two(a, b):
        """Do `call` for what is met most often, two Tensors of one floating dtype, without its loop."""
        if type(a) is not Tensor or type(b) is not Tensor or a._base is not None or b._base is not None:
            return forward(a, b) if type(a) is ndarray is type(b) else call(a, b)
        arrays = x, y = a._data, b._data
        if promote and (x.dtype is not y.dtype or (to_float and x.dtype.kind != "f")):
            return call(a, b)
        try:
            result = forward(x, y)
        except ValueError:
            return call(a, b)  # says what is wrong
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

    def record(args, arrays, edges, needs, result, output):
        """Make the node of `output`, a Tensor that holds the array `result`."""
        node = node_class()
        node.sequence_nr = next_sequence_nr()
        node.hooked = False
        node.next_functions = edges
        node.outputs = ((result.shape, result.dtype),)
        node.plan = plan = plans.get(needs) or op.plan(needs)
        node.saved = plan.save(args, arrays, output) if plan.saves else ()
        output._edge = (node, 0)
        output._requires_grad = True

    def record_many(args, arrays, edges, needs, results):
        """Do the rest of `call` for an operation with several outputs."""
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

    chosen = call_two if arity == 2 == len(op.parameters) and view is None else call
    chosen.__name__ = chosen.__qualname__ = getattr(forward, "__name__", name)
    chosen.into = into
    return chosen


INPUT, OTHER, SIZES, STRIDES, RESULT = range(5)
NOTHING_STAYS = {}  # a freed node's saved values are a dict, of what stays by position
NO_EDGE = (None, 0)
NUMBERS = {int, float, bool, ndarray}
SYMBOLS = {"Add": "+", "Sub": "-", "Rsub": "-", "Mul": "*", "Div": "/", "Pow": "** or pow()"}


def _operand(name, args, arg):
    """Return `arg`, which is neither a Tensor nor a plain number, as one, or raise TypeError as torch does."""
    if isinstance(arg, np.generic):
        return arg.item()
    if arg is None or isinstance(arg, (str, list, tuple, dict)):
        kinds = [f"'{type(each).__name__}'" for each in args[:2]]
        symbol = SYMBOLS.get(name.split("Backward")[0])
        if symbol:
            raise TypeError(f"unsupported operand type(s) for {symbol}: {' and '.join(kinds)}")
    return arg


def check_broadcast(arrays):
    """Raise torch's error if two shapes do not go together."""
    shapes = [array.shape for array in arrays if isinstance(array, ndarray)]
    for a, b in itertools.pairwise(shapes):
        for i in range(1, min(len(a), len(b)) + 1):
            if a[-i] != b[-i] and 1 not in (a[-i], b[-i]):
                raise RuntimeError(
                    f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) "
                    f"at non-singleton dimension {max(len(a), len(b)) - i}"
                )


class _Operation:
    """What `operation` was told, and which formulas and saved values each set of needed gradients takes."""

    def __init__(self, name, forward, joint, formulas, names):
        self.name, self.joint, self.formulas = name, joint, formulas
        self.tensors = list(formulas)
        if names is None:
            ufunc = isinstance(forward, np.ufunc)
            names = self.tensors if ufunc else inspect.signature(forward).parameters
        self.parameters = list(names)
        if joint:
            wanted = list(inspect.signature(joint).parameters)[2:]
        else:
            wanted = [p for f in formulas.values() if f for p in list(inspect.signature(f).parameters)[1:]]
        if self.parameters[: len(self.tensors)] != self.tensors:
            raise TypeError(f"{name}: the tensors {self.tensors} must come first in {self.parameters}")
        self.arity = len(self.tensors)
        self.saveable = list(dict.fromkeys(wanted))
        self.plans = {}
        shown = {f"_saved_{each}": property(lambda node, each=each: node.unpack(each)) for each in self.saveable}
        self.node_class = type(name, (OperationNode,), {"op": self, "__slots__": (), **shown})

    def source(self, parameter):
        """Return where the value that a formula calls `parameter` comes from, as (kind, position)."""
        if parameter in self.parameters:
            position = self.parameters.index(parameter)
            return (INPUT if position < self.arity else OTHER), position
        for suffix, kind in (("_sym_sizes", SIZES), ("_sym_strides", STRIDES)):
            if parameter.endswith(suffix):
                return kind, self.parameters.index(parameter.removesuffix(suffix))
        return RESULT, int(parameter.removeprefix("result") or 0)

    def plan(self, needs):
        """Return the `_Plan` for `needs`, a bit for each tensor argument whose gradient is needed."""
        plan = self.plans[needs] = _Plan(self, [bool(needs >> i & 1) for i in range(self.arity)])
        return plan


class _Plan:
    """Which formulas run, and which values are saved for them, when certain inputs need a gradient."""

    def __init__(self, op, needs):
        self.needs, self.joint, self.nothing = needs, op.joint, [None] * len(needs)
        self.steps = []  # (which input, formula, where its values are among the saved ones)
        self.names = []
        if op.joint:
            chosen = [(None, op.joint, 2)]
        else:
            chosen = [(i, f, 1) for i, f in enumerate(op.formulas.values()) if needs[i] and f]
        for index, formula, skip in chosen:
            parameters = list(inspect.signature(formula).parameters)[skip:]
            self.names += [p for p in parameters if p not in self.names]
            self.steps.append((index, formula, [self.names.index(p) for p in parameters]))
        self.lone = self.steps[0][:2] if len(self.steps) == 1 else None
        self.saves = [op.source(name) for name in self.names]
        # The only thing to save is an input, as for a product with a constant.
        self.lone_input = self.saves[0][1] if len(self.saves) == 1 and self.saves[0][0] == INPUT else None
        self.frees = any(kind in (INPUT, RESULT) for kind, _ in self.saves)
        self.stays = [i for i, (kind, _) in enumerate(self.saves) if kind not in (INPUT, RESULT)]

    def save(self, args, arrays, outputs):
        """Return what the formulas need, in the form in which a node keeps it."""
        if self.lone_input is not None:
            value = args[self.lone_input]
            return (save(value) if isinstance(value, Tensor) else (value, None),)
        saved = []
        for kind, position in self.saves:
            if kind == INPUT:
                value = args[position]
                saved.append(save(value) if isinstance(value, Tensor) else (value, None))
            elif kind == RESULT:
                saved.append(save(outputs[position] if type(outputs) is tuple else outputs, position))
            elif kind == OTHER:
                saved.append((arrays[position], None))
            elif kind == SIZES:
                saved.append((np.shape(arrays[position]), None))
            else:
                saved.append((tuple(n // arrays[position].itemsize for n in arrays[position].strides), None))
        return saved


class OperationNode(Node):
    """The node of an operation: runs the formulas of its plan on what was saved."""

    __slots__ = ("plan", "saved")
    __init__ = object.__init__  # `operation` fills it in: a call less for each node
    op = None

    def run(self, gradients, needs):
        plan, saved = self.plan, self.saved
        if type(saved) is dict:
            raise RuntimeError(FREED)
        grad = gradients[0] if len(gradients) == 1 else self._complete(gradients)
        if grad is None:
            return plan.nothing
        recorded = state.grad
        if plan.joint:
            values = [restore(pair, self, recorded) for pair in saved]
            return plan.joint(grad, plan.needs if needs is None else needs, *values)
        produced = plan.nothing.copy()
        if plan.lone is not None and needs is None:  # the commonest case by far, without loops
            index, formula = plan.lone
            if not saved:
                produced[index] = formula(grad)
            elif len(saved) == 1:
                produced[index] = formula(grad, restore(saved[0], self, recorded))
            else:
                produced[index] = formula(grad, *[restore(pair, self, recorded) for pair in saved])
            return produced
        values = [restore(pair, self, recorded) for pair in saved]
        for index, formula, picks in plan.steps:
            if needs is None or needs[index]:
                produced[index] = formula(grad, *[values[pick] for pick in picks])
        return produced

    def _complete(self, gradients):
        """Return the gradients of several outputs, with zeros where nothing arrived; None for constant outputs."""
        complete = []
        for gradient, (shape, dtype) in zip(gradients, self.outputs, strict=True):
            if gradient is None and dtype.kind == "f":
                zeros = np.zeros(shape, dtype)
                gradient = make(zeros) if state.grad else zeros
            complete.append(gradient)
        return complete

    def release(self):
        """Free what was saved of tensors; other values, such as an exponent, stay to be read, as in torch."""
        if self.plan.frees and type(self.saved) is not dict:
            self.saved = {i: self.saved[i] for i in self.plan.stays} if self.plan.stays else NOTHING_STAYS

    def unpack(self, name):
        """Return what is saved under `name`, as `grad_fn._saved_name` shows it; None if it is not needed."""
        if name not in self.plan.names:
            return None  # not needed for the gradients that are asked for
        index = self.plan.names.index(name)
        if type(self.saved) is dict and index not in self.saved:
            raise RuntimeError(FREED)
        value = restore(self.saved[index], self, True)
        is_tensor = self.op.source(name)[0] == INPUT or isinstance(value, ndarray)
        return make(np.asarray(value)) if is_tensor and not isinstance(value, Tensor) else value


def _note_view(args, output, forward, kind, number=None):
    """Note that `output` shares memory with the first of `args`, and how to take the same view of another tensor."""
    source = args[0]
    output._version_cell = source._version_cell
    output._base = source if source._base is None else source._base
    output._views = (*source._views, (forward, args[1:], number))
    output._view_version = source._version_cell[0]
    output._view_kind = "many" if kind == "many" else source._view_kind if state.grad else "no_grad"
