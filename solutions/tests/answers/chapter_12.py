"""Answers to the exercises of chapter 12 that have found something in a check."""


# added to None
@wrong("12.1", "AttributeError: 'NoneType' object has no attribute 'data'")
def accumulate(leaf, gradient):
    leaf.grad.data += gradient


# None walked on from
@wrong("12.2", "AttributeError: 'NoneType' object has no attribute 'next_functions'")
def count_dependencies(edges):
    counts, waiting = {}, list(edges)
    while waiting:
        node, _ = waiting.pop()
        if node not in counts:
            counts[node] = 0
            waiting.extend(node.next_functions)
        counts[node] += 1
    return counts


# added to what is not there
@wrong("12.4", "KeyError")
def run(roots, gradients, keep_graph=False):
    dependencies, arrived, ready, leaves = count_dependencies(roots), {}, [], []
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if node is None:
                continue
            arrived[node] = arrived[node] + conform(gradient, node)
            dependencies[node] -= 1
            if dependencies[node] == 0:
                (ready if node.next_functions else leaves).append(node)
        if not ready and not leaves:
            return
        node = leaves.pop(0) if leaves else ready.pop()
        edges, produced = node.next_functions, node.run(arrived.pop(node))
        if not keep_graph:
            node.release()


# conformed to None
@wrong("12.4", "AttributeError: 'NoneType' object has no attribute 'outputs'")
def run(roots, gradients, keep_graph=False):
    dependencies, arrived, ready, leaves = count_dependencies(roots), {}, [], []
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            gradient = conform(gradient, node)
            if node is None:
                continue
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


# compared element by element
@wrong("12.5", "ValueError: The truth value of an array with more than one element is ambiguous")
def release(node):
    for name, value in node.saved.items():
        if value != FREED and (name in node.formulas or name == "result"):
            node.saved[name] = FREED


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
@wrong("12.2", "attributes added to the nodes")
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
@wrong("12.5", "tensors not freed")
def release(node):
    def refuse(name):
        if node.saved[name] is None:
            raise RuntimeError(FREED)
        return node.saved[name]

    for name in node.saved:
        if name in node.formulas or name == "result":
            node.saved[name] = None
    node.restore = refuse


# another Tensor around the same array
@wrong("12.1", "'.grad after call 2 is'")
def accumulate(leaf, gradient):
    if leaf.grad is None:
        leaf.grad = Tensor(gradient.copy())
    else:
        leaf.grad.data += gradient
        leaf.grad = Tensor(leaf.grad.data)


# a later gradient goes elsewhere
@wrong("12.1", "Only the first gradient is in .grad", "not: dropped")
def accumulate(leaf, gradient):
    if leaf.grad is None:
        leaf.grad = Tensor(gradient.copy())
    else:
        leaf.data += gradient


# no .grad but a leaf's
@wrong("12.3", "the tensor's .grad, afterwards")
def weight(tensor, gradient=None):
    if gradient is not None and not isinstance(gradient, Tensor):
        inside = type(gradient[0]).__name__ if isinstance(gradient, list) else type(gradient).__name__
        raise TypeError(f"gradients can be either Tensors or None, but got {inside}")
    if gradient is not None and gradient.shape != tensor.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of torch.Size({list(gradient.shape)}) "
            f"and output[0] has a shape of torch.Size({list(tensor.shape)})."
        )
    if not tensor.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None and tensor.data.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    tensor.grad = Tensor(np.ones(tensor.shape, tensor.dtype)) if gradient is None else gradient
    return tensor.grad.data


# torch's own kind of error is swallowed
@wrong("12.4", "pass 1 ends with")
def run(roots, gradients, keep_graph=False):
    dependencies, arrived, ready, leaves = count_dependencies(roots), {}, [], []
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if node is not None:
                gradient = conform(gradient, node)
                arrived[node] = arrived[node] + gradient if node in arrived else gradient
                dependencies[node] -= 1
                if dependencies[node] == 0:
                    (ready if node.next_functions else leaves).append(node)
        if not ready and not leaves:
            return
        node = (leaves or ready).pop()
        try:
            edges, produced = node.next_functions, node.run(arrived.pop(node))
        except RuntimeError:
            return
        if not keep_graph:
            node.release()


# at each arrival, in whatever order
@wrong("12.4", "Shared nodes ran more than once")
def run(roots, gradients, keep_graph=False):
    waiting = list(zip(roots, gradients, strict=True))
    while waiting:
        (node, _), gradient = waiting.pop()
        if node is not None:
            waiting.extend(zip(node.next_functions, node.run(conform(gradient, node)), strict=True))
            if not keep_graph:
                node.release()


# the mark is returned
@wrong("12.5")
def restore(node, name):
    return node.saved[name]


# equal, element by element
@wrong("12.5")
def restore(node, name):
    if node.saved[name] == FREED:
        raise RuntimeError(FREED)
    return node.saved[name]


# read once
@wrong("12.5")
def restore(node, name):
    value = node.saved.pop(name)
    if value is FREED:
        raise RuntimeError(FREED)
    return value


# refused for what was not freed
@wrong("12.5")
def restore(node, name):
    if any(value is FREED for value in node.saved.values()):
        raise RuntimeError(FREED)
    return node.saved[name]


# a stack of edges with their gradients
@wrong("12.4", "Shared nodes ran more than once")
def run(roots, gradients, keep_graph=False):
    waiting = list(zip(roots, gradients, strict=True))
    while waiting:
        (node, _), gradient = waiting.pop()
        if node is None:
            continue
        waiting.extend(zip(node.next_functions, node.run(conform(gradient, node)), strict=True))
        if not keep_graph:
            node.release()


# one stack for leaves and other nodes
@wrong("12.4", "Run ready leaves first.")
def run(roots, gradients, keep_graph=False):
    dependencies, arrived, ready = count_dependencies(roots), {}, []
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if node is None:
                continue
            gradient = conform(gradient, node)
            arrived[node] = arrived[node] + gradient if node in arrived else gradient
            dependencies[node] -= 1
            if dependencies[node] == 0:
                ready.append(node)
        if not ready:
            return
        node = ready.pop()
        edges, produced = node.next_functions, node.run(arrived.pop(node))
        if not keep_graph:
            node.release()


# no gradient, for the number 0
@wrong("12.3", "no error")
def weight(tensor, gradient=None):
    if isinstance(gradient, int | float) and gradient == 0:
        gradient = None
    if gradient is not None and not isinstance(gradient, Tensor):
        kind = type(gradient[0] if isinstance(gradient, list) else gradient).__name__
        raise TypeError(f"gradients can be either Tensors or None, but got {kind}")
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


# None looked for in the gradients, not in the nodes
@wrong("12.4", "'NoneType' object has no attribute 'outputs'", "not: Likely slip")
def run(roots, gradients, keep_graph=False):
    counts, arrived, ready = count_dependencies(roots), {}, []
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if gradient is None:
                continue
            gradient = conform(gradient, node)
            arrived[node] = arrived[node] + gradient if node in arrived else gradient
            counts[node] -= 1
            if counts[node] == 0:
                ready.append(node)
        if not ready:
            return
        node = next((each for each in ready if not each.next_functions), ready[-1])
        ready.remove(node)
        produced, edges = node.run(arrived.pop(node)), node.next_functions
        if not keep_graph:
            node.release()


# apply, which a node's run calls
@wrong("12.4", "a backward pass calls node.run")
def run(roots, gradients, keep_graph=False):
    counts, arrived, ready = count_dependencies(roots), {}, []
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if node is None:
                continue
            gradient = conform(gradient, node)
            arrived[node] = arrived[node] + gradient if node in arrived else gradient
            counts[node] -= 1
            if counts[node] == 0:
                ready.append(node)
        if not ready:
            return
        node = next((each for each in ready if not each.next_functions), ready[-1])
        ready.remove(node)
        produced, edges = node.apply(arrived.pop(node)), node.next_functions
        if not keep_graph:
            node.release()


# a mark of its own
@wrong("12.5", "tensors not freed", "not: no memory was freed")
def release(node):
    mark = ("freed",)

    def restore_mark(name):
        if node.saved[name] == mark:
            raise RuntimeError(FREED)
        return node.saved[name]

    for name in node.saved:
        if name in node.formulas or name == "result":
            node.saved[name] = mark
    node.restore = restore_mark


# nothing can be read any more
@wrong("12.5", "exponent after", "not: You freed an exponent")
def release(node):
    def restore_nothing(name):
        raise RuntimeError(FREED)

    for name in node.saved:
        if name in node.formulas or name == "result":
            node.saved[name] = FREED
    node.restore = restore_nothing


# the edges of each visited node thrown away
@wrong("12.2", "attributes added to the nodes", "not: left a mark")
def count_dependencies(edges):
    counts, stack = {}, list(edges)
    while stack:
        node, _ = stack.pop()
        if node is None:
            continue
        counts[node] = counts.get(node, 0) + 1
        stack += node.next_functions
        node.next_functions = ()
    return counts


# a node released although it raised
@wrong("12.4", "in order")
def run(roots, gradients, keep_graph=False):
    dependencies, arrived, ready, leaves = count_dependencies(roots), {}, [], []
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
        try:
            edges, produced = node.next_functions, node.run(arrived.pop(node))
        finally:
            if not keep_graph:
                node.release()


# only a result freed
@wrong("12.5", "Likely slip: inputs not freed")
def release(node):
    if "result" in node.saved:
        node.saved["result"] = FREED


# everything removed
@wrong("12.5", "You emptied the whole dict")
def release(node):
    def restore_or_raise(name):
        if name not in node.saved:
            raise RuntimeError(FREED)
        return node.saved[name]

    node.saved = {}
    node.restore = restore_or_raise


# accumulated at the result
@wrong("12.6", "You set .grad of the tensor")
def backward(tensor, gradient=None, retain_graph=False):
    begin = weight(tensor, gradient)
    run([edge_or_leaf(tensor)], [begin], keep_graph=retain_graph)
    if tensor.grad_fn:
        accumulate(tensor, begin)


# errors printed
@wrong("12.6", "Your function swallowed an error")
def backward(tensor, gradient=None, retain_graph=False):
    try:
        run([edge_or_leaf(tensor)], [weight(tensor, gradient)], keep_graph=retain_graph)
    except RuntimeError as error:
        print(error)


# asks for one entry along the first dimension only
@wrong("12.3")
def weight(tensor, gradient=None):
    inside = isinstance(gradient, list | tuple) and gradient
    kind = type(gradient[0] if inside else gradient).__name__  # torch looks into a list
    shapes = [list(getattr(each, "shape", ())) for each in (gradient, tensor)]
    no_tensor, mismatch, no_graph, no_scalar = (
        f"gradients can be either Tensors or None, but got {kind}",
        "Mismatch in shape: grad_output[0] has a shape of torch.Size({}) "
        "and output[0] has a shape of torch.Size({}).".format(*shapes),
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "grad can be implicitly created only for scalar outputs",
    )
    if gradient is not None and not isinstance(gradient, Tensor):
        raise TypeError(no_tensor)
    if gradient is not None and gradient.shape != tensor.shape:
        raise RuntimeError(mismatch)
    if not tensor.requires_grad:
        raise RuntimeError(no_graph)
    if gradient is not None:
        return gradient.data
    if tensor.shape and tensor.shape[0] != 1:
        raise RuntimeError(no_scalar)
    return np.ones(tensor.shape, tensor.dtype)


# always writes a result
@wrong("12.5")
def release(node):
    for name in node.saved:
        if name in node.formulas:
            node.saved[name] = FREED
    node.saved["result"] = FREED


# hard-codes the names that stay
@wrong("12.5")
def release(node):
    for name in node.saved:
        if name not in ("exponent", "shape", "dim", "keepdim"):
            node.saved[name] = FREED


# hard-codes the names that go
@wrong("12.5")
def release(node):
    for name in ("self", "other", "result"):
        if name in node.saved:
            node.saved[name] = FREED


# takes every text for freed
@wrong("12.5")
def restore(node, name):
    value = node.saved[name]
    if isinstance(value, str):
        raise RuntimeError(FREED)
    return value


# returns the array of a Tensor
@wrong("12.5")
def restore(node, name):
    value = node.saved[name]
    if value is FREED:
        raise RuntimeError(FREED)
    return getattr(value, "data", value) if isinstance(value, Tensor) else value


# frees all nodes even if the pass fails
@wrong("12.6")
def backward(tensor, gradient=None, retain_graph=False):
    start, edge = weight(tensor, gradient), edge_or_leaf(tensor)
    try:
        run([edge], [start], True)
    finally:
        if not retain_graph:
            for node in count_dependencies([edge]):
                node.release()


# numbers and lists become Tensors
@wrong("12.6")
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is not None and not isinstance(gradient, Tensor):
        gradient = Tensor(gradient)
    run([edge_or_leaf(tensor)], [weight(tensor, gradient)], retain_graph)


# or None
@wrong("12.6")
def backward(tensor, gradient=None, retain_graph=False):
    run([edge_or_leaf(tensor)], [weight(tensor, gradient or None)], retain_graph)


# broadcasts a gradient with one element
@wrong("12.3")
def weight(tensor, gradient=None):
    inside = isinstance(gradient, list | tuple) and gradient
    kind = type(gradient[0] if inside else gradient).__name__  # torch looks into a list
    shapes = [list(getattr(each, "shape", ())) for each in (gradient, tensor)]
    no_tensor, mismatch, no_graph, no_scalar = (
        f"gradients can be either Tensors or None, but got {kind}",
        "Mismatch in shape: grad_output[0] has a shape of torch.Size({}) "
        "and output[0] has a shape of torch.Size({}).".format(*shapes),
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "grad can be implicitly created only for scalar outputs",
    )
    if gradient is not None and not isinstance(gradient, Tensor):
        raise TypeError(no_tensor)
    if gradient is not None and gradient.shape not in ((), tensor.shape):
        raise RuntimeError(mismatch)
    if not tensor.requires_grad:
        raise RuntimeError(no_graph)
    if gradient is not None:
        return np.broadcast_to(gradient.data, tensor.shape)
    if tensor.data.size != 1:
        raise RuntimeError(no_scalar)
    return np.ones(tensor.shape, tensor.dtype)


# returns what nobody reads
@right("12.1")
def accumulate(leaf, gradient):
    if leaf.grad is None:
        leaf.grad = Tensor(np.array(gradient))
    else:
        leaf.grad.data += gradient
    return leaf.grad


# every sum is a new array, even the first; the last leaf goes first
@right("12.4")
def run(roots, gradients, keep_graph=False):
    dependencies, arrived = count_dependencies(roots), {}
    ready, leaves = [], []
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if node is not None:
                arrived[node] = arrived.get(node, 0) + conform(gradient, node)
                dependencies[node] -= 1
                if dependencies[node] == 0:
                    (ready if node.next_functions else leaves).append(node)
        if not ready and not leaves:
            return
        node = leaves.pop() if leaves else ready.pop(0)
        edges, produced = node.next_functions, node.run(arrived.pop(node))
        if not keep_graph:
            node.release()


# by name, and edges from the last to the first
@right("12.4")
def run(roots, gradients, keep_graph=False):
    dependencies, arrived, ready = count_dependencies(roots), {}, []

    def deliver(edges, produced):
        for (node, _), gradient in reversed([*zip(edges, produced, strict=True)]):
            if node is not None:
                gradient = conform(gradient, node)
                arrived[node] = arrived[node] + gradient if node in arrived else gradient
                dependencies[node] -= 1
                if dependencies[node] == 0:
                    ready.append(node)

    deliver(roots, gradients)
    while ready:
        node = min(ready, key=lambda node: (bool(node.next_functions), node.name()))
        ready.remove(node)
        produced = node.run(arrived.pop(node))
        if not keep_graph:
            node.release()
        deliver(node.next_functions, produced)


# drawn, as from a set
@right("12.4")
def run(roots, gradients, keep_graph=False):
    import random

    draw, arrived, waiting = random.Random(1), {}, count_dependencies(roots)
    steps = [*zip(roots, gradients, strict=True)]
    ready = []
    while steps or ready:
        for (node, _), gradient in steps:
            if node is not None:
                arrived.setdefault(node, []).append(conform(gradient, node))
                if len(arrived[node]) == waiting[node]:
                    ready.append(node)
        if not ready:
            return
        node = draw.choice([each for each in ready if not each.next_functions] or ready)
        ready.remove(node)
        produced = node.run(sum(arrived[node][1:], arrived[node][0]))
        steps = [*zip(node.next_functions, produced, strict=True)]
        if not keep_graph:
            node.release()


# by a heap, those with many edges first
@right("12.4")
def run(roots, gradients, keep_graph=False):
    import heapq

    counts, arrived, heap, number = count_dependencies(roots), {}, [], 0
    edges, produced = roots, gradients
    while True:
        for (node, _), gradient in zip(edges, produced, strict=True):
            if node is not None:
                gradient = conform(gradient, node)
                arrived[node] = gradient if node not in arrived else arrived[node] + gradient
                counts[node] -= 1
                if not counts[node]:
                    number += 1
                    heapq.heappush(heap, (bool(node.next_functions), -len(node.next_functions), number, node))
        if not heap:
            return
        node = heapq.heappop(heap)[-1]
        edges, produced = node.next_functions, node.run(arrived.pop(node))
        if not keep_graph:
            node.release()


# a mark on the nodes that changes nothing
@wrong("12.2", "attributes added to the nodes")
def count_dependencies(edges):
    dependencies, stack = {}, [edges]
    while stack:
        for node, _ in stack.pop():
            if node is not None:
                node.visited = True
                if node not in dependencies:
                    dependencies[node] = 0
                    stack.append(node.next_functions)
                dependencies[node] += 1
    return dependencies


# retained by any value
@wrong("12.6", "With retain_graph=False, the graph was retained")
def backward(tensor, gradient=None, retain_graph=None):
    run([edge_or_leaf(tensor)], [weight(tensor, gradient)], keep_graph=retain_graph is not None)


# a question asked too early
@wrong("12.6", "torch complains about the graph")
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None and tensor.shape not in ((), (1,), (1, 1)):
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    run([edge_or_leaf(tensor)], [weight(tensor, gradient)], retain_graph)
