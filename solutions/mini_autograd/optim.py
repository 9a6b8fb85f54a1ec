"""`torch.optim`: `SGD`, which updates parameters from their gradients."""

import numpy as np

from .core.tensor import Tensor, make


class SGD:
    """p ← p - lr·v, where v is the gradient g, or with momentum v ← momentum·v + g.

    weight_decay adds weight_decay·p to the gradient. Parameters whose `grad` is None stay as they are; not even weight
    decay moves them.
    """

    def __init__(self, params, lr=1e-3, momentum=0, weight_decay=0):
        for name, value in (("learning rate", lr), ("momentum value", momentum), ("weight_decay value", weight_decay)):
            if not value >= 0:
                raise ValueError(f"Invalid {name}: {value}")
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch."
                + params._type_name()
            )
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.params = list(params)
        self.state = {}  # parameter → {"momentum_buffer": its v}
        if not self.params:
            raise ValueError("optimizer got an empty parameter list")
        for param in self.params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")

    def step(self):
        """Update every parameter that has a gradient, in place and without recording."""
        with np.errstate(all="ignore"):
            for param in self.params:
                if param.grad is not None:
                    self._update(param, param.grad._data)
                    param._bump()

    def _update(self, param, grad):
        array = param._data
        if self.weight_decay != 0:
            grad = grad + self.weight_decay * array
        if self.momentum != 0:
            state = self.state.setdefault(param, {})
            if state:
                grad = self.momentum * state["momentum_buffer"]._data + grad
            state["momentum_buffer"] = make(np.array(grad))
        array -= self.lr * grad

    def zero_grad(self):
        """Reset the gradients of all parameters to None."""
        for param in self.params:
            param.grad = None
