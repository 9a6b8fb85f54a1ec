"""Answers to the exercises of chapter 11 that have found something in a check."""

# an accumulator for a computed tensor, too
wrong("11.1", "y._accumulator holds").edit("""
-    return (tensor.grad_fn or accumulator(tensor), 0)
+    end = accumulator(tensor)
+    return (tensor.grad_fn or end, 0)
""")

# a .grad of zeros at once
wrong("11.1").edit("""
         leaf._accumulator = AccumulateGrad(leaf)
+        leaf.grad = Tensor(np.zeros_like(leaf.data))
""")

# an existing accumulator wins over requires_grad
wrong("11.1").edit({"not tensor.requires_grad": "not (tensor._accumulator or tensor.requires_grad)"})

# forgets the node of a leaf that is frozen for a while
wrong("11.1").edit("""
+    if isinstance(tensor, Tensor) and not tensor.requires_grad:
+        tensor._accumulator = None
     if not isinstance(tensor, Tensor) or not tensor.requires_grad:
""")


# not written
@wrong("11.2", "still raises NotImplementedError")
def record(node, inputs, output):
    raise NotImplementedError


# leaves lose their flag
wrong("11.2", "at the end").edit("""
         output.requires_grad = True
+    elif not state.grad:
+        for each in inputs:
+            each.requires_grad = False
""")

# no grad_fn: what is missing is said, not the keys of the check's own dict
wrong("11.2", "'y = x * w'", "not: Your dict's keys").edit({"        output.grad_fn = node\n": ""})

# gradients are switched on
wrong("11.2", "gradients on after that").edit("""
         output.requires_grad = True
+    state.grad = True
""")

# errors other than Exception pass without restoring
wrong("11.3", "SystemExit").edit("""
-        state.grad = self.before
+        if error[0] is None or issubclass(error[0], Exception):
+            state.grad = self.before
""")

# keeps what the block switched on
wrong("11.3").edit({"state.grad = self.before": "state.grad = state.grad or self.before"})


# by node: an input used twice counts once
@wrong("11.4", "mul by itself")
def save(node, known):
    pairs = zip(node.next_functions, node.formulas.values(), strict=True)
    wanted = {below: formula for (below, _), formula in pairs if below is not None}
    return {name: known[name] for formula in wanted.values() for name in asked_for(formula)}


# variable names of the formula, local variables included
wrong("11.4", "kept by sin").edit(
    {"in asked_for(formula)": "in [each for each in formula.__code__.co_varnames if each in known]"}
)

# div_other swaps self and other
wrong("11.5", "by position").edit({"def div_other(grad, self, other):": "def div_other(grad, other, self):"})

# knows exponent 0 as an int only
wrong("11.5").edit({"if exponent == 0:": "if isinstance(exponent, int) and exponent == 0:"})

# undoes the broadcast of other
wrong("11.5").edit("""
-        return -grad * self / other**2
+        gradient = -grad * self / other**2
+        while gradient.ndim > np.ndim(other):
+            gradient = gradient.sum(axis=0)
+        return gradient
""")

# a number of Python's
wrong("11.6", "AttributeError: 'float' object has no attribute 'reshape'").edit("""
-    return gradient.sum((*range(extra), *copied)).reshape(shape)
+    total = gradient.sum((*range(extra), *copied))
+    return (total if shape else float(total)).reshape(shape)
""")

# a number of NumPy's
right("11.6").edit("""
+    if not shape:
+        return gradient.sum()
     return gradient.sum((*range(extra), *copied)).reshape(shape)
""")

# --- 11.0, backward on arrays

# edges to None are not skipped
wrong("11.0").edit("""
-            if below is not None:
-                arrived[below] = arrived[below] + sent if below in arrived else sent
+            arrived[below] = arrived[below] + sent if below in arrived else sent
""")

# copies whatever arrives first, so that += is fine
right("11.0").edit("""
-                arrived[below] = arrived[below] + sent if below in arrived else sent
+                if below not in arrived:
+                    arrived[below] = np.zeros_like(sent)
+                arrived[below] += sent
""")

# --- 11.8, the backward half of an operation

# Tensors go into the formula
wrong("11.8", "not: Traceback").edit({"value_of(node.restore(name))": "node.restore(name)"})

# formulas of names in reverse
wrong("11.8").edit({"in asked_for(formula)]": "in asked_for(formula)[::-1]]"})

# asked for with the gradient's name
wrong("11.8").edit({"asked_for(formula)": "parameters(formula)"})

# --- 11.9, the forward half of an operation

# requires a gradient, always
wrong("11.9").edit("""
-    return output
+    output.requires_grad = True
+    return output
""")

# notes its arguments
right("11.9").edit("""
+    node.called_with = args
     record(node, args[: len(kind.formulas)], output)
""")

# --- 11.10, a blank page

# NumPy's own function
wrong("11.10", "__code__").edit({"lambda self, other: np.maximum(self, other)": "np.maximum"})


# not written
@wrong("11.9", "still raises NotImplementedError")
def call(kind, forward, args):
    raise NotImplementedError
