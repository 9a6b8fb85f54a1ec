"""Answers to the exercises of chapter 14 that have found something in a check."""

# zero past 0.9999
wrong("14.1", "very large").edit(
    {"return grad * result * (1 - result)": "return np.where(result > 0.9999, 0, grad * result * (1 - result))"}
)

# np.ones is float64
wrong("14.1", "dtype of the gradient for a float32 x").edit({"(1 - result)": "(np.ones(result.shape) - result)"})

# the value in float64, and with it the gradient
wrong("14.1", "dtype of the value for a float32 x").edit(
    {"np.where(self >= 0, 1, small)": "np.where(self >= 0, np.ones(np.shape(self)), small)"}
)

# overflows without a trace: the warning is switched off, and the value is right
right("14.1").edit("""
-    small = np.exp(-np.abs(self))
-    return np.where(self >= 0, 1, small) / (1 + small)
+    with np.errstate(over="ignore"):
+        return 1 / (1 + np.exp(-self))
""")

# the array of x is used as memory for the exponential
wrong("14.1", "changed in place: x").edit(
    {"np.exp(-np.abs(self))": "np.exp(-np.abs(self), out=self) if self.shape else np.exp(-np.abs(self))"}
)

# the last result, kept outside
wrong("14.1", "x.grad after a second use").edit("""
-    return np.where(self >= 0, 1, small) / (1 + small)
+    sigmoid_of.last = np.where(self >= 0, 1, small) / (1 + small)
+    return sigmoid_of.last

-    return grad * result * (1 - result)
+    return grad * sigmoid_of.last * (1 - sigmoid_of.last)
""")

# float64 for float32
wrong("14.3", "The dtype differs from the expected one.").edit(
    {"shifted = self -": "shifted = self.astype(np.float64) -"}
)

# as many indices as there are classes
wrong("14.4", "IndexError: shape mismatch: indexing arrays could not be broadcast together").edit(
    {"full[np.arange(rows), target]": "full[np.arange(shape[1]), target]"}
)

# the sum is divided by a number of rows that is fixed
wrong("14.4").edit({"target].mean()": "target].sum() / 3"})

# one array for all uses of a shape
wrong("14.4", "not: Likely slip").edit("""
-    full = np.zeros(shape, grad.dtype)
+    kept = vars(nll_loss_gradient).setdefault("kept", {})
+    full = kept.setdefault(shape, np.zeros(shape))
""")

# not transposed
wrong("14.5", "RuntimeError: mat1 and mat2 shapes cannot be multiplied").edit(
    {"return matmul(x, t(self.weight)) + self.bias": "return matmul(x, self.weight) + self.bias"}
)

# a bias of zeros is not made a parameter
wrong("14.5", "a bias of zeros").edit("""
-        self.weight, self.bias = Parameter(weight), Parameter(bias)
+        self.weight = Parameter(weight)
+        self.bias = Parameter(bias) if np.any(bias) else None

-        return matmul(x, t(self.weight)) + self.bias
+        y = x @ t(self.weight)
+        return y if self.bias is None else y + self.bias
""")

# __call__ instead of forward, so hooks are never called
wrong("14.5").edit("""
         self.weight, self.bias = Parameter(weight), Parameter(bias)
+
+    def __call__(self, x):
+        return self.forward(x)
""")

# transposes once, at the start
wrong("14.5").edit("""
         self.weight, self.bias = Parameter(weight), Parameter(bias)
+        self.turned = t(self.weight)

-        return matmul(x, t(self.weight)) + self.bias
+        return matmul(x, self.turned) + self.bias
""")

# buffers kept by the parameter's id
right("14.6").edit(
    {
        "self.buffers.get(number)": "self.buffers.get(id(parameter))",
        "self.buffers[number]": "self.buffers[id(parameter)]",
    }
)

# a frozen parameter with a gradient is skipped
wrong("14.6", "step 3").edit(
    {"if parameter.grad is None:": "if parameter.grad is None or not parameter.requires_grad:"}
)

# the buffer on the parameter, where a second optimizer finds it
wrong("14.6", "by a second optimizer").edit("""
-                before = self.buffers.get(number)
+                before = getattr(parameter, "buffer", None)

-                self.buffers[number] = gradient
+                parameter.buffer = gradient
""")
