"""Answers to the exercises of chapter 04 that have found something in a check."""

wrong("04.1").edit("""
-    while node is not None:
+    for _ in range(10):
+        if node is None:
+            break
""")

wrong("04.1", "AttributeError: 'tuple' object has no attribute 'next_functions'").edit(
    {
        "(child for child, _ in node.next_functions if child is not None)": "(edge for edge in node.next_functions if edge[0] is not None)"
    }
)

# skips an entry with output index other than 0 (unbind, split)
wrong("04.1").edit(
    {
        "child, _ in node.next_functions if child is not None": "child, n in node.next_functions if child is not None and n == 0"
    }
)

wrong("04.2", "RuntimeError: Boolean value of Tensor with more than one value is ambiguous").edit(
    {'if hasattr(node, "variable"):': 'if hasattr(node, "variable") and node.variable not in leaves:'}
)

# the tensor loses its graph
wrong("04.2", "the graph of the tensor changed", "not: A second call").edit("""
                 waiting.append(child)
+    tensor.detach_()
""")

# remembers a child only if it has output index 0: what hangs on the second result of unbind is missed
wrong("04.2").edit(
    {"for child, _ in": "for child, number in", "if child is not None and": "if child is not None and number == 0 and"}
)

# leaves with equal address count as one; empty tensors have address 0
wrong("04.2").edit({"    return leaves": "    return list({leaf.data_ptr(): leaf for leaf in leaves}.values())"})

# remembers only what it popped before, and keeps the leaf for each time it was pushed
wrong("04.2").edit("""
         node = waiting.pop()
+        seen.add(node)

-                seen.add(child)
""")


@wrong("04.3", "RuntimeError: dictionary changed size during iteration")
def arrivals(tensor):
    counts = {tensor.grad_fn: 0}
    for node in counts:
        for child, _ in node.next_functions:
            if child is not None:
                counts[child] = counts.get(child, 0) + 1
    return counts


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


# 1 instead of the count, but only for the nodes of a loop
wrong("04.3", "2,000 operations").edit("""
-    return counts
+    large = len(counts) > 1000
+    return {n: 2 if large and count == 1 and not hasattr(n, "variable") else count for n, count in counts.items()}
""")

wrong("04.4").edit(
    {
        "for child, _ in waiting.pop().next_functions:": "for child in {child for child, _ in waiting.pop().next_functions}:"
    }
)


@wrong("04.4")
def backward_order(tensor):
    last, waiting, visits = {}, [(tensor.grad_fn, 0)], 0
    while waiting and visits < 100_000:
        visits += 1
        node, depth = waiting.pop()
        last[node] = max(last.get(node, 0), depth)
        waiting += [(child, depth + 1) for child, _ in node.next_functions if child is not None]
    return sorted(last, key=last.get)


# sorted by the time of recording where the graph is large
wrong("04.4", "comes before").edit("""
-    return order
+    if len(order) < 12:
+        return order
+    return sorted(order, key=lambda node: hasattr(node, "variable") or -node._sequence_nr())
""")


# calls the answer of 04.3, as the statement says
@right("04.4")
def backward_order(tensor):
    outstanding, order, ready = arrivals(tensor), [], [tensor.grad_fn]
    while ready:
        order.append(ready.pop())
        for child, _ in order[-1].next_functions:
            if child is not None:
                outstanding[child] -= 1
                ready += [child] * (outstanding[child] == 0)
    return order


wrong("04.5", "AttributeError: 'NoneType' object has no attribute 'untyped_storage'").edit(
    {"if isinstance(value, torch.Tensor):": "if not isinstance(value, int | float | tuple):"}
)


@wrong("04.5", "AttributeError: 'torch._C._autograd.SavedTensor' object has no attribute 'untyped_storage'")
def saved_bytes(nodes):
    sizes = {}
    for node in nodes:
        for name in dir(node):
            if "_saved_" in name:
                storage = getattr(node, name).untyped_storage()
                sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


# the 3 in x * 3 may count or not
right("04.5").edit(
    {"isinstance(value, torch.Tensor)": "isinstance(value, torch.Tensor) and (value.dim() > 0 or value.requires_grad)"}
)

wrong("04.6", "TypeError: argument 0 is not a Variable").edit(
    {"results = node(*[arrived[node][place]": "results = node([arrived[node][place]"}
)

wrong("04.6", "order afterwards").edit("""
-        for node in order:
+        while order:
+            node = order.pop(0)
""")

# the sum begins with zeros of the shape of v: wrong shape where the shape is another
wrong("04.6").edit(
    {"places[place] + gradient if place in places else gradient": "places.get(place, torch.zeros_like(v)) + gradient"}
)

# the sum begins with torch.zeros(1): a leaf of dimension 0 gets a gradient of shape (1,)
wrong("04.6").edit("""
-                    places[place] = places[place] + gradient if place in places else gradient
+                    places[place] = places.get(place, torch.zeros(1, dtype=torch.float64)) + gradient
""")

# leaves out leaves whose gradient is zero
wrong("04.6").edit({'if hasattr(node, "variable")}': 'if hasattr(node, "variable") and places[0].any()}'})

# switches recording on at the end
wrong("04.6").edit("""
+    torch.set_grad_enabled(True)
     return {node: places[0] for node, places in arrived.items() if hasattr(node, "variable")}
""")

# stops at the first leaf
wrong("04.6").edit(
    {
        "                continue": "                break",
        'if hasattr(node, "variable")}': 'if hasattr(node, "variable") and places}',
    }
)
