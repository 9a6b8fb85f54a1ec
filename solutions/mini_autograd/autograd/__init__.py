"""What `torch.autograd` offers. `backward` and `grad` themselves are in `core/backward.py`."""

# ruff: noqa: F401 - the names imported here are what the package offers

from ..core import modes as grad_mode
from ..core.backward import backward, grad
from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..functions.left_out import no_attribute
from . import function, functional, graph
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable


def __getattr__(name):
    raise no_attribute("autograd", name)
