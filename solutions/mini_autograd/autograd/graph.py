"""What `torch.autograd.graph` offers: nodes, and hooks on what they save."""

from ..core.node import Node
from ..core.saved import saved_tensors_hooks

__all__ = ["Node", "saved_tensors_hooks"]
