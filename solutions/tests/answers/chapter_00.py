"""Answers to the exercises of chapter 00, as a class would submit them; wrong ones with what the card must say."""

# nothing recorded
wrong("00.1", "nothing recorded").edit(
    {", (self, 1.0), (other, 1.0)": "", ", (self, other.data), (other, self.data)": ""}
)

# each input's own number
wrong("00.1", "own numbers in a product").edit(
    {"(self, other.data), (other, self.data)": "(self, self.data), (other, other.data)"}
)

# the derivatives of a sum in both
wrong("00.1", "ones in a product").edit({"(self, other.data), (other, self.data)": "(self, 1.0), (other, 1.0)"})

# the derivatives of a product in both
wrong("00.1", "the rule for products in a sum").edit(
    {"(self, 1.0), (other, 1.0)": "(self, other.data), (other, self.data)"}
)

# a Node
wrong("00.1", "a Node returned").edit(
    {"Value(self.data + ": "Node(self.data + ", "Value(self.data * ": "Node(self.data * "}
)


# plain numbers
@wrong("00.1", "AttributeError: 'float' object has no attribute 'data'")
class Value(Node):
    def __add__(self, other):
        return self.data + other.data

    def __mul__(self, other):
        return self.data * other.data


# a list of edges
wrong("00.1", "both edges in one list").edit(
    {
        "(self, 1.0), (other, 1.0)": "[(self, 1.0), (other, 1.0)]",
        "(self, other.data), (other, self.data)": "[(self, other.data), (other, self.data)]",
    }
)

# the derivative as a Value
wrong("00.1", "an input as derivative").edit({"(self, other.data), (other, self.data)": "(self, other), (other, self)"})

# the two halves of a pair exchanged
wrong("00.1", "'something else'").edit(
    {
        "(self, 1.0), (other, 1.0)": "(1.0, self), (1.0, other)",
        "(self, other.data), (other, self.data)": "(other.data, self), (self.data, other)",
    }
)

# an edge forgotten in the product only
wrong("00.1", "Missing: 'b'.").edit({", (other, self.data)": ""})

# gradients written at once
wrong("00.1", "'edges and gradients of a, b and c afterwards'").edit("""
+        self.grad, other.grad = other.data, self.data
         return Value(self.data * other.data, (self, other.data), (other, self.data))
""")

# both derivatives from the same input
wrong("00.1", "'local derivatives of a * b'").edit({"(other, self.data)": "(other, other.data)"})

# a slip of the pen
wrong("00.1", "'a * b'").edit({"Value(self.data * other.data": "Value(self.data + other.data"})

# the input is changed
wrong("00.1", "written into self").edit("""
-        return Value(self.data + other.data, (self, 1.0), (other, 1.0))
+        self.data, self.edges = self.data + other.data, ((self, 1.0), (other, 1.0))
+        return self

-        return Value(self.data * other.data, (self, other.data), (other, self.data))
+        self.data, self.edges = self.data * other.data, ((self, other.data), (other, self.data))
+        return self
""")

# nothing returned
wrong("00.1", "AttributeError: 'NoneType' object has no attribute 'data'").edit(
    {"return Value(self.data + ": "Value(self.data + ", "return Value(self.data * ": "Value(self.data * "}
)

# whole numbers as derivatives
right("00.1").edit({"(self, 1.0), (other, 1.0)": "(self, 1), (other, 1)"})

# other, then self
right("00.1").edit({"(self, other.data), (other, self.data)": "(other, self.data), (self, other.data)"})


# the edges set afterwards, in a list
@right("00.1")
class Value(Node):
    def __add__(self, other):
        out = Value(self.data + other.data)
        out.edges = [(self, 1.0), (other, 1.0)]
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data)
        out.edges = [(self, other.data), (other, self.data)]
        return out


# numbers accepted, too, as in micrograd
@right("00.1")
class Value(Node):
    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other.data), (other, self.data))

    __radd__, __rmul__ = __add__, __mul__


# a helper of one's own, and an __init__
@right("00.1")
class Value(Node):
    def __init__(self, data, *edges):
        super().__init__(float(data), *edges)

    def record(self, other, data, mine, theirs):
        return type(self)(data, (self, mine), (other, theirs))

    def __add__(self, other):
        return self.record(other, self.data + other.data, 1.0, 1.0)

    def __mul__(self, other):
        return self.record(other, self.data * other.data, other.data, self.data)


# only factors, never multiplied
wrong("00.2", "local derivatives only").edit({"node.grad * slope": "slope"})

# a sum along the chain
wrong("00.2", "derivatives added").edit({"node.grad * slope": "node.grad + slope"})

# root never set
wrong("00.2", "every gradient still 0").edit({"    root.grad = 1.0\n": "\n"})

# one edge only
wrong("00.2", "one edge only").edit({"while node.edges": "if node.edges"})

# nothing stored
wrong("00.2", "every gradient still 0").edit(
    {
        "    root.grad = 1.0\n    node = root\n": "    gradient, node = 1.0, root\n",
        "source.grad = node.grad * slope": "gradient *= slope",
    }
)


# root's own gradient left out
@wrong("00.2", "root left at 0")
def backward_chain(root):
    gradient = 1.0
    while root.edges:
        root, slope = root.edges[0]
        gradient *= slope
        root.grad = gradient


# no end
@wrong("00.2", "IndexError: tuple index out of range")
def backward_chain(root):
    root.grad = 1.0
    while True:
        source, slope = root.edges[0]
        source.grad = root.grad * slope
        root = source


# one node too few
wrong("00.2", "first node left out").edit("""
         ((source, slope),) = node.edges
+        if not source.edges:
+            break
""")

# begun with its value
wrong("00.2", "begun with the value").edit({"root.grad = 1.0": "root.grad = root.data"})

# multiplied by the number in the node
wrong("00.2", "multiplied by the number").edit({"node.grad * slope": "node.grad * source.data"})

# divided
wrong("00.2", "First difference at").edit({"node.grad * slope": "node.grad / slope if slope else 0.0"})

# stops at a local derivative of 0
wrong("00.2", "a local derivative of 0").edit("""
         node = source
+        if not slope:
+            source.grad = 1.0
+            break
""")

# the graph is taken apart
wrong("00.2", "local derivatives afterwards").edit("""
-        node = source
+        node.edges, node = (), source
""")

# the wrong node's gradient
wrong("00.2", "First difference at").edit({"source.grad = node.grad * slope": "source.grad = root.grad * slope"})

# the edge is called
wrong("00.2", "TypeError").edit({"((source, slope),) = node.edges": "source, slope = node.edges()"})

# by recursion with a second parameter
right("00.2").edit("""
-def backward_chain(root):
+def backward_chain(root, gradient=1.0):

-    root.grad = 1.0
-    node = root
-    while node.edges:
-        ((source, slope),) = node.edges
-        source.grad = node.grad * slope
-        node = source
+    root.grad = gradient
+    for source, slope in root.edges:
+        backward_chain(source, gradient * slope)
""")

# added
right("00.2").edit(
    {"root.grad = 1.0": "root.grad += 1", "source.grad = node.grad * slope": "source.grad += slope * node.grad"}
)

# by index
right("00.2").edit({"((source, slope),) = node.edges": "source, slope = node.edges[0][0], node.edges[0][1]"})


# a list of nodes first
@right("00.2")
def backward_chain(root):
    chain = [root]
    while len(chain[-1].edges) > 0:
        chain.append(chain[-1].edges[0][0])
    for node in chain:
        node.grad = 1.0 if node is root else node.grad
        if node.edges:
            node.edges[0][0].grad = node.edges[0][1] * node.grad


# with a product of what is left
@right("00.2")
def backward_chain(root):
    product = 1
    root.grad = product
    while root.edges:
        [(root, slope)] = root.edges
        product = product * slope
        root.grad = product
    return root


# overwritten
wrong("00.3", "overwritten").edit({"node.grad += gradient": "node.grad = gradient"})

# delivers what has gathered
wrong("00.3", "everything delivered again").edit({"gradient * slope": "node.grad * slope"})

# each input once
wrong("00.3", "each input only once").edit({"in node.edges:": "in set(node.edges):"})

# the gradient as it came
wrong("00.3", "passed on unchanged").edit({"gradient * slope": "gradient"})

# the local derivative alone
wrong("00.3", "local derivatives delivered").edit({"gradient * slope": "slope"})

# the first edge only
wrong("00.3", "only the first edge").edit("""
         deliver(source, gradient * slope)
+        break
""")

# nothing behind the inputs
wrong("00.3", "only to the inputs").edit({"deliver(source, gradient * slope)": "source.grad += gradient * slope"})

# leaves only
wrong("00.3", "only where no edges leave").edit(
    {"    node.grad += gradient\n": "    if not node.edges:\n        node.grad += gradient\n"}
)

# to itself
wrong("00.3", "RecursionError: maximum recursion depth exceeded").edit({"deliver(source, ": "deliver(node, "})

# a node is visited once
wrong("00.3", "First difference at").edit("""
         deliver(source, gradient * slope)
+        if source.edges:
+            return
""")

# the sign lost
wrong("00.3", "First difference at").edit({"gradient * slope": "abs(gradient * slope)"})

# a sum instead of a product
wrong("00.3", "First difference at").edit({"gradient * slope": "gradient + slope"})

# added to the root only
wrong("00.3", "First difference at").edit(
    {"    for source, slope in node.edges:\n        deliver(source, gradient * slope)\n": ""}
)

# a loop that leaves out what has a gradient
wrong("00.3", "First difference at").edit("""
-        deliver(source, gradient * slope)
+        if not source.grad:
+            deliver(source, gradient * slope)
""")

# stops at a local derivative of 0
wrong("00.3", "First difference at").edit({"node.grad += gradient": "node.grad += gradient or 1.0"})

# with a stack
right("00.3").edit("""
-    node.grad += gradient
-    for source, slope in node.edges:
-        deliver(source, gradient * slope)
+    stack = [(node, gradient)]
+    while stack:
+        node, gradient = stack.pop()
+        node.grad += gradient
+        stack.extend((source, gradient * slope) for source, slope in node.edges)
""")

# the last edge first
right("00.3").edit({"in node.edges:": "in node.edges[::-1]:"})

# added after the inputs
right("00.3").edit("""
-    node.grad += gradient
-    for source, slope in node.edges:
-        deliver(source, gradient * slope)
+    for edge in node.edges:
+        deliver(edge[0], edge[1] * gradient)
+    node.grad = node.grad + gradient
""")

# nothing delivered where nothing would change
right("00.3").edit("""
-        deliver(source, gradient * slope)
+        if gradient * slope != 0:
+            deliver(source, gradient * slope)
""")

# a helper inside
right("00.3").edit("""
-    node.grad += gradient
-    for source, slope in node.edges:
-        deliver(source, gradient * slope)
+    def bring(to, what):
+        to.grad += what
+        [bring(source, what * slope) for source, slope in to.edges]
+
+    bring(node, gradient)
""")

# from the leaves up
wrong("00.4", "in the wrong direction").edit({"in reversed(order)": "in order"})

# appended before its inputs
wrong("00.4", "a node that did not wait").edit("""
-            for source, _ in node.edges:
-                visit(source)
-            order.append(node)
+            order.append(node)
+            for source, _ in node.edges:
+                visit(source)

-    for node in reversed(order):
+    for node in order:
""")

# every path
wrong("00.4", "one visit for each path").edit({"if node not in seen:": "if True:"})


# deliver once more
@wrong("00.4", "one run for each path", "TimeoutError: backward looked at the edges")
def backward(root):
    def deliver(node, gradient):
        node.grad += gradient
        for source, slope in node.edges:
            deliver(source, gradient * slope)

    deliver(root, 1.0)


# overwritten
wrong("00.4", "overwritten").edit({"source.grad += node.grad * slope": "source.grad = node.grad * slope"})

# all gradients cleared first
wrong("00.4", "earlier gradients cleared").edit("""
     visit(root)
+    for node in order:
+        node.grad = 0.0
""")

# without the 1
wrong("00.4", "root left at 0").edit({"    root.grad += 1.0\n": ""})

# unchanged
wrong("00.4", "passed on unchanged").edit({"node.grad * slope": "node.grad"})

# equal edges
wrong("00.4", "each input only once").edit("""
-        for source, slope in node.edges:
+        for source, slope in dict(node.edges).items():
""")

# numbers instead of nodes
wrong("00.4", "equal numbers taken for one node").edit(
    {"if node not in seen:": "if node.data not in seen:", "seen.add(node)": "seen.add(node.data)"}
)

# breadth first
wrong("00.4", "a node that did not wait").edit("""
-    visit(root)
+    order = [root]
+    for node in order:
+        order += [source for source, _ in dict(node.edges).items() if source not in order]

-    for node in reversed(order):
+    for node in order:
""")

# the inputs are appended, not the node
wrong("00.4", "First difference at").edit("""
-            order.append(node)
+            order.extend(source for source, _ in node.edges)
""")

# only leaves
wrong("00.4", "only nodes without edges kept").edit("""
             source.grad += node.grad * slope
+    for node in order:
+        node.grad = 0.0 if node.edges else node.grad
""")

# the list is not read from its end, but begun at its end
wrong("00.4", "First difference at").edit({"in reversed(order)": "in order[-1:]"})

# visited, never run
wrong("00.4", "First difference at").edit("""
-    for node in reversed(order):
-        for source, slope in node.edges:
-            source.grad += node.grad * slope
+    return order
""")

# without seen
right("00.4").edit("""
-    order, seen = [], set()
+    order = []

-        if node not in seen:
-            seen.add(node)
+        if node not in order:
""")

# a return instead of a condition
right("00.4").edit("""
-        if node not in seen:
-            seen.add(node)
-            for source, _ in node.edges:
-                visit(source)
-            order.append(node)
+        if node in seen:
+            return
+        seen.add(node)
+        for edge in node.edges:
+            visit(edge[0])
+        order.append(node)
""")

# inserted at the front
right("00.4").edit({"order.append(node)": "order.insert(0, node)", "in reversed(order)": "in order"})


# by counting
@right("00.4")
def backward(root):
    waiting, stack = {root: 0}, [root]
    while stack:
        for source, _ in stack.pop().edges:
            if source not in waiting:
                waiting[source] = 0
                stack.append(source)
            waiting[source] += 1
    root.grad += 1
    ready = [root]
    while ready:
        node = ready.pop(0)
        for source, slope in node.edges:
            source.grad += node.grad * slope
            waiting[source] -= 1
            if not waiting[source]:
                ready.append(source)


# by ids
right("00.4").edit({"if node not in seen:": "if id(node) not in seen:", "seen.add(node)": "seen.add(id(node))"})

# each derivative once, kept in a dict
right("00.4").edit("""
-    root.grad += 1.0
-    for node in reversed(order):
-        for source, slope in node.edges:
-            source.grad += node.grad * slope
+    new = dict.fromkeys(order, 0.0)
+    new[root] = 1.0
+    for node in order[::-1]:
+        for source, slope in node.edges:
+            new[source] += new[node] * slope
+    for node in new:
+        node.grad += new[node]
""")

# the derivative of tanh forgotten
wrong("00.5", "the derivative left out").edit({"(x, 1 - t * t)": "(x, 1.0)"})

# not squared
wrong("00.5", "tanh not squared").edit({"1 - t * t": "1 - t"})

# x squared
wrong("00.5", "the input squared").edit({"1 - t * t": "1 - x.data * x.data"})

# no edge
wrong("00.5", "no edge to x").edit({"type(x)(t, (x, 1 - t * t))": "type(x)(t)"})

# a Node
wrong("00.5", "a Node from tanh").edit({"type(x)(t, (x, 1 - t * t))": "Node(t, (x, 1 - t * t))"})

# a Value to math
wrong("00.5", "TypeError: must be real number").edit({"math.tanh(x.data)": "math.tanh(x)"})

# never cleared
wrong("00.5", "never cleared").edit("""
-        for weight in self.weights:
-            weight.grad = 0.0
         backward(loss)
""")

# cleared afterwards
wrong("00.5", "cleared only afterwards").edit("""
-        for weight in self.weights:
-            weight.grad = 0.0
         backward(loss)

             weight.data -= rate * weight.grad
+            weight.grad = 0.0
""")

# cleared in between
wrong("00.5", "cleared too late").edit("""
-        for weight in self.weights:
-            weight.grad = 0.0
         backward(loss)

-            weight.data -= rate * weight.grad
+            weight.grad = 0.0
+            weight.data -= rate * weight.grad
""")

# uphill
wrong("00.5", "moved with the gradient").edit({"weight.data -= rate": "weight.data += rate"})

# by the whole gradient
wrong("00.5", "without the rate").edit({"rate * weight.grad": "weight.grad"})

# replaced
wrong("00.5", "the number replaced").edit({"weight.data -= rate": "weight.data = -rate"})

# no backward
wrong("00.5", "backward was called").edit({"        backward(loss)\n": ""})

# backward as a method
wrong("00.5", "AttributeError: 'Node' object has no attribute 'backward'").edit({"backward(loss)": "loss.backward()"})

# the loss is moved, too
wrong("00.5", "First difference at").edit({"rate * weight.grad": "rate * weight.grad * loss.data * 2"})

# once for each weight
wrong("00.5", "backward once for each weight").edit("""
             weight.grad = 0.0
-        backward(loss)
+            backward(loss)
""")

# by the identity of tanh and exp
right("00.5").edit({"t = math.tanh(x.data)": "t = (math.exp(2 * x.data) - 1) / (math.exp(2 * x.data) + 1)"})

# a Value by name
right("00.5").edit({"type(x)(t, ": "Value(t, "})

# with cosh
right("00.5").edit({"1 - t * t": "1 / math.cosh(x.data) ** 2"})

# the edge set afterwards
right("00.5").edit("""
-        return type(x)(t, (x, 1 - t * t))
+        out = Value(t)
+        out.edges = ((x, 1 - t**2),)
+        return out
""")

# cleared before and after
right("00.5").edit("""
             weight.data -= rate * weight.grad
+            weight.grad = 0
""")

# by index, and with helpers
right("00.5").edit("""
-        for weight in self.weights:
-            weight.grad = 0.0
         backward(loss)
-        for weight in self.weights:
-            weight.data -= rate * weight.grad
+        for k in range(len(self.weights)):
+            self.weights[k].data = self.weights[k].data - self.weights[k].grad * rate

-    def step(self, loss, backward, rate):
+    def zero_grad(self):
+        for weight in self.weights:
+            weight.grad = 0.0
+
+    def step(self, loss, backward, rate):

-        \"\"\"Move each weight against its gradient. loss: Node. backward: function of a Node. rate: float.\"\"\"
+        self.zero_grad()
""")


# the inputs themselves as edges
wrong("00.1", "An edge is a pair").edit(
    {
        "(self, 1.0), (other, 1.0)": "self, other",
        "(self, other.data), (other, self.data)": "self, other",
    }
)


# begins again at each node
@wrong("00.2", "as if each node were the root")
def backward_chain(root):
    root.grad = 1.0
    for source, slope in root.edges:
        source.grad = slope
        backward_chain(source)


# a node in order before its inputs
wrong("00.4", "A visit appends a node after its inputs").edit("""
             seen.add(node)
+            order.append(node)

                 visit(source)
-            order.append(node)
""")

# the local derivatives alone
wrong("00.4", "You add the local derivatives alone").edit({"node.grad * slope": "slope"})

# backward where the weights move
wrong("00.5", "although one call finds all gradients").edit("""
             weight.grad = 0.0
-        backward(loss)
-        for weight in self.weights:
+            backward(loss)
""")
