"""The engine of part two as chapter 12 leaves it. Made from the cells of that chapter."""

import numpy as np
from engine_11 import AccumulateGrad, Node, OperationNode, Tensor, conform, edge_or_leaf

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


def count_dependencies(edges):
    """Return, for each node reached from edges, how many edges lead to it."""
    dependencies, stack = {}, [edges]
    while stack:
        for node, _ in stack.pop():
            if node is None:
                continue
            if node not in dependencies:
                dependencies[node] = 0
                stack.append(node.next_functions)
            dependencies[node] += 1
    return dependencies


def run(roots, gradients, keep_graph=False):
    """Run backward from roots, edges that receive gradients (arrays): each node once, when all of its own is there."""
    dependencies, arrived = count_dependencies(roots), {}
    ready, leaves = [], []  # leaves go first, as in torch
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if node is None:
                continue
            gradient = conform(gradient, node)
            arrived[node] = arrived[node] + gradient if node in arrived else gradient
            dependencies[node] -= 1
            if dependencies[node] == 0:
                (ready if node.next_functions else leaves).append(node)
        if not ready and not leaves:
            return
        node = leaves.pop(0) if leaves else ready.pop()
        edges, produced = node.next_functions, node.run(arrived.pop(node))
        if not keep_graph:
            node.release()


def accumulate(leaf, gradient):
    """Add a gradient, an array, to the .grad of a leaf, which is a tensor of its own."""
    if leaf.grad is None:
        leaf.grad = Tensor(np.array(gradient))
    else:
        leaf.grad.data += gradient


def arrive(node, gradient):
    """What an AccumulateGrad does with its gradient."""
    accumulate(node.variable, gradient)
    return []


def release(node):
    """Free the tensors that a node has saved; numbers and shapes stay, as in torch."""
    for name in node.saved:
        if name in node.formulas or name == "result":
            node.saved[name] = FREED


def restore(node, name):
    """Return what a node has saved under a name; raise torch's error if it was freed."""
    if node.saved[name] is FREED:
        raise RuntimeError(FREED)
    return node.saved[name]


def weight(tensor, gradient=None):
    """Return the gradient, as an array, with which a walk from tensor begins, or raise torch's error."""
    if gradient is not None:
        kind = gradient[0] if isinstance(gradient, list | tuple) and gradient else gradient  # torch looks into lists
        if not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(kind).__name__}")
        if gradient.shape != tensor.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[0] has a shape of torch.Size({list(gradient.shape)}) "
                f"and output[0] has a shape of torch.Size({list(tensor.shape)})."
            )
    if not tensor.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is not None:
        return gradient.data
    if tensor.data.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(tensor.shape, tensor.dtype)


def backward(tensor, gradient=None, retain_graph=False):
    """Accumulate into the leaves behind tensor the gradient of its sum, weighted by gradient."""
    run([edge_or_leaf(tensor)], [weight(tensor, gradient)], keep_graph=retain_graph)


Node.release = lambda node: None
AccumulateGrad.run = arrive
OperationNode.release = release
OperationNode.restore = restore
Tensor.backward = backward
