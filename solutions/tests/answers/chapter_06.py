"""Answers to the exercises of chapter 06 that have found something in a check."""

# no context manager
wrong("06.1", "TypeError: 'generator' object does not support the context manager protocol").edit(
    {"@contextlib.contextmanager": ""}
)

# the hook returns the pair
wrong("06.1", "TypeError: expected Variable, but hook returned 'tuple'").edit("""
             seen.append((name, gradient.clone()))
+            return seen[-1]
""")


# the block runs under no_grad: a forward pass in it records no graph
wrong("06.1", "does it record operations").edit({"with handles:": "with handles, torch.no_grad():"})

# gradients of zeros are left out
wrong("06.1", "zeros").edit("""
-            seen.append((name, gradient.clone()))
+            if gradient.any():
+                seen.append((name, gradient.clone()))
""")

# the hook returns a number
wrong("06.2", "TypeError: expected Variable, but hook returned 'float'").edit(
    {
        "norm = gradient.norm()": "norm = gradient.norm().item()",
        "return gradient * (limit / norm)": "return limit / norm",
    }
)

# the inner function is not returned
wrong("06.2", "TypeError: 'NoneType' object is not callable").edit(
    {'    return {"value": by_value, "norm": by_norm}[by]': ""}
)

# view(-1) fails for a gradient that is not contiguous
wrong("06.2", "view").edit({"gradient.norm()": "gradient.view(-1).norm()"})


# one tensor for all uses
wrong("06.3", "not: one strength for all").edit(
    {
        "copy = features.view_as(features)": 'copy = features.copy = getattr(features, "copy", features.view_as(features))'
    }
)


# hooks the features: a later pass from the label head alone is changed by the old gradient
@wrong("06.3", "the label head alone")
def reverse_gradient(features, strength):
    out = features.clone()
    kept = []
    out.register_hook(lambda gradient: kept.append(gradient))
    features.register_hook(lambda gradient: gradient - (1 + strength) * kept[-1] if kept else None)
    return out


# one buffer for all passes
wrong("06.4").edit("""
+    buffer = torch.zeros_like(weight, requires_grad=False)
     def zero_rows(gradient):
-        gradient = gradient.clone()
+        gradient = buffer.copy_(gradient)
""")


wrong("06.5", "not: backward() itself").edit({"return arrived if": "grad = arrived if"})

# None is added to
wrong("06.5", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'Tensor'").edit(
    {"return arrived if grad is None else grad + arrived": "return grad + arrived"}
)

# no hook is called with zeros
wrong("06.5", "where two parts cancel").edit({"for hook in hooks:": "for hook in hooks if arrived.any() else []:"})

# each function called once
wrong("06.5", "scale again", "grad after pass 1").edit({"for hook in hooks:": "for hook in dict.fromkeys(hooks):"})

# adds the old grad into what the hooks were given: a gradient that a hook kept, or returned, changes later
wrong("06.5", "what the hooks were given").edit("""
-    arrived = sum(parts[1:], start=parts[0])
+    arrived = torch.zeros_like(parts[0])
+    for part in parts:
+        arrived += part

-    return arrived if grad is None else grad + arrived
+    if grad is not None:
+        arrived += grad
+    return arrived
""")

# no parameters
wrong("06.6", "IndexError").edit({"for parameter in parameters]": "for parameter in [parameters[0], *parameters[1:]]]"})

# a second hook on each parameter, which nobody can remove
wrong("06.6", "First difference at 'hooks left on each parameter'").edit("""
+    for parameter in parameters:
+        parameter.register_hook(lambda gradient: None)
     return [parameter.register_post_accumulate_grad_hook(step) for parameter in parameters]
""")

# a gradient of zeros keeps its .grad
wrong("06.6", "zero").edit("""
     def step(parameter):
+        if not parameter.grad.any():
+            return
""")
