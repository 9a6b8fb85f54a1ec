"""Answers to the exercises of chapter 17, as a class would write them from the statements alone."""

# B has the shape of A transposed, which fits only by chance
wrong("17.1").edit({"A.new_zeros(linear.out_features, len(A))": "torch.zeros_like(A.T)"})

# the first line is lost
wrong("17.1", "AttributeError: cannot assign module before Module.__init__() call").edit(
    {"        super().__init__()\n": ""}
)

# registered by name, with double precision from the weight
right("17.1").edit("""
-        self.A = nn.Parameter(A.clone())
-        self.B = nn.Parameter(A.new_zeros(linear.out_features, len(A)))
+        self.register_parameter("A", nn.Parameter(A.detach().clone()))
+        self.register_parameter("B", nn.Parameter(torch.zeros(linear.weight.shape[0], A.shape[0]).to(A)))
""")

# einsum
right("17.1").edit({"(x @ self.A.T @ self.B.T)": 'torch.einsum("...i,ri,or->...o", x, self.A, self.B)'})

# the layers are arguments
right("17.2").edit("""
-        x = checkpoint(nn.Sequential(*layers[first : first + length]), x, use_reentrant=False)
+        x = checkpoint(lambda h, *part: nn.Sequential(*part)(h), x, *layers[first : first + length], use_reentrant=False)
""")

# without the state of the random number generator, which nothing here needs
right("17.2").edit({"use_reentrant=False": "use_reentrant=False, preserve_rng_state=False"})

# None has no isfinite
wrong("17.3", "AttributeError: 'NoneType' object has no attribute 'isfinite'").edit("""
-    gradients = [p.grad for p in parameters if p.grad is not None]
-    for gradient in gradients:
-        gradient /= scale
+    gradients = [p.grad for p in parameters]
+    for gradient in gradients:
+        if gradient is not None:
+            gradient /= scale
""")

# clipping raises an error if the norm is not finite
right("17.3").edit("""
-    if not all(gradient.isfinite().all() for gradient in gradients):
-        return scale / 2
-    nn.utils.clip_grad_norm_(parameters, limit)
+    try:
+        nn.utils.clip_grad_norm_(parameters, limit, error_if_nonfinite=True)
+    except RuntimeError:
+        return scale / 2
""")

# a number, and shapes alone where there are none
wrong("17.4", "Likely slip: a value used in python.").edit("""
-    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
-    factor = (limit / norm).clamp(max=1.0)
+    if gradients[0].is_meta:
+        return [torch.empty_like(gradient) for gradient in gradients]
+    norm = torch.stack([gradient.norm() for gradient in gradients]).norm().item()
+    factor = min(1.0, limit / norm) if norm else 1.0
""")

# torch's own norm
right("17.4").edit(
    {"torch.stack([gradient.norm() for gradient in gradients]).norm()": "nn.utils.get_total_norm(gradients)"}
)

# a type is missing
wrong("17.7", "ValueError: infer_schema(func): Parameter x must have a type annotation.").edit(
    {"totals(x: torch.Tensor, group": "totals(x, group"}
)

# as a matrix product
right("17.7").edit({"return v[group], None, None": "return F.one_hot(group, len(v)).to(v) @ v, None, None"})
