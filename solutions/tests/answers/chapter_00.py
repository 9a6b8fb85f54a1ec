"""Answers to the exercises of chapter 00, as a class would submit them; wrong ones with what the card must say."""

# gradients written at once
wrong("00.1", "'edges and gradients of a, b and c afterwards'").edit("""
+        self.grad, other.grad = other.data, self.data
         return Value(self.data * other.data, (self, other.data), (other, self.data))
""")


# other, then self
right("00.1").edit({"(self, other.data), (other, self.data)": "(other, self.data), (self, other.data)"})


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


# no end
@wrong("00.2", "IndexError: tuple index out of range")
def backward_chain(root):
    root.grad = 1.0
    while True:
        source, slope = root.edges[0]
        source.grad = root.grad * slope
        root = source


# the graph is taken apart
wrong("00.2", "local derivatives afterwards").edit("""
-        node = source
+        node.edges, node = (), source
""")


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


# added after the inputs
right("00.3").edit("""
-    node.grad += gradient
-    for source, slope in node.edges:
-        deliver(source, gradient * slope)
+    for edge in node.edges:
+        deliver(edge[0], edge[1] * gradient)
+    node.grad = node.grad + gradient
""")


# the inputs are appended, not the node
wrong("00.4", "First difference at").edit("""
-            order.append(node)
+            order.extend(source for source, _ in node.edges)
""")


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


# by the identity of tanh and exp
right("00.5").edit({"t = math.tanh(x.data)": "t = (math.exp(2 * x.data) - 1) / (math.exp(2 * x.data) + 1)"})


# cleared before and after
right("00.5").edit("""
             weight.data -= rate * weight.grad
+            weight.grad = 0
""")
