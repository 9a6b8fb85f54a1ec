"""Answers to the exercises of chapter 10 that have found something in a check."""

# the tuple is not unpacked
wrong("10.1", "TypeError: unsupported operand type(s) for ** or pow(): 'tuple' and 'int'").edit(
    {"(y,) = ctx.saved_tensors": "y = ctx.saved_tensors"}
)

# the saved result, which belongs to the caller, is overwritten
wrong("10.1", "y at the end").edit({"return v / (3 * y**2)": "return v / y.detach().square_().mul_(3)"})

# two values for three arguments
wrong("10.2", "The number of items differs from the expected one.").edit(
    {"return for_x, for_weight, None": "return for_x, for_weight"}
)

# a loop that needs a batch
wrong("10.2").edit(
    {"ctx.scale * v.T @ x": "ctx.scale * torch.stack([torch.outer(a, b) for a, b in zip(v, x, strict=True)]).sum(0)"}
)

# with a scale of 0, nothing is returned
wrong("10.2", "what backward returns").edit("""
-        if ctx.needs_input_grad[0]:
+        if ctx.scale and ctx.needs_input_grad[0]:

-        if ctx.needs_input_grad[1]:
+        if ctx.scale and ctx.needs_input_grad[1]:
""")

# a scale of 0 is taken for none
wrong("10.2", "in 'y'").edit({"return scale * x @ weight.T": "return (scale or 1.0) * x @ weight.T"})

# only one of the two is saved
wrong("10.2", "x is doubled in place").edit("""
         x, weight, ctx.scale = inputs
-        ctx.save_for_backward(x, weight)
+        ctx.x = x
+        ctx.save_for_backward(weight)

-        x, weight = ctx.saved_tensors
+        x, (weight,) = ctx.x, ctx.saved_tensors
""")

# None is subtracted from
wrong("10.3", "TypeError: unsupported operand type(s) for -: 'NoneType' and 'Tensor'").edit(
    {"-slope if gradients[number] is None else gradients[number] - slope": "gradients[number] - slope"}
)

# an input that is not used
wrong("10.3", "RuntimeError: The differentiated Tensor at index 1 appears to not have been used in the graph").edit(
    {", allow_unused=True": ""}
)

# a different default step
wrong("10.3", "without h").edit({"h=1e-6": "h=1e-3"})

# right
right("10.4").edit("""
         x, _, ctx.limit = inputs
+        Levels.limit = ctx.limit
""")

# what is rounded into the limits counts as inside
wrong("10.4", "not: kept on the class").edit(
    {"x, _, ctx.limit =": "x, ctx.step, ctx.limit =", "<= ctx.limit": "<= ctx.limit + ctx.step / 2"}
)

# the sign of x decides, and 0 has none
wrong("10.4", "gradient of x").edit({"(x.abs() <= ctx.limit)": "x.sign().abs() * (x.abs() <= ctx.limit)"})

# a limit of 0 counts as no limit
wrong("10.4", "limit 0.0").edit(
    {
        "clamp(-limit, limit)": "clamp(-(limit or math.inf), limit or math.inf)",
        "<= ctx.limit": "<= (ctx.limit or math.inf)",
    }
)

# a copy of x, which may lie in a smaller storage
wrong("10.6").edit({"        model(x)": "        model(x.clone())"})

# gradients that were there before are cleared, and one is left in x
wrong("10.6").edit("""
-        model(x)
+        y = model(x)
+    if y.requires_grad:
+        y.sum().backward()
+        model.zero_grad()
""")

# leaves the hooks behind if the model raises an error
wrong("10.6", "a model that raises an error").edit("""
-    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
-        model(x)
+    hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
+    hooks.__enter__()
+    model(x)
+    hooks.__exit__(None, None, None)
""")

# pack keeps the size and returns nothing, so a model that differentiates inside fails
wrong("10.6").edit({"        return tensor": ""})
