"""The public names of `torch.autograd`. `backward` and `grad` are defined in `core/backward.py`."""

# ruff: noqa: F401 - the imported names are the package's API

from ..core.backward import backward, grad
from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..functions.left_out import no_attribute
from . import function, functional, graph
from .function import Function
from .gradcheck import gradcheck, gradgradcheck


def __getattr__(name):
    raise no_attribute("autograd", name)
