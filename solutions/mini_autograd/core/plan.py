"""Turn an operation's formulas into a node: choose which formulas run, and which values are saved for them.

`Operation` holds the arguments of `operation`. For each set of inputs that need a gradient it makes one `Plan`, which
all nodes for that set share, so a node holds only its plan and its saved values.
"""

import inspect

import numpy as np

from .modes import state
from .node import Node
from .saved import FREED, restore, save
from .tensor import Tensor, make

ndarray = np.ndarray
INPUT, RESULT, CONSTANT, OTHER, SIZES, STRIDES = range(6)  # the source of a saved value
TENSORS = {INPUT, RESULT, CONSTANT}
NOTHING_STAYS = {}  # a freed node keeps a dict of the values that stay, by position


class Operation:
    """The arguments of `operation`, and the plan for each set of needed gradients."""

    def __init__(self, name, forward, joint, formulas, names, constants):
        self.name, self.joint, self.formulas, self.constants = name, joint, formulas, constants
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
        """Return the source of the value that a formula calls `parameter`, as (kind, position)."""
        if parameter in self.parameters:
            position = self.parameters.index(parameter)
            return (INPUT if position < self.arity else CONSTANT if parameter in self.constants else OTHER), position
        for suffix, kind in (("_sym_sizes", SIZES), ("_sym_strides", STRIDES)):
            if parameter.endswith(suffix):
                return kind, self.parameters.index(parameter.removesuffix(suffix))
        return RESULT, int(parameter.removeprefix("result") or 0)

    def plan(self, needs):
        """Return the `Plan` for `needs`, which has one bit per tensor argument that needs a gradient."""
        plan = self.plans[needs] = Plan(self, [bool(needs >> i & 1) for i in range(self.arity)])
        return plan


class Plan:
    """The formulas that run, and the values saved for them, for one set of inputs that need a gradient."""

    def __init__(self, op, needs):
        self.needs, self.joint, self.nothing = needs, op.joint, [None] * len(needs)
        self.steps = []  # (input index, formula, positions of its values among the saved ones)
        self.names = []
        if op.joint:
            chosen = [(None, op.joint, 2)]
        else:
            chosen = [(i, f, 1) for i, f in enumerate(op.formulas.values()) if needs[i] and f]
        for index, formula, skip in chosen:
            parameters = list(inspect.signature(formula).parameters)[skip:]
            self.names += [p for p in parameters if p not in self.names]
            self.steps.append((index, formula, [self.names.index(p) for p in parameters]))
        self.saves = [op.source(name) for name in self.names]
        self.stays = [i for i, (kind, _) in enumerate(self.saves) if kind not in TENSORS]
        self.frees = len(self.stays) < len(self.saves)
        # Shortcuts for speed: the only formula; the only input to save.
        self.lone = self.steps[0][:2] if len(self.steps) == 1 else None
        self.lone_input = self.saves[0][1] if len(self.saves) == 1 and self.saves[0][0] == INPUT else None

    def save(self, args, arrays, outputs):
        """Return the values that the formulas need, as the pairs that a node keeps (see `saved.py`)."""
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
            elif kind in (CONSTANT, OTHER):
                saved.append((arrays[position], None))
            elif kind == SIZES:
                saved.append((np.shape(arrays[position]), None))
            else:
                saved.append((tuple(n // arrays[position].itemsize for n in arrays[position].strides), None))
        return saved


class OperationNode(Node):
    """The node of an operation: runs its plan's formulas on the saved values."""

    __slots__ = ("plan", "saved")
    __init__ = object.__init__  # `operation` sets the attributes itself, which saves one call per node
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
        if plan.lone is None or needs is not None:
            values = [restore(pair, self, recorded) for pair in saved]
            for index, formula, picks in plan.steps:
                if needs is None or needs[index]:
                    produced[index] = formula(grad, *[values[pick] for pick in picks])
            return produced
        # The same without loops for by far the most common case, one formula.
        index, formula = plan.lone
        if not saved:
            produced[index] = formula(grad)
        elif len(saved) == 1:
            produced[index] = formula(grad, restore(saved[0], self, recorded))
        else:
            produced[index] = formula(grad, *[restore(pair, self, recorded) for pair in saved])
        return produced

    def _complete(self, gradients):
        """Return the gradients of several outputs, with zeros for missing ones; None for constant outputs."""
        complete = []
        for gradient, (shape, dtype) in zip(gradients, self.outputs, strict=True):
            if gradient is None and dtype.kind == "f":
                zeros = np.zeros(shape, dtype)
                gradient = make(zeros) if state.grad else zeros
            complete.append(gradient)
        return complete

    def release(self):
        """Free the saved tensors; other values, such as an exponent, stay readable, as in torch."""
        if self.plan.frees and type(self.saved) is not dict:
            self.saved = {i: self.saved[i] for i in self.plan.stays} if self.plan.stays else NOTHING_STAYS

    def unpack(self, name):
        """Return the value saved under `name`, as `grad_fn._saved_name` shows it; None if no formula needs it."""
        if name not in self.plan.names:
            return None  # not needed for the requested gradients
        index = self.plan.names.index(name)
        if type(self.saved) is dict and index not in self.saved:
            raise RuntimeError(FREED)
        value = restore(self.saved[index], self, True, shown=True)
        is_tensor = self.op.source(name)[0] == INPUT or isinstance(value, ndarray)
        return make(np.asarray(value)) if is_tensor and not isinstance(value, Tensor) else value
