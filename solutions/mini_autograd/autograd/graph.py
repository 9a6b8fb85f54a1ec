"""The public names of `torch.autograd.graph`: nodes, edges, hooks on saved tensors and on several gradients at once."""

import functools

from ..core.backward import GradientEdge, get_gradient_edge
from ..core.engine import walks
from ..core.hooks import RemovableHandle
from ..core.node import Node
from ..core.saved import saved_tensors_hooks
from ..core.tensor import Tensor
from ..functions.left_out import no_attribute

__all__ = [
    "GradientEdge", "Node", "get_gradient_edge", "increment_version", "register_multi_grad_hook", "saved_tensors_hooks",
]  # fmt: skip


def increment_version(tensor):
    """Count an in-place change that autograd did not notice, to one tensor or to each of several."""
    for each in [tensor] if isinstance(tensor, Tensor) else tensor:
        each._bump()


class _MultiHandle(RemovableHandle):
    """A handle that removes several hooks at once."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call `fn` once in each backward pass; return a handle that removes this hook.

    mode "all": once all gradients of `tensors` are known, `fn` receives a list of them, None for tensors that the pass
    does not reach. "any": it receives the first known gradient, immediately.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        return _MultiHandle(_on_first(tensors, fn))
    for tensor in tensors:
        assert tensor.requires_grad, "Expected gradient function to be set"
    nodes = [tensor._edge_or_leaf()[0] for tensor in tensors]
    under_way = {}  # pass → its gradients, and how many are still missing

    def note(index, grad):
        walk = walks[-1]
        if walk not in under_way:
            under_way[walk] = [None] * len(nodes), [sum(map(walk.will_reach, nodes))]
        gradients, missing = under_way[walk]
        gradients[index] = grad
        missing[0] -= 1
        if not missing[0]:
            del under_way[walk]
            fn(gradients)

    return _MultiHandle([tensor.register_hook(functools.partial(note, index)) for index, tensor in enumerate(tensors)])


def _on_first(tensors, fn):
    last = None  # the pass in which fn was called

    def once(grad):
        nonlocal last
        if walks[-1] is not last:
            last = walks[-1]
            fn(grad)

    return [tensor.register_hook(once) for tensor in tensors if tensor.requires_grad]


def __getattr__(name):
    raise no_attribute("autograd.graph", name)
