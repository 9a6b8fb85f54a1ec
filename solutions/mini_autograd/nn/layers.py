"""The layers and losses: each stores its parameters and options, and calls the function of the same name."""

import math

from ..ops import creation
from . import functional as F
from .module import Module
from .parameter import Parameter


class Linear(Module):
    """The layer `input @ weight.T + bias`. input: (n, in_features); weight: (out_features, in_features)."""

    def __init__(self, in_features, out_features, bias=True, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        # torch draws the weight (by kaiming_uniform_ with a = √5) and the bias uniformly from ±1/√in_features.
        bound = 1 / math.sqrt(in_features) if in_features else 0

        def drawn(*shape):
            return Parameter((creation.rand(*shape, dtype=dtype) * 2 - 1) * bound)

        self.weight = drawn(out_features, in_features)
        self.bias = drawn(out_features) if bias else None

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Sigmoid(Module):
    """The function 1 / (1 + exp(-input)) as a layer."""

    def forward(self, input):
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent as a layer."""

    def forward(self, input):
        return F.tanh(input)


class ReLU(Module):
    """The function max(input, 0) as a layer."""

    def forward(self, input):
        return F.relu(input)


class Sequential(Module):
    """A module that calls its submodules, which are its arguments, in turn."""

    def __init__(self, *args):
        super().__init__()
        for name, module in enumerate(args):
            if not isinstance(module, Module):
                raise TypeError(f"{type(module).__name__} is not a Module subclass")
            setattr(self, str(name), module)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self)[index]


class MSELoss(Module):
    """The mean of (input - target)²."""

    def forward(self, input, target):
        return F.mse_loss(input, target)


class CrossEntropyLoss(Module):
    """The mean negative log-likelihood of softmax(input) at the class indices in target; the input contains logits."""

    def forward(self, input, target):
        return F.cross_entropy(input, target)
