"""The engine of part two as chapter 12 leaves it. Made from the cells of that chapter."""

# %% setup-engine
import numpy as np
from engine_11 import AccumulateGrad, Node, OperationNode, Tensor, conform, edge_or_leaf, of_my_choice


# %% answer-12-1
def accumulate(leaf, gradient):
    """Add a gradient to leaf.grad, which must not share the gradient's memory.

    leaf: Tensor; its .grad is None or a Tensor of its shape and dtype.
    gradient: NumPy array of the leaf's shape and dtype. It stays unchanged.
    """
    if leaf.grad is None:
        leaf.grad = Tensor(np.array(gradient))
    else:
        leaf.grad.data += gradient


# %% arrive
def at_leaf(node, gradient):
    """Run an AccumulateGrad: add to its leaf's .grad. No node lies below, so there are no gradients to return."""
    accumulate(node.variable, gradient)
    return []


AccumulateGrad.apply = at_leaf


# %% engine-choice
setattr(Tensor, *of_my_choice())  # such as x.maximum(w)


# %% answer-12-2
def count_dependencies(edges):
    """Return, for each node that can be reached from edges, how many edges lead to it.

    edges: list of pairs (node or None, 0), where a backward pass enters the graph. It may be empty and stays unchanged.
    Returns a dict from node to int.
    """
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


# %% answer-12-3
def weight(tensor, gradient=None):
    """Return the array with which a backward pass from tensor starts, or raise a RuntimeError that says why not.

    tensor: Tensor. gradient: None, or a Tensor, the external gradient.
    Returns an array of the tensor's shape and, if no gradient is given, of its dtype. A NumPy scalar counts as an array
    of shape ().
    """
    if gradient is not None and gradient.shape != tensor.shape:
        shapes = [list(each.shape) for each in (gradient, tensor)]
        raise RuntimeError(
            "Mismatch in shape: grad_output[0] has a shape of torch.Size({}) "
            "and output[0] has a shape of torch.Size({}).".format(*shapes)
        )
    if not tensor.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is not None:
        return gradient.data
    if tensor.data.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(tensor.shape, tensor.dtype)


# %% release-nothing
Node.release = lambda node: None


# %% answer-12-4
def run(roots, gradients, keep_graph=False):
    """Run backward from roots; run each node once, when its whole gradient has arrived.

    roots: list of edges (node, 0). gradients: list of arrays, one for each root. Both stay unchanged.
    keep_graph: whether the nodes keep what they saved.
    """
    dependencies, arrived = count_dependencies(roots), {}  # by node: edges still to deliver, and the sum so far
    ready, leaves = [], []  # nodes whose whole gradient has arrived
    edges, produced = roots, gradients  # what to deliver next
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


# %% freed
FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


# %% answer-12-5
def release(node):
    """Free the tensors that an operation's node saved; numbers and shapes stay.

    node: OperationNode; node.saved is a dict by name, may be empty, and may become a new dict. The node may have been
        released before.
    """
    for name in node.saved:
        if name in node.formulas or name == "result":
            node.saved[name] = FREED


def restore(node, name):
    """Return what a node saved under name, a key of node.saved; raise RuntimeError(FREED) if it was freed."""
    if node.saved[name] is FREED:
        raise RuntimeError(FREED)
    return node.saved[name]


# %% release-attached
OperationNode.release = lambda node: release(node)
OperationNode.restore = lambda node, name: restore(node, name)


# %% answer-12-6
def backward(tensor, gradient=None, retain_graph=False):
    """Add the gradients of tensor, weighted by gradient, to the .grad of the leaves behind it.

    tensor: Tensor. gradient: None, or a Tensor of its shape. retain_graph: whether a second pass must be possible.
    """
    run([edge_or_leaf(tensor)], [weight(tensor, gradient)], keep_graph=retain_graph)


# %% backward-attached
Tensor.backward = lambda self, gradient=None, retain_graph=False: backward(self, gradient, retain_graph)
