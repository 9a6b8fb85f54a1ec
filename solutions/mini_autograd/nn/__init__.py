"""`torch.nn`: modules and the functions behind them. Read `module.py` first, then `hooks.py`."""

# ruff: noqa: F401 - the imported names are the package's API

from . import functional
from .layers import CrossEntropyLoss, Linear, MSELoss, ReLU, Sequential, Sigmoid, Tanh
from .module import Module
from .parameter import Parameter
