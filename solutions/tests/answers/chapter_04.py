"""Answers to the exercises of chapter 04 that have found something in a check."""

wrong("04.1", "AttributeError: 'tuple' object has no attribute 'next_functions'").edit(
    {"(child for child, _ in": "(edge for edge in", "if child is not None)": "if edge[0] is not None)"}
)

# skips an entry with output index other than 0 (unbind, split)
wrong("04.1").edit(
    {"(child for child, _ in": "(child for child, n in", "if child is not None)": "if child is not None and n == 0)"}
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


wrong("04.3", "RuntimeError: dictionary changed size during iteration").edit(
    {"while waiting:": "for node in counts:", "waiting.pop().next_functions": "node.next_functions"}
)

# the counts stay on the root's node, so a second call counts on
wrong("04.3", "'returned by a second call'").edit("""
-    counts, waiting = {tensor.grad_fn: 0}, [tensor.grad_fn]
+    counts, waiting = tensor.grad_fn.metadata.setdefault("counts", {tensor.grad_fn: 0}), [tensor.grad_fn]
""")

wrong("04.4").edit(
    {
        "child, _ in waiting": "child in {child for child, _ in waiting",
        ".pop().next_functions": ".pop().next_functions}",
    }
)


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


wrong("04.5", "AttributeError: 'torch._C._autograd.SavedTensor' object has no attribute 'untyped_storage'").edit(
    {'name.startswith("_saved_")': '"_saved_" in name', "if isinstance(value, torch.Tensor):": "if value is not None:"}
)

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
