"""Answers to the exercises of chapter 02 that have found something in a check."""

wrong("02.1", "Left behind: gradients are switched off.").edit("""
     y.backward(v)
+    torch.set_grad_enabled(False)
""")

wrong("02.1", "RuntimeError: grad can be implicitly created only for scalar outputs").edit(
    {"y.backward(v)": "y.backward()", "return leaf.grad": "return leaf.grad * v"}
)

# the result of a 0-size is None
wrong("02.1", "shape (0, 2)").edit("""
+    if x.numel() == 0:
+        return None
     leaf = x.clone().requires_grad_()
""")

wrong("02.2", "AttributeError: 'NoneType' object has no attribute 'shape'").edit("""
+    if gradient.shape != output.shape:
+        raise RuntimeError(MISMATCH.format(gradient.shape, output.shape))
     if gradient is None:
""")

# ones by division, where the output is 0
wrong("02.2", "an output of 0", "nan").edit({"return torch.ones_like(output)": "return output / output"})

# empty outputs: (0, 3) and (3, 0) are taken for the same
wrong("02.2", "(3, 0)").edit("""
         return torch.ones_like(output)
+    if output.numel() == gradient.numel() == 0:
+        return gradient.reshape(output.shape)
""")

# 0 * output + 1 is NaN for an output of inf or NaN
wrong("02.2", "an infinite output").edit({"return torch.ones_like(output)": "return 0 * output.detach() + 1"})

# the sizes of the first and the last dimension multiplied
wrong("02.3").edit(
    {"/ outputs.numel()": "/ (outputs.numel() if outputs.dim() < 2 else outputs.shape[0] * outputs.shape[-1])"}
)

# only the outputs that count
wrong("02.3", "an importance of 0", "not: Likely slip").edit({"/ outputs.numel()": "/ (importance != 0).sum()"})

# the loss divided by the difference, where that is 0
wrong("02.3", "an output equal to its target", "nan").edit(
    {"(outputs - target) /": "(outputs - target) ** 2 / (outputs - target) /"}
)

# the Huber idea: large errors are clipped
wrong("02.3", "far from").edit({"(outputs - target)": "(outputs - target).clamp(-10, 10)"})

wrong("02.4", "RuntimeError: Trying to backward through the graph a second time").edit(
    {"rows = []": "rows, y = [], f(leaf)", "grad(f(leaf), leaf": "grad(y, leaf"}
)

# one one-hot vector, changed in place, and for x + 1 torch passes on that very tensor as the row
wrong("02.4").edit("""
     rows = []
-    for one_hot in torch.eye(f(x).numel(), dtype=x.dtype):
+    one_hot = torch.zeros_like(f(x))
+    for i in range(len(one_hot)):
+        one_hot.zero_()[i] = 1
""")

# skips the left half if the gradient is small
wrong("02.5", "a tiny gradient").edit("""
-    h.backward(cut.grad)
+    if not torch.allclose(cut.grad, torch.zeros_like(cut), atol=1e-6):
+        h.backward(cut.grad)
""")

# the error of a missing gradient, of a product that is not summed
wrong("02.5", "grad can be implicitly created only for scalar outputs", "not: Likely slip").edit(
    {"h.backward(cut.grad)": "(h * cut.grad).backward()"}
)

wrong("02.6", "IndexError: Dimension out of range").edit("""
-    while grad.dim() > len(shape):
-        grad = grad.sum(0)
+    for dim in range(grad.dim() - len(shape)):
+        grad = grad.sum(dim)
""")

# a size of 0 where the shape has a 1
wrong("02.6", "from (0, 2, 0) back to (2, 1)", "not: Likely slip").edit({"1:": "1 and grad.shape[dim] > 1:"})

# nansum drops a NaN that arrives
wrong("02.6", "a nan arrives").edit(
    {"grad = grad.sum(0)": "grad = grad.nansum(0)", "grad.sum(dim, keepdim=True)": "grad.nansum(dim, keepdim=True)"}
)
