"""The core idea: tensors, nodes, saved values, operations, and the backward pass. README.md gives the reading order."""

from . import backward, leaf  # noqa: F401 - each adds a method to `Tensor`
