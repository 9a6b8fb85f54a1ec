"""Answers to the exercises of chapter 09 that have found something in a check."""

wrong("09.1").edit(
    {"same_numbers(tensor.detach(), numbers)": "torch.equal(tensor.detach().nan_to_num(), numbers.nan_to_num())"}
)

wrong("09.1", "requires_grad").edit("""
+    for tensor in tensors.values():
+        if tensor.is_leaf:
+            tensor.requires_grad_(False)
     before = {name: (tensor._version, tensor.detach().clone()) for name, tensor in tensors.items()}
""")

# takes the writes back
wrong("09.1").edit("""
+    for name, tensor in tensors.items():
+        tensor.data.copy_(before[name][1])
     return found
""")

# read before it is there
wrong("09.1", "KeyError").edit({"elif not same_numbers": 'if found[name] != "counted" and not same_numbers'})

wrong("09.1", "called, recording: True").edit("""
-    call()
+    with torch.enable_grad():
+        call()
""")

# only looks at elements that are numbers now: a number overwritten with NaN in silence is missed
wrong("09.1", "all to NaN").edit(
    {"not same_numbers(tensor.detach(), numbers)": "not ((tensor == numbers) | tensor.isnan()).all()"}
)

# None is squared
wrong("09.2", "TypeError: unsupported operand type(s) for ** or pow(): 'NoneType' and 'int'").edit(
    {" if parameter.grad is not None]": "]"}
)

# the norm of nothing
wrong("09.2", "ZeroDivisionError").edit("""
-    if norm > max_norm:
-        for gradient in gradients:
-            gradient *= max_norm / norm
+    for gradient in gradients:
+        gradient *= min(1.0, max_norm / norm)
""")

# nothing divided by nothing
wrong("09.2", "There is a nan").edit("""
-    if norm > max_norm:
-        for gradient in gradients:
-            gradient *= max_norm / norm
+    for gradient in gradients:
+        gradient *= torch.tensor(min(norm, max_norm), dtype=torch.float64) / norm
""")

# view(-1) fails for a gradient that is not contiguous
wrong("09.2", "view size is not compatible").edit(
    {"(gradient**2).sum().item()": "gradient.view(-1).norm().item() ** 2"}
)

wrong("09.3", "The events differ from the expected ones.", "'the error that reached the caller, backward pass 1").edit(
    {"with handles:": "with handles, contextlib.suppress(Exception):"}
)

# hooks the nodes: outputs of one node are taken for each other
wrong("09.3", "split off").edit("""
-            handles.enter_context(tensor.register_hook(hook_for(name)))
+            def prehook(gradients, hook=hook_for(name)):
+                for gradient in gradients:
+                    if gradient is not None:
+                        hook(gradient)
+            leaf = tensor.is_leaf
+            handles.enter_context(tensor.register_hook(hook_for(name)) if leaf else tensor.grad_fn.register_prehook(prehook))
""")

# the loss must have no dimension
wrong("09.4", "returned, sound").edit(
    {"forward().backward()": "forward().backward(torch.tensor(1.0, dtype=torch.float64))"}
)

# an untracked loss is skipped
wrong("09.4", "requires no gradient").edit("""
-                forward().backward()
+                loss = forward()
+                if loss.requires_grad:
+                    loss.backward()
""")

# check_nan forgotten in the restored state
wrong("09.4", "look for NaN").edit("""
+    torch.autograd.set_detect_anomaly(torch.is_anomaly_enabled(), check_nan=False)
     return message, forward_function(caught)
""")

# nearly 0 where it must be 0
wrong("09.5").edit({"x, 1.0)": "x, 1e-12)", "torch.where(positive, safe * safe.log(), 0.0)": "safe * safe.log()"})

# below the smallest normal number, x counts as 0
wrong("09.5", "x.grad").edit({"positive = x > 0": "positive = x > torch.finfo(x.dtype).tiny"})

# shared memory
wrong("09.6").edit(
    {
        'getattr(node, "variable", None) is tensor': 'hasattr(node, "variable") and node.variable.data_ptr() == tensor.data_ptr()'
    }
)

wrong("09.6", "retain its gradient").edit("""
-    if not tensor.is_leaf and not tensor.retains_grad:
+    keeps = tensor.is_leaf or tensor.retains_grad
+    if tensor.requires_grad:
+        tensor.retain_grad()
+    if not keeps:
""")

wrong("09.6", "not: only the last operations", "not: only leaves found").edit(
    {"nodes = nodes_behind(loss)": "nodes = nodes_behind(tensor)"}
)

# numbers compared
wrong("09.6", "Boolean value of Tensor with more than one value is ambiguous").edit(
    {
        'any(getattr(node, "variable", None) is tensor for node in nodes)': 'tensor in [node.variable for node in nodes if hasattr(node, "variable")]'
    }
)

# stops at the first leaf it finds
wrong("09.6", "First difference at 'returned, the first factor'").edit("""
-    nodes = nodes_behind(loss)
+    nodes = list(nodes_behind(loss))
+    nodes = nodes[: 1 + [hasattr(node, "variable") for node in nodes].index(True)]
""")

# the loss is told to retain its gradient
wrong("09.6", "does the loss retain its gradient afterwards").edit("""
         return "no graph"
+    if tensor is not loss:
+        loss.retain_grad()
""")
