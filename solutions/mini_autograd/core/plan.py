"""Turn an operation's formulas into a node: choose which formulas run, and which values are saved for them.

For each set of inputs that need a gradient, an operation makes one `Plan`. All nodes for that set share it, so a node
holds only its plan and its saved values.
"""

import inspect

import numpy as np

from .modes import state
from .node import Node
from .saved import FREED, restore, save
from .tensor import Tensor, make

INPUT, RESULT, CONSTANT, OTHER, SIZES, STRIDES = range(6)  # the source of a saved value


class Operation:
    """The parts of an operation's definition, and the plan for each set of needed gradients."""

    def __init__(self, name, forward, formulas, constants):
        self.name, self.formulas, self.constants = name, formulas, constants
        self.parameters = list(inspect.signature(forward).parameters)
        self.arity = len(formulas)  # the number of tensor arguments
        if self.parameters[: self.arity] != list(formulas):
            raise TypeError(f"{name}: the tensors {list(formulas)} must come first in {self.parameters}")
        self.plans = {}
        wanted = {name for formula in formulas.values() for name in asked_for(formula)}
        shown = {f"_saved_{each}": property(lambda node, each=each: node.unpack(each)) for each in wanted}
        self.node_class = type(name, (OperationNode,), {"op": self, "__slots__": (), **shown})

    def source(self, parameter):
        """Return the source of the value that a formula calls `parameter`, as (kind, position)."""
        if parameter == "result":
            return RESULT, 0
        for suffix, kind in (("_sym_sizes", SIZES), ("_sym_strides", STRIDES)):
            if parameter.endswith(suffix):
                return kind, self.parameters.index(parameter.removesuffix(suffix))
        position = self.parameters.index(parameter)
        return INPUT if position < self.arity else CONSTANT if parameter in self.constants else OTHER, position

    def plan(self, needs):
        """Return the `Plan` for `needs`, which has one bit per tensor argument that needs a gradient."""
        plan = self.plans[needs] = Plan(self, [bool(needs >> i & 1) for i in range(self.arity)])
        return plan


def asked_for(formula):
    """Return the names of the values that `formula` asks for besides the gradient; None asks for none."""
    return list(inspect.signature(formula).parameters)[1:] if formula else []


class Plan:
    """The formulas that run, and the values saved for them, for one set of inputs that need a gradient."""

    def __init__(self, op, needs):
        chosen = [(i, formula) for i, formula in enumerate(op.formulas.values()) if needs[i] and formula]
        self.names = list(dict.fromkeys(name for _, formula in chosen for name in asked_for(formula)))
        # Each step: input index, formula, positions of its values among the saved ones.
        self.steps = [(i, f, [self.names.index(name) for name in asked_for(f)]) for i, f in chosen]
        self.sources = [op.source(name) for name in self.names]
        self.stays = [i for i, (kind, _) in enumerate(self.sources) if kind in (OTHER, SIZES, STRIDES)]
        self.frees = len(self.stays) < len(self.sources)
        self.nothing = [None] * len(needs)
        # The most common plans are kept ready for speed: one formula, which needs nothing or one input.
        self.only_formula = self.steps[0][:2] if len(self.steps) == 1 and len(self.names) < 2 else None
        self.only_input = self.sources[0][1] if [kind for kind, _ in self.sources] == [INPUT] else None

    def save(self, args, arrays, output):
        """Return the values that the formulas need, as the pairs that a node keeps (see `saved.py`)."""
        if self.only_input is not None:
            value = args[self.only_input]
            return (save(value) if isinstance(value, Tensor) else (value, None),)
        if not self.sources:
            return ()
        saved = []
        for kind, position in self.sources:
            if kind == INPUT:
                value = args[position]
                saved.append(save(value) if isinstance(value, Tensor) else (value, None))
            elif kind == RESULT:
                saved.append(save(output, 0))
            elif kind == SIZES:
                saved.append((arrays[position].shape, None))
            elif kind == STRIDES:
                saved.append((arrays[position].strides, None))
            else:
                saved.append((arrays[position], None))
        return saved


class OperationNode(Node):
    """The node of an operation: runs its plan's formulas on the saved values."""

    __slots__ = ("plan", "saved")
    __init__ = object.__init__  # `operation` sets the attributes itself, which saves one call per node
    op = None

    def run(self, gradients, needs):
        grad, plan, saved = gradients[0], self.plan, self.saved
        if type(saved) is dict:
            raise RuntimeError(FREED)
        if grad is None:
            return plan.nothing
        produced = plan.nothing.copy()
        if plan.only_formula:
            index, formula = plan.only_formula
            if needs is None or needs[index]:
                produced[index] = formula(grad, restore(saved[0], self, state.grad)) if saved else formula(grad)
            return produced
        values = [restore(pair, self, state.grad) for pair in saved]
        for index, formula, picks in plan.steps:
            if needs is None or needs[index]:
                produced[index] = formula(grad, *[values[pick] for pick in picks])
        return produced

    def release(self):
        """Free the saved tensors; other values, such as an exponent, stay readable by position, as in torch."""
        if self.plan.frees and type(self.saved) is not dict:
            self.saved = {i: self.saved[i] for i in self.plan.stays} if self.plan.stays else NOTHING_STAYS

    def unpack(self, name):
        """Return the value saved under `name`, as `grad_fn._saved_name` shows it; None if no formula needs it."""
        if name not in self.plan.names:
            return None  # not needed for the requested gradients
        index = self.plan.names.index(name)
        if type(self.saved) is dict and index not in self.saved:
            raise RuntimeError(FREED)
        value = restore(self.saved[index], self, True)
        if self.op.source(name)[0] in (INPUT, CONSTANT) and not isinstance(value, Tensor):
            return make(np.asarray(value))
        return value


NOTHING_STAYS = {}
