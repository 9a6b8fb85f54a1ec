"""How an operation's formulas become a node: which run, and which values are saved for them.

`Operation` holds what `operation` was told. For each set of inputs that need a gradient it makes one `Plan`, which all
nodes made for that set share; so a node itself only holds its plan and what was saved.
"""

import inspect

import numpy as np

from .modes import state
from .node import Node
from .saved import FREED, SavedTensor, restore, save
from .tensor import Tensor, make

ndarray = np.ndarray
INPUT, RESULT, CONSTANT, OTHER, SIZES, STRIDES = range(6)  # where a saved value comes from
TENSORS = {INPUT, RESULT, CONSTANT}
NOTHING_STAYS = {}  # a freed node's saved values are a dict, of what stays by position


class Operation:
    """What `operation` was told, and which formulas and saved values each set of needed gradients takes."""

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
        for each in self.saveable:
            if self.source(each)[0] in (INPUT, RESULT):
                shown[f"_raw_saved_{each}"] = property(lambda node, each=each: node.raw(each))
        self.node_class = type(name, (OperationNode,), {"op": self, "__slots__": (), **shown})

    def source(self, parameter):
        """Return where the value that a formula calls `parameter` comes from, as (kind, position)."""
        if parameter in self.parameters:
            position = self.parameters.index(parameter)
            return (INPUT if position < self.arity else CONSTANT if parameter in self.constants else OTHER), position
        for suffix, kind in (("_sym_sizes", SIZES), ("_sym_strides", STRIDES)):
            if parameter.endswith(suffix):
                return kind, self.parameters.index(parameter.removesuffix(suffix))
        return RESULT, int(parameter.removeprefix("result") or 0)

    def plan(self, needs):
        """Return the `Plan` for `needs`, a bit for each tensor argument whose gradient is needed."""
        plan = self.plans[needs] = Plan(self, [bool(needs >> i & 1) for i in range(self.arity)])
        return plan


class Plan:
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
        self.saves = [op.source(name) for name in self.names]
        self.stays = [i for i, (kind, _) in enumerate(self.saves) if kind not in TENSORS]
        self.frees = len(self.stays) < len(self.saves)
        # Only faster: the one formula that there is; the one input that is all there is to save.
        self.lone = self.steps[0][:2] if len(self.steps) == 1 else None
        self.lone_input = self.saves[0][1] if len(self.saves) == 1 and self.saves[0][0] == INPUT else None

    def save(self, args, arrays, outputs):
        """Return what the formulas need, as the pairs in which a node keeps it (see `saved.py`)."""
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
        if plan.lone is None or needs is not None:
            values = [restore(pair, self, recorded) for pair in saved]
            for index, formula, picks in plan.steps:
                if needs is None or needs[index]:
                    produced[index] = formula(grad, *[values[pick] for pick in picks])
            return produced
        # The same for the commonest case by far, one formula, without the loops.
        index, formula = plan.lone
        if not saved:
            produced[index] = formula(grad)
        elif len(saved) == 1:
            produced[index] = formula(grad, restore(saved[0], self, recorded))
        else:
            produced[index] = formula(grad, *[restore(pair, self, recorded) for pair in saved])
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
        value = restore(self.saved[index], self, True, shown=True)
        is_tensor = self.op.source(name)[0] == INPUT or isinstance(value, ndarray)
        return make(np.asarray(value)) if is_tensor and not isinstance(value, Tensor) else value

    def raw(self, name):
        """Return what is saved under `name`, as `grad_fn._raw_saved_name` shows it."""
        return SavedTensor(self, self.plan.names.index(name) if name in self.plan.names else None)
