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


@wrong("04.5", "addresses over all nodes")
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
