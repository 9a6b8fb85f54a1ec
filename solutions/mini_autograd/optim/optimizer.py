"""`Optimizer`: parameters in groups, each with options, and the state of each parameter."""

import copy
import itertools
import warnings
from collections import defaultdict

import numpy as np

from ..core.modes import enable_grad, no_grad
from ..core.tensor import Tensor
from ..nn.modules.module import typename, zero_grads


class Optimizer:
    """The base class of all optimizers; their `_update` changes one parameter in a step.

    params: tensors, (name, tensor) pairs, or groups: dicts with "params" and options. Parameters whose `grad` is None
    are skipped; not even weight decay moves them.
    """

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        if defaults.get("differentiable"):
            name = type(self).__name__
            raise NotImplementedError(
                f"{name} with differentiable=True is left out of the mini engine; use torch.optim.{name}"
            )
        self.defaults, self.param_groups = defaults, []
        self.state = defaultdict(dict)  # parameter → its state
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """Add the parameters `param_group["params"]` with the options in this dict."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [each[0] for each in params if isinstance(each, tuple)]
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = names
            params = [tensor for _, tensor in params]
        param_group["params"] = params
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(param)}")
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self._check_new(param_group, names)
        self.param_groups.append(param_group)

    def _check_new(self, param_group, names):
        if len(param_group["params"]) != len(set(param_group["params"])):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )
        known = set()
        for group in self.param_groups:
            known.update(group["params"])
            if ("param_names" in group) != bool(names):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if names else 'without'} names to the optimizer"
                )
        if not known.isdisjoint(param_group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    def step(self, closure=None):
        """Update every parameter that has a gradient. closure: computes the loss again; its result is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad(), np.errstate(all="ignore"):
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        grad = param.grad._data
                        self._update(param, -grad if group["maximize"] else grad, group)
                        param._bump()
        return loss

    def _update(self, param, grad, group):
        """Change the array of `param` in place, given the array of its gradient, which must stay unchanged."""
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        """Reset the gradients of all parameters, to None or to zeros."""
        for group in self.param_groups:
            zero_grads(group["params"], set_to_none)

    def state_dict(self):
        """Return the options and the state, with parameters replaced by their indices; nothing is copied."""
        numbers = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(param, len(numbers))
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [numbers[param] for param in group["params"]]})
        return {"state": {numbers[param]: state for param, state in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Load options and state from the `state_dict` of an optimizer with the same order of parameters."""
        groups, saved = self.param_groups, copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        numbers = itertools.chain.from_iterable(group["params"] for group in saved)
        params = itertools.chain.from_iterable(group["params"] for group in groups)
        by_number = dict(zip(numbers, params, strict=True))
        self.state = defaultdict(dict)
        for number, state in state_dict["state"].items():
            param = by_number.get(number, number)
            self.state[param] = {name: _conformed(name, value, param) for name, value in state.items()}
        for group, new in zip(groups, saved, strict=True):
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.param_groups = [{**self.defaults, **new} for new in saved]

    def __repr__(self):
        text = type(self).__name__ + " ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
        return text + ")"


def _conformed(name, value, param):
    """Return a state value; tensors other than the step count are converted to the parameter's dtype."""
    return value.to(param.dtype) if isinstance(value, Tensor) and name != "step" else value


def check_not_negative(**values):
    """Raise torch's ValueError for the first of `values` that is negative or nan, with that value's name."""
    for name, value in values.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name.replace('__', ' ')}: {value}")
