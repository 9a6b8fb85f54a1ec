"""The public names of `torch.autograd.graph`: nodes, edges, and hooks on saved tensors."""

# ruff: noqa: F401 - the imported names are the package's API

from ..core.backward import GradientEdge, get_gradient_edge
from ..core.node import Node
from ..core.saved import saved_tensors_hooks
from ..functions.left_out import no_attribute


def __getattr__(name):
    raise no_attribute("autograd.graph", name)
