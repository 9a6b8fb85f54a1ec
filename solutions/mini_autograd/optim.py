"""`torch.optim`: `SGD`, which updates parameters from their gradients."""

import numpy as np

from .core.tensor import Tensor, make

VALUES = {"lr": "learning rate", "momentum": "momentum value", "weight_decay": "weight_decay value"}


class SGD:
    """p ← p - lr·v, where v is the gradient g, or with momentum v ← momentum·v + g.

    params: tensors, or groups: dicts with "params" and their own options. weight_decay adds weight_decay·p to the
    gradient. Parameters whose `grad` is None stay as they are; not even weight decay moves them.
    """

    def __init__(self, params, lr=1e-3, momentum=0, weight_decay=0):
        options = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch."
                + params._type_name()
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        groups = groups if isinstance(groups[0], dict) else [{"params": groups}]
        self.param_groups = [{**options, **group, "params": list(group["params"])} for group in groups]
        self.state = {}  # parameter → {"momentum_buffer": its v}
        for group in self.param_groups:
            for name in options:
                if not group[name] >= 0:
                    raise ValueError(f"Invalid {VALUES[name]}: {group[name]}")
            for param in group["params"]:
                if not isinstance(param, Tensor):
                    raise TypeError(
                        f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}"
                    )
                if not (param.is_leaf or param.retains_grad):
                    raise ValueError("can't optimize a non-leaf Tensor")

    def step(self):
        """Update every parameter that has a gradient, in place and without recording."""
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        self._update(param, param.grad._data, group)
                        param._bump()

    def _update(self, param, grad, group):
        array, momentum = param._data, group["momentum"]
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * array
        if momentum != 0:
            state = self.state.setdefault(param, {})
            if state:
                grad = momentum * state["momentum_buffer"]._data + grad
            state["momentum_buffer"] = make(np.array(grad))
        array -= group["lr"] * grad

    def zero_grad(self):
        """Reset the gradients of all parameters to None."""
        for group in self.param_groups:
            for param in group["params"]:
                param.grad = None
