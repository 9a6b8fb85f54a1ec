"""Answers to the exercises of chapter 12 that have found something in a check."""


# one array for all
@wrong("12.1")
def accumulate(leaf, gradient, shared={}):  # noqa: B006
    if leaf.grad is None:
        leaf.grad = Tensor(shared.setdefault(gradient.shape, np.array(gradient)))
    else:
        leaf.grad.data += gradient


# zeros replaced
@wrong("12.1", "zeros taken for None")
def accumulate(leaf, gradient):
    if leaf.grad is None or np.all(leaf.grad.data == 0):
        leaf.grad = Tensor(np.array(gradient))
    else:
        leaf.grad.data += gradient


# marks
@wrong("12.2", "marks left on the nodes")
def count_dependencies(edges):
    counts, waiting = {}, list(edges)
    while waiting:
        node, _ = waiting.pop()
        if node is not None:
            counts[node] = counts.get(node, 0) + 1
            if not vars(node).get("visited"):
                node.visited = True
                waiting.extend(node.next_functions)
    return counts


# if gradient
@wrong("12.3", "an array")
def weight(tensor, gradient=None):
    if gradient and not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient[0]).__name__}")
    if gradient and gradient.shape != tensor.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of torch.Size({list(gradient.shape)}) "
            f"and output[0] has a shape of torch.Size({list(tensor.shape)})."
        )
    if not tensor.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient:
        return gradient.data
    if tensor.data.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return np.ones(tensor.shape, tensor.dtype)


# conformed after the sum
@wrong("12.4", "x receives gradients of two shapes")
def run(roots, gradients, keep_graph=False):
    dependencies, arrived, ready, leaves = count_dependencies(roots), {}, [], []
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if node is None:
                continue
            arrived[node] = arrived[node] + gradient if node in arrived else gradient
            dependencies[node] -= 1
            if dependencies[node] == 0:
                arrived[node] = conform(arrived[node], node)
                (ready if node.next_functions else leaves).append(node)
        if not ready and not leaves:
            return
        node = leaves.pop(0) if leaves else ready.pop()
        edges, produced = node.next_functions, node.run(arrived.pop(node))
        if not keep_graph:
            node.release()


# the values of leaves gone
@wrong("12.5")
def release(node):
    for name, value in list(node.saved.items()):
        if name in node.formulas or name == "result":
            if isinstance(value, Tensor):
                value.data = None
            node.saved[name] = FREED


# None for FREED
@wrong("12.5", "where FREED does not stand")
def release(node):
    def refuse(name):
        if node.saved[name] is None:
            raise RuntimeError(FREED)
        return node.saved[name]

    for name in node.saved:
        if name in node.formulas or name == "result":
            node.saved[name] = None
    node.restore = refuse
