"""The public names of `torch.autograd`. `backward` and `grad` are defined in `core/backward.py`."""

# ruff: noqa: F401 - the imported names are the package's API

from ..core.backward import backward, grad
from ..core.modes import enable_grad, no_grad, set_grad_enabled
from . import function
from .function import Function
