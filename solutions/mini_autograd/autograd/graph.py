"""What `torch.autograd.graph` offers: nodes, and hooks on what they save."""

from ..graph import Node, saved_tensors_hooks

__all__ = ["Node", "saved_tensors_hooks"]
