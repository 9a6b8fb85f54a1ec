"""Stochastic gradient descent."""

from ..core.tensor import make
from .optimizer import Optimizer, check_not_negative


class SGD(Optimizer):
    """p ← p - lr·v, where v is the gradient g, or with momentum v ← momentum·v + (1 - dampening)·g.

    weight_decay adds weight_decay·p to the gradient; nesterov uses g + momentum·v instead of v; maximize negates the
    gradient. foreach and fused only select an implementation in torch, and have no effect here.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        check_not_negative(learning__rate=lr, momentum__value=momentum, weight_decay__value=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(self, param, grad, group):
        array, momentum = param._data, group["momentum"]
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * array
        if momentum != 0:
            velocity = self._velocity(param, grad, group)
            grad = grad + momentum * velocity if group["nesterov"] else velocity
        array -= group["lr"] * grad

    def _velocity(self, param, grad, group):
        """Return the decayed velocity of earlier steps plus the new gradient; the first gradient is not dampened."""
        buffer = self.state[param].get("momentum_buffer")
        if buffer is None:
            buffer = self.state[param]["momentum_buffer"] = make(grad.copy())
        else:
            buffer._data *= group["momentum"]
            buffer._data += (1 - group["dampening"]) * grad
        return buffer._data
