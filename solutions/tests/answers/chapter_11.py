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
        self.before = state.grad
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


# --- 11.0, backward on arrays


# from the leaves up
wrong("11.0", "KeyError: the node of ", "order begins with leaves").edit({"reversed(order)": "order"})

# edges to None are not skipped
wrong("11.0").edit("""
-            if below is not None:
-                arrived[below] = arrived[below] + sent if below in arrived else sent
+            arrived[below] = arrived[below] + sent if below in arrived else sent
""")

# each node starts with the given gradient
wrong("11.0").edit({"arrived[below] + sent if below in arrived else sent": "arrived.get(below, gradient) + sent"})

# adds a whole copy once more
wrong("11.0").edit(
    {"arrived[below] + sent if below in arrived else sent": "arrived[below] + 2 * sent if below in arrived else sent"}
)

# the run happens once per edge
wrong("11.0").edit("""
-        for (below, _), sent in zip(node.next_functions, node.run(arrived[node]), strict=True):
+        for place, (below, _) in enumerate(node.next_functions):
+            sent = node.run(arrived[node])[place]
""")

# stops at the first edge to None
wrong("11.0").edit("""
-            if below is not None:
-                arrived[below] = arrived[below] + sent if below in arrived else sent
+            if below is None:
+                break
+            arrived[below] = arrived[below] + sent if below in arrived else sent
""")

# turned round once more than needed
wrong("11.0").edit({"reversed(order)": "reversed(order[:-1])"})

# the mean of two arrivals
wrong("11.0").edit(
    {"arrived[below] + sent if below in arrived else sent": "(arrived[below] + sent) / 2 if below in arrived else sent"}
)

# with a default of 0
right("11.0").edit({"arrived[below] + sent if below in arrived else sent": "arrived.get(below, 0) + sent"})

# pops what has been used
right("11.0").edit({"node.run(arrived[node])": "node.run(arrived.pop(node))"})

# order reversed in place
right("11.0").edit("""
-    for node in reversed(order):
+    order.reverse()
+    for node in order:
""")

# sums lists at the end
right("11.0").edit("""
-    for node in reversed(order):
-        for (below, _), sent in zip(node.next_functions, node.run(arrived[node]), strict=True):
+    arrived = {root: [gradient]}
+    while order:
+        node = order.pop()
+        for (below, _), sent in zip(node.next_functions, node.run(sum(arrived[node])), strict=True):

-                arrived[below] = arrived[below] + sent if below in arrived else sent
+                arrived.setdefault(below, []).append(sent)
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

# the condition turned round
wrong("11.8").edit({"if below is None:": "if below is not None:"})

# one gradient for all
wrong("11.8").edit(
    {
        "made.append(formula(": "made.append(0 * gradient + formula(",
        "asked_for(formula)]))": "asked_for(formula)]).sum())",
    }
)

# formulas of names in reverse
wrong("11.8").edit({"in asked_for(formula)]": "in asked_for(formula)[::-1]]"})

# without the gradient
wrong("11.8").edit({"formula(gradient, *[": "formula(1.0, *["})

# asked for with the gradient's name
wrong("11.8").edit({"asked_for(formula)": "parameters(formula)"})

# returns at the first edge
wrong("11.8").edit({"    return made": "        return made"})

# a dict by name
wrong("11.8").edit({"    return made": "    return dict(zip(node.formulas, made, strict=True))"})

# writes into the gradient
wrong("11.8").edit("""
     made = []
+    gradient *= 2
""")

# an array of arrays
wrong("11.8").edit({"    return made": "    return np.array(made)"})

# a tuple
right("11.8").edit({"    return made": "    return tuple(made)"})

# by name
right("11.8").edit(
    {
        "*[value_of(node.restore(name)) for name in asked_for(formula)]": "**{name: value_of(node.restore(name)) for name in asked_for(formula)}"
    }
)


# in one expression
@right("11.8")
def apply_formulas(node, gradient):
    return [
        formula(gradient, *(value_of(node.restore(name)) for name in asked_for(formula))) if edge[0] else None
        for edge, formula in zip(node.next_functions, node.formulas.values(), strict=True)
    ]


# by position
@right("11.8")
def apply_formulas(node, gradient):
    formulas, made = list(node.formulas.values()), [None] * len(node.next_functions)
    for place in range(len(made)):
        if node.next_functions[place][0] is not None:
            values = [node.restore(name) for name in asked_for(formulas[place])]
            made[place] = formulas[place](gradient, *map(value_of, values))
    return made


# with a helper inside
@right("11.8")
def apply_formulas(node, gradient):
    def read(name):
        value = node.restore(name)
        return value.data if isinstance(value, Tensor) else value

    made = []
    for name, (below, _) in zip(node.formulas, node.next_functions, strict=True):
        made += [None] if below is None else [node.formulas[name](gradient, *map(read, asked_for(node.formulas[name])))]
    return made


# --- 11.9, the forward half of an operation

# forward gets Tensors
wrong("11.9").edit({"forward(*[value_of(arg) for arg in args])": "forward(*args)"})

# the class, not a node
wrong("11.9").edit({"node = kind()": "node = kind"})

# an edge for the first argument alone
wrong("11.9").edit({"args[: len(kind.formulas)]": "args[:1]"})

# requires a gradient, always
wrong("11.9").edit("""
-    return output
+    output.requires_grad = True
+    return output
""")

# asks requires_grad
right("11.9").edit({"if output.grad_fn is node:": "if output.requires_grad:"})

# the known values in one dict
right("11.9").edit("""
-        known = dict(zip(parameters(forward), args, strict=True))
-        known["result"], known["shape"] = output.data, np.shape(value_of(args[0]))
-        node.saved = save(node, known)
+        names = [*parameters(forward), "result", "shape"]
+        values = [*args, output.data, np.asarray(value_of(args[0])).shape]
+        node.saved = save(node, dict(zip(names, values, strict=True)))
""")

# a copy of the result
right("11.9").edit({"= output.data, np.shape": "= np.array(output.data), np.shape"})

# saves whenever gradients are on
right("11.9").edit({"if output.grad_fn is node:": "if not output.is_leaf:"})

# notes its arguments
right("11.9").edit("""
+    node.called_with = args
     record(node, args[: len(kind.formulas)], output)
""")


# --- 11.10, a blank page

# a name of its own
wrong("11.10", "In maximum, the node: MyMaximum").edit({'"MaximumBackward0"': '"MyMaximum"'})

# NumPy's own function
wrong("11.10", "__code__").edit({"lambda self, other: np.maximum(self, other)": "np.maximum"})


# not one of the four
@wrong("11.10", "maximum, exp, abs or clamp")
def of_my_choice():
    return "square", operation("PowBackward0", lambda self: self * self, self=lambda grad, self: 2 * grad * self)


# the derivative of abs is not the sign of grad
@wrong("11.10", "In abs, the gradients")
def of_my_choice():
    return "abs", operation("AbsBackward0", lambda self: np.abs(self), self=lambda grad, self: np.abs(grad) + 0 * self)


# clamp keeps a mask
@wrong("11.10")
def of_my_choice():
    def forward(self, min, max):
        return np.clip(self, min, max)

    return "clamp", operation("ClampBackward1", forward, self=lambda grad, self, result: grad * (self == result))


# only one formula
@wrong("11.10")
def of_my_choice():
    return "maximum", operation(
        "MaximumBackward0",
        lambda self, other: np.maximum(self, other),
        self=lambda grad, self, other: grad * (self >= other),
    )


# the minimum
@wrong("11.10", "In maximum, the result")
def of_my_choice():
    def share(grad, one, two):
        return grad * ((one < two) + (one == two) / 2)

    return "maximum", operation(
        "MaximumBackward0",
        lambda self, other: np.minimum(self, other),
        self=lambda grad, self, other: share(grad, self, other),
        other=lambda grad, self, other: share(grad, other, self),
    )


# a function that records nothing
@wrong("11.10")
def of_my_choice():
    return "exp", lambda x: Tensor(np.exp(x.data))


# by the heaviside function
right("11.10").edit({"grad * ((one > two) + (one == two) / 2)": "grad * np.heaviside(one - two, 0.5)"})


# by the sign of the difference
right("11.10").edit({"grad * ((one > two) + (one == two) / 2)": "grad * (np.sign(one - two) + 1) / 2"})


# exp by a power
@right("11.10")
def of_my_choice():
    def forward(self):
        return (np.e**self).astype(self.dtype)

    def backward(grad, result):
        return result * grad

    return "exp", operation("ExpBackward0", forward, self=backward)


# abs by the maximum
@right("11.10")
def of_my_choice():
    return "abs", operation(
        "AbsBackward0",
        lambda self: np.maximum(self, -self),
        self=lambda grad, self: grad * (self > 0) - grad * (self < 0),
    )


# clamp by masks
@right("11.10")
def of_my_choice():
    def clamped(self, min, max):
        result = self.copy()
        result[self < min] = min
        result[self > max] = max
        return result

    def within(grad, self, min, max):
        out = (self < min) | (self > max)
        return np.where(out, 0.0, grad)

    return "clamp", operation("ClampBackward1", clamped, self=within)


# not written
@wrong("11.9", "still raises NotImplementedError")
def call(kind, forward, args):
    raise NotImplementedError
