"""The functions of `torch.nn.functional`: the linear layer, activations, and two losses."""

# ruff: noqa: F401 - the imported names are the package's API

from ..ops.elementwise import relu, sigmoid, tanh
from ..ops.losses import cross_entropy, mse_loss, nll_loss
from ..ops.matrices import linear
from ..ops.reductions import log_softmax
