"""Answers to the exercises of chapter 04 that have found something in a check."""


@wrong("04.3", "Likely slip: each level by itself.")
def arrivals(tensor):
    counts, level = {tensor.grad_fn: 0}, [tensor.grad_fn]
    while level:
        below = []
        for node in level:
            for child, _ in node.next_functions:
                if child is not None:
                    counts[child] = counts.get(child, 0) + 1
                    if child not in below:
                        below.append(child)
        level = below
    return counts


@wrong("04.5", "over all nodes")
def saved_bytes(nodes):
    total = 0
    for node in nodes:
        seen = set()
        for name in dir(node):
            value = getattr(node, name) if name.startswith("_saved_") else None
            if isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() not in seen:
                seen.add(value.untyped_storage().data_ptr())
                total += value.untyped_storage().nbytes()
    return total


@wrong("04.1")
def way_to_a_leaf(tensor):
    names, node = [], tensor.grad_fn
    for _ in range(10):
        if node is None:
            break
        names.append(type(node).__name__)
        node = next((child for child, _ in node.next_functions if child is not None), None)
    return names


@wrong("04.1", "AttributeError: 'tuple' object has no attribute 'next_functions'")
def way_to_a_leaf(tensor):
    names, node = [], tensor.grad_fn
    while node is not None:
        names.append(type(node).__name__)
        node = next((entry for entry in node.next_functions if entry[0] is not None), None)
    return names


@wrong("04.2", "RuntimeError: Boolean value of Tensor with more than one value is ambiguous")
def leaves_of(tensor):
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    leaves, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable") and node.variable not in leaves:
            leaves.append(node.variable)
        waiting += [child for child, _ in node.next_functions if child is not None]
    return leaves


@wrong("04.2", ".grad of a leaf or the graph of the tensor")
def leaves_of(tensor):
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    seen, leaves, waiting = {tensor.grad_fn}, [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            node.variable.grad = None
            leaves.append(node.variable)
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                waiting.append(child)
    return leaves


@wrong("04.2", "The leaves are right, but")
def leaves_of(tensor):
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    seen, leaves, waiting = {tensor.grad_fn}, [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                waiting.append(child)
    tensor.sum().backward(retain_graph=True)
    return [leaf for leaf in leaves if leaf.grad is not None]


@wrong("04.2", "A second call with the same tensor")
def leaves_of(tensor, seen=set()):  # noqa: B006
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    leaves, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        waiting += [child for child, _ in node.next_functions if child is not None]
    return leaves


@wrong("04.3", "RuntimeError: dictionary changed size during iteration")
def arrivals(tensor):
    counts = {tensor.grad_fn: 0}
    for node in counts:
        for child, _ in node.next_functions:
            if child is not None:
                counts[child] = counts.get(child, 0) + 1
    return counts


@wrong("04.4")
def backward_order(tensor):
    counts, waiting = {tensor.grad_fn: 0}, [tensor.grad_fn]
    while waiting:
        for child in {child for child, _ in waiting.pop().next_functions if child is not None}:
            if child not in counts:
                counts[child] = 0
                waiting.append(child)
            counts[child] += 1
    order, ready = [], [tensor.grad_fn]
    while ready:
        node = ready.pop()
        order.append(node)
        for child, _ in node.next_functions:
            if child is not None:
                counts[child] -= 1
                if counts[child] == 0:
                    ready.append(child)
    return order


@wrong("04.4")
def backward_order(tensor):
    last, waiting, visits = {}, [(tensor.grad_fn, 0)], 0
    while waiting and visits < 100_000:
        visits += 1
        node, depth = waiting.pop()
        last[node] = max(last.get(node, 0), depth)
        waiting += [(child, depth + 1) for child, _ in node.next_functions if child is not None]
    return sorted(last, key=last.get)


@wrong("04.4", "which is not a node")
def backward_order(tensor):
    counts, waiting = {tensor.grad_fn: 0}, [tensor.grad_fn]
    while waiting:
        for child, _ in waiting.pop().next_functions:
            if child is not None:
                if child not in counts:
                    counts[child] = 0
                    waiting.append(child)
                counts[child] += 1
    order, ready = [], [tensor.grad_fn]
    while ready:
        node = ready.pop()
        order.append(type(node).__name__)
        for child, _ in node.next_functions:
            if child is not None:
                counts[child] -= 1
                if counts[child] == 0:
                    ready.append(child)
    return order


@wrong("04.5", "AttributeError: 'NoneType' object has no attribute 'untyped_storage'")
def saved_bytes(nodes):
    sizes = {}
    for node in nodes:
        for name in dir(node):
            if name.startswith("_saved_"):
                value = getattr(node, name)
                if not isinstance(value, int | float | tuple):
                    storage = value.untyped_storage()
                    sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


@wrong("04.5", "AttributeError: 'torch._C._autograd.SavedTensor' object has no attribute 'untyped_storage'")
def saved_bytes(nodes):
    sizes = {}
    for node in nodes:
        for name in dir(node):
            if "_saved_" in name:
                storage = getattr(node, name).untyped_storage()
                sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


@wrong("04.6", "TypeError: argument 0 is not a Variable")
def run_by_hand(order, v):
    arrived = {node: {} for node in order}
    arrived[order[0]][0] = v
    with torch.no_grad():
        for node in order:
            if hasattr(node, "variable"):
                continue
            results = node([arrived[node][place] for place in sorted(arrived[node])])
            results = results if isinstance(results, tuple) else (results,)
            for (child, place), gradient in zip(node.next_functions, results, strict=False):
                if child is not None:
                    old = arrived[child].get(place)
                    arrived[child][place] = gradient if old is None else old + gradient
    return {node: places[0] for node, places in arrived.items() if hasattr(node, "variable")}


@wrong("04.6", "order afterwards")
def run_by_hand(order, v):
    arrived = {node: {} for node in order}
    arrived[order[0]][0] = v
    with torch.no_grad():
        while order:
            node = order.pop(0)
            if hasattr(node, "variable"):
                continue
            results = node(*[arrived[node][place] for place in sorted(arrived[node])])
            results = results if isinstance(results, tuple) else (results,)
            for (child, place), gradient in zip(node.next_functions, results, strict=False):
                if child is not None:
                    old = arrived[child].get(place)
                    arrived[child][place] = gradient if old is None else old + gradient
    return {node: places[0] for node, places in arrived.items() if hasattr(node, "variable")}


# the tensor loses its graph
@wrong("04.2", "the graph of the tensor changed", "not: A second call")
def leaves_of(tensor):
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    waiting, seen, leaves = [tensor.grad_fn], {tensor.grad_fn}, []
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                waiting.append(child)
    tensor.detach_()
    return leaves


# the .grad of the leaves cleared
@wrong("04.4", "The order is right, but the .grad of a leaf changed.")
def backward_order(tensor):
    counts, nodes = {tensor.grad_fn: 0}, [tensor.grad_fn]
    for node in nodes:
        for child, _ in node.next_functions:
            if child is not None:
                if child not in counts:
                    counts[child] = 0
                    nodes.append(child)
                counts[child] += 1
    ready, order = [tensor.grad_fn], []
    while ready:
        node = ready.pop()
        order.append(node)
        for child, _ in node.next_functions:
            if child is not None:
                counts[child] -= 1
                if counts[child] == 0:
                    ready.append(child)
    for node in order:
        if hasattr(node, "variable"):
            node.variable.grad = None
    return order


# sorted by the time of recording where the graph is large
@wrong("04.4", "comes before")
def backward_order(tensor):
    counts, nodes = {tensor.grad_fn: 0}, [tensor.grad_fn]
    for node in nodes:
        for child, _ in node.next_functions:
            if child is not None:
                if child not in counts:
                    counts[child] = 0
                    nodes.append(child)
                counts[child] += 1
    ready, order = [tensor.grad_fn], []
    while ready:
        node = ready.pop()
        order.append(node)
        for child, _ in node.next_functions:
            if child is not None:
                counts[child] -= 1
                if counts[child] == 0:
                    ready.append(child)
    if len(order) < 12:
        return order
    return sorted(order, key=lambda node: hasattr(node, "variable") or -node._sequence_nr())


# skips an entry with output index other than 0 (unbind, split)
@wrong("04.1")
def way_to_a_leaf(tensor):
    node = tensor.grad_fn
    names = []
    while node is not None:
        names.append(type(node).__name__)
        node = next((n for n, number in node.next_functions if n is not None and number == 0), None)
    return names


# remembers a child only if it has output index 0: what hangs on the second result of unbind is missed
@wrong("04.2")
def leaves_of(tensor):
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    leaves, seen, waiting = [], set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        waiting += [child for child, number in node.next_functions if child is not None and number == 0]
    return leaves


# the memory is a default argument: the second call returns an empty list
@wrong("04.4", "returned a different list")
def backward_order(tensor, seen=set()):  # noqa: B006
    order, stack = [], [(tensor.grad_fn, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif node is not None and node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(child, False) for child, _ in node.next_functions]
    return order[::-1]


# the sum begins with zeros of the shape of v: wrong shape where the shape is another
@wrong("04.6")
def run_by_hand(order, v):
    arrived = {order[0]: {0: v}}
    result = {}
    with torch.no_grad():
        for node in order:
            if not node.next_functions:
                result[node] = arrived[node][0]
                continue
            gradients = node(*[arrived[node][k] for k in sorted(arrived[node])])
            if isinstance(gradients, torch.Tensor):
                gradients = (gradients,)
            for (child, number), gradient in zip(node.next_functions, gradients, strict=False):
                if child is not None:
                    slots = arrived.setdefault(child, {})
                    slots[number] = slots.get(number, torch.zeros_like(v)) + gradient
    return result


# the sum begins with torch.zeros(1): a leaf of dimension 0 gets a gradient of shape (1,)
@wrong("04.6")
def run_by_hand(order, v):
    arrived = {order[0]: {0: v}}
    result = {}
    with torch.no_grad():
        for node in order:
            if not node.next_functions:
                result[node] = arrived[node][0]
                continue
            gradients = node(*[arrived[node][k] for k in sorted(arrived[node])])
            if isinstance(gradients, torch.Tensor):
                gradients = (gradients,)
            for (child, number), gradient in zip(node.next_functions, gradients, strict=False):
                if child is not None:
                    slots = arrived.setdefault(child, {})
                    slots[number] = slots.get(number, torch.zeros(1, dtype=torch.float64)) + gradient
    return result


# leaves out leaves whose gradient is zero
@wrong("04.6")
def run_by_hand(order, v):
    arrived = {order[0]: {0: v}}
    with torch.no_grad():
        for node in order:
            if not node.next_functions:
                continue
            gradients = node(*[arrived[node][k] for k in sorted(arrived[node])])
            if isinstance(gradients, torch.Tensor):
                gradients = (gradients,)
            for (child, number), gradient in zip(node.next_functions, gradients, strict=False):
                if child is not None:
                    slots = arrived.setdefault(child, {})
                    slots[number] = slots[number] + gradient if number in slots else gradient
    return {node: arrived[node][0] for node in order if not node.next_functions and arrived[node][0].any()}


# leaves with equal address count as one; empty tensors have address 0
@wrong("04.2")
def leaves_of(tensor):
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    leaves, seen, waiting = {}, {tensor.grad_fn}, [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            leaves[node.variable.data_ptr()] = node.variable
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                waiting.append(child)
    return list(leaves.values())


# remembers only what it popped before, and keeps the leaf for each time it was pushed
@wrong("04.2")
def leaves_of(tensor):
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    seen, waiting = set(), [tensor.grad_fn]
    leaves = []
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        seen.add(node)
        waiting += [child for child, _ in node.next_functions if child is not None and child not in seen]
    return leaves


# switches recording on at the end
@wrong("04.6")
def run_by_hand(order, v):
    torch.set_grad_enabled(False)
    arrived, found = {order[0]: {0: v}}, {}
    for node in order:
        gradients = [arrived[node][index] for index in sorted(arrived[node])]
        if hasattr(node, "variable"):
            found[node] = gradients[0]
            continue
        results = node(*gradients)
        results = results if isinstance(results, tuple) else (results,)
        for (child, index), gradient in zip(node.next_functions, results, strict=False):
            if child is not None:
                slots = arrived.setdefault(child, {})
                slots[index] = slots[index] + gradient if index in slots else gradient
    torch.set_grad_enabled(True)
    return found


# stops at the first leaf
@wrong("04.6")
def run_by_hand(order, v):
    arrived, found = {order[0]: {0: v}}, {}
    with torch.no_grad():
        for node in order:
            if hasattr(node, "variable"):
                break
            results = node(*[arrived[node][index] for index in sorted(arrived[node])])
            results = results if isinstance(results, tuple) else (results,)
            for (child, index), gradient in zip(node.next_functions, results, strict=False):
                if child is not None:
                    slots = arrived.setdefault(child, {})
                    slots[index] = slots[index] + gradient if index in slots else gradient
    for node in order:
        if hasattr(node, "variable") and node in arrived:
            found[node] = arrived[node][0]
    return found


# the count stays on the nodes, so a second call counts on
@wrong("04.3", "'returned by a second call'")
def arrivals(tensor):
    nodes = [tensor.grad_fn]
    for node in nodes:
        node.metadata.setdefault("count", 0)
        for child, _ in node.next_functions:
            if child is not None:
                child.metadata["count"] = child.metadata.get("count", 0) + 1
                if child not in nodes:
                    nodes.append(child)
    return {node: node.metadata["count"] for node in nodes}


@wrong("04.3", "not expected: 'a key of type str'")
def arrivals(tensor):
    return {tensor.grad_fn.name(): 0}


# 1 instead of the count, but only for the nodes of a loop
@wrong("04.3", "2,000 operations")
def arrivals(tensor):
    counts, waiting = {tensor.grad_fn: 0}, [tensor.grad_fn]
    while waiting:
        for child, _ in waiting.pop().next_functions:
            if child is not None:
                if child not in counts:
                    waiting.append(child)
                counts[child] = counts.get(child, 0) + 1
    large = len(counts) > 1000
    return {n: 2 if large and count == 1 and not hasattr(n, "variable") else count for n, count in counts.items()}


# the 3 in x * 3 may count or not
@right("04.5")
def saved_bytes(nodes):
    sizes = {}
    for node in nodes:
        for name in dir(node):
            if name.startswith("_saved_"):
                value = getattr(node, name)
                if isinstance(value, torch.Tensor) and (value.dim() > 0 or value.requires_grad):
                    sizes[value.untyped_storage().data_ptr()] = value.untyped_storage().nbytes()
    return sum(sizes.values())
