"""Adam and AdamW."""

import numpy as np

from ..functions import creation
from ..values import dtypes
from .optimizer import Optimizer, check_not_negative


class Adam(Optimizer):
    """p ← p - lr·m̂/(√v̂ + eps), with running means m of the gradient g and v of g², corrected for starting at 0.

    betas: the decay rates of m and v. weight_decay adds weight_decay·p to the gradient (AdamW shrinks p itself).
    amsgrad: use the largest v so far. Source: Kingma and Ba 2015; Loshchilov and Hutter 2019.
    foreach, fused and capturable only select an implementation in torch, and have no effect here.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        check_not_negative(learning__rate=lr, epsilon__value=eps)
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        check_not_negative(weight_decay__value=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _update(self, param, grad, group):
        state, array = self._state_of(param, group), param._data
        beta1, beta2 = group["betas"]
        state["step"] += 1
        step = state["step"].item()
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                array *= 1 - group["lr"] * group["weight_decay"]
                param._bump()
            else:
                grad = grad + group["weight_decay"] * array
        mean, square = state["exp_avg"]._data, state["exp_avg_sq"]._data
        mean += (1 - beta1) * (grad - mean)
        square *= beta2
        square += (1 - beta2) * (grad * grad)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]._data
            square = np.maximum(largest, square, out=largest)
        divisor = np.sqrt(square)
        divisor /= (1 - beta2**step) ** 0.5
        divisor += group["eps"]
        array -= group["lr"] / (1 - beta1**step) * (mean / divisor)

    def _state_of(self, param, group):
        """Return the optimizer state of `param`: zeros before its first step."""
        state = self.state[param]
        if not state:
            default = dtypes.get_default_dtype()
            state["step"] = creation.tensor(0.0, dtype=default)
            for name in ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ())):
                state[name] = creation.zeros_like(param)
        return state


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself, by lr·weight_decay, and does not enter the means."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
