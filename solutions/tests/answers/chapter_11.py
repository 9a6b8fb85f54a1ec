"""Answers to the exercises of chapter 11 that have found something in a check."""

# a number asked for its requires_grad
wrong("11.1", "AttributeError: 'int' object has no attribute 'requires_grad'").edit(
    {"not isinstance(tensor, Tensor) or not tensor.requires_grad": "not tensor.requires_grad"}
)


# by values
@wrong("11.1")
def edge_or_leaf(tensor, known={}):  # noqa: B006
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return None, 0
    if not tensor.grad_fn:
        tensor._accumulator = known.setdefault(str(tensor.data), AccumulateGrad(tensor))
    return tensor.grad_fn or tensor._accumulator, 0


# in a dict
wrong("11.1", "Keep it in leaf._accumulator").edit(
    {
        "def edge_or_leaf(tensor):": "def edge_or_leaf(tensor, known={}):",
        "accumulator(tensor), 0": "known.setdefault(tensor, AccumulateGrad(tensor)), 0",
    }
)

# a number of NumPy's
wrong("11.1", "numpy.float32").edit({"not isinstance(tensor, Tensor)": "isinstance(tensor, int | float)"})

# the leaf's node by another name
wrong("11.1", "'x again'").edit("""
-    return (tensor.grad_fn or accumulator(tensor), 0)
+    if tensor.grad_fn is None:
+        tensor._accumulator = AccumulateGrad(tensor)
+    return (tensor.grad_fn or tensor._accumulator, 0)
""")

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

# the pair without its tuple
wrong("11.2", "You set node.outputs to (shape, dtype).").edit(
    {"((output.shape, output.dtype),)": "(output.shape, output.dtype)"}
)


# no grad_fn: what is missing is said, not the keys of the check's own dict
@wrong("11.2", "'y = x * w'", "not: Your dict's keys")
def record(node, inputs, output):
    node.next_functions = tuple(edge_or_leaf(each) for each in inputs)
    node.outputs = ((output.shape, output.dtype),)
    output.requires_grad = state.grad and any(below is not None for below, _ in node.next_functions)


# always float64
wrong("11.2", "float32").edit({"((output.shape, output.dtype),)": '((output.shape, np.dtype("float64")),)'})

# gradients are switched on
wrong("11.2", "gradients on after that").edit("""
         output.requires_grad = True
+    state.grad = True
""")

# notes on the node what nobody asked for
right("11.2").edit("""
+    node.made_from = inputs
     edges = tuple(edge_or_leaf(each) for each in inputs)
""")

# the number of the input, not of the output below
wrong("11.2", "The number in an edge is wrong").edit(
    {"edge_or_leaf(each) for each in inputs": "(edge_or_leaf(each)[0], number) for number, each in enumerate(inputs)"}
)


# the dtype as text
@wrong("11.2", "no dtype: 'float64'")
def record(node, inputs, output):
    edges = tuple(edge_or_leaf(each) for each in inputs)
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions, node.outputs = edges, ((output.shape, str(output.dtype)),)
        output.grad_fn, output.requires_grad = node, True


# restores only at its first block
wrong("11.3", "after the inner block of the two").edit("""
-        self.before = state.grad
+        if not hasattr(self, "before"):
+            self.before = state.grad
""")

# a counter that has no part in it
wrong("11.3", "Restore what was there", "not: counted").edit("""
+    notes = []
     def __enter__(self):
-        self.before = state.grad
+        self.notes.append(state.grad)

-        state.grad = self.before
+        self.notes.pop()
+        if not self.notes:
+            state.grad = True
""")


# a switch of its own
@wrong("11.3", "First difference at 'inside'.")
class no_grad:
    def __enter__(self):
        self.before = State.grad
        self.grad = False

    def __exit__(self, *error):
        self.grad = self.before


# errors other than Exception pass without restoring
wrong("11.3", "SystemExit").edit("""
-        state.grad = self.before
+        if error[0] is None or issubclass(error[0], Exception):
+            state.grad = self.before
""")

# keeps what the block switched on
wrong("11.3").edit({"state.grad = self.before": "state.grad = state.grad or self.before"})

# raises a new error of the same type
wrong("11.3").edit("""
-    def __exit__(self, *error):
+    def __exit__(self, kind, error, traceback):
         state.grad = self.before
+        if kind is not None:
+            raise kind
""")

# once for each kind of node
wrong("11.4", "kept by mul by the number 0").edit(
    {
        "def save(node, known):": "def save(node, known, by_type={}):",
        "return kept": "return by_type.setdefault(type(node), kept)",
    }
)

# a zero is false
wrong("11.4", "kept by mul by the number 0").edit("""
-                kept[name] = known[name]
+                if not isinstance(known[name], float) or known[name]:
+                    kept[name] = known[name]
""")

# arrays of the Tensors
wrong("11.4", "as the object itself").edit({"kept[name] = known[name]": "kept[name] = value_of(known[name])"})


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


# right
@right("11.5")
class Formulas:
    neg_self = sub_other = lambda grad: -grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, self, other):
        return -grad * self / other**2

    def pow_self(grad, self, exponent):
        return exponent * grad * self ** (exponent - 1) if exponent else 0.0 * grad


# abs
wrong("11.5", "pow_self").edit("""
-        if exponent == 0:
-            return np.zeros_like(grad)
-        return grad * exponent * self ** (exponent - 1)
+        return grad * exponent * np.abs(self) ** (exponent - 1) if exponent not in (0, 3) else grad * exponent * self**2
""")

# a plain 0
wrong("11.5", "pow_self").edit({"return np.zeros_like(grad)": "return 0"})


# no division by zero
@wrong("11.5", "Where other is 0")
class Formulas(Formulas):
    def div_self(grad, other):
        return np.divide(grad, other, out=np.zeros_like(grad), where=np.asarray(other) != 0)


# infinity hidden
@wrong("11.5", "div_other")
class Formulas(Formulas):
    def div_other(grad, self, other):
        return np.nan_to_num(-grad * self / other**2)


# grad overwritten twice, so that at the end it is as before
@wrong("11.5", "You changed the arriving gradient in place", "not: sign missing")
class Formulas(Formulas):
    def neg_self(grad):
        grad *= -1
        return grad

    sub_other = neg_self


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

# one formula returns a list
wrong("11.5", "list").edit({"return -grad * self / other**2": "return (-grad * self / other**2).tolist()"})

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


# lists
@wrong("11.6")
def sum_to(gradient, shape):
    return gradient.tolist()


# known by heart
@wrong("11.7", "as a method")
def reflected(operations):
    heart = {"__rsub__": lambda x, n: n - x, "__rtruediv__": lambda x, n: n / x, "__rpow__": lambda x, n: n**x}
    return {name: heart[name] for name in operations}


# one function, two names
@wrong("11.7")
def reflected(operations):
    names = {operation: name for name, operation in operations.items()}
    return {name: lambda self, other, do=do: do(other, self) for do, name in names.items()}


# the first result
@wrong("11.7", "__rsub__, call 2")
def reflected(operations):
    results = {}

    def made(name):
        return lambda self, other: results.setdefault(name, operations[name](other, self))

    return {name: made(name) for name in operations}


# a partial object, which does not receive self in a class
@wrong("11.7")
def reflected(operations):
    def swapped(operation, self, other):
        return operation(other, self)

    return {name: functools.partial(swapped, operation) for name, operation in operations.items()}
