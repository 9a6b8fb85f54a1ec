"""The idea: tensors, nodes, saved values, operations, and the walk back. Read it in the order of README.md."""

from . import backward, leaf  # noqa: F401 - each gives `Tensor` a method
