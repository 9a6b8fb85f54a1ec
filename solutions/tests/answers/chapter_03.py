"""Answers to the exercises of chapter 03 that have found something in a check."""

wrong("03.1", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'Tensor'").edit(
    {"grad = arrives if grad is None else grad + arrives": "grad = grad + arrives"}
)

# sets zeros before it knows whether the call is refused
wrong("03.2").edit("""
+        if self.grad is None:
+            self.grad = torch.zeros_like(v)
         for node in reversed(self.nodes):
""")

# micro-batches of nearly equal size
wrong("03.3", "sizes of the micro-batches in step 1").edit("""
-    mean = 0.0
-    for part, target in zip(inputs.split(size), targets.split(size), strict=True):
-        loss = loss_of(part, target) * (len(part) / len(inputs))
+    mean, count = 0.0, -(-len(inputs) // size)
+    for part, target in zip(inputs.tensor_split(count), targets.tensor_split(count), strict=True):
+        loss = loss_of(part, target) * len(part) / len(inputs)
""")

# the elements of the targets counted, not the rows
wrong("03.3", "two targets in each row", "not: Likely slip").edit(
    {"len(part) / len(inputs)": "target.numel() / len(inputs)"}
)
