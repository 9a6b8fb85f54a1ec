"""Answers to the exercises of chapter 00, as a class would submit them; wrong ones with what the card must say."""

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


# no end
@wrong("00.2", "IndexError: tuple index out of range")
def backward_chain(root):
    root.grad = 1.0
    while True:
        source, slope = root.edges[0]
        source.grad = root.grad * slope
        root = source


# divided
wrong("00.2", "First difference at").edit({"node.grad * slope": "node.grad / slope if slope else 0.0"})


# the graph is taken apart
wrong("00.2", "local derivatives afterwards").edit("""
-        node = source
+        node.edges, node = (), source
""")


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


# a node is visited once
wrong("00.3", "First difference at").edit("""
         deliver(source, gradient * slope)
+        if source.edges:
+            return
""")

# the sign lost
wrong("00.3", "First difference at").edit({"gradient * slope": "abs(gradient * slope)"})


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


# overwritten
wrong("00.4", "overwritten").edit({"source.grad += node.grad * slope": "source.grad = node.grad * slope"})


# unchanged
wrong("00.4", "passed on unchanged").edit({"node.grad * slope": "node.grad"})

# equal edges
wrong("00.4", "each input only once").edit("""
-        for source, slope in node.edges:
+        for source, slope in dict(node.edges).items():
""")


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


# no backward
wrong("00.5", "backward was called").edit({"        backward(loss)\n": ""})

# backward as a method
wrong("00.5", "AttributeError: 'Node' object has no attribute 'backward'").edit({"backward(loss)": "loss.backward()"})

# the loss is moved, too
wrong("00.5", "First difference at").edit({"rate * weight.grad": "rate * weight.grad * loss.data * 2"})


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
