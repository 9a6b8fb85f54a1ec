"""Answers to the exercises of chapter 12 that have found something in a check."""


# added to None
@wrong("12.1", "AttributeError: 'NoneType' object has no attribute 'data'")
def accumulate(leaf, gradient):
    leaf.grad.data += gradient


# another Tensor around the same array
wrong("12.1", "'.grad after call 2 is'").edit("""
         leaf.grad.data += gradient
+        leaf.grad = Tensor(leaf.grad.data)
""")

# returns what nobody reads
right("12.1").edit("""
         leaf.grad.data += gradient
+    return leaf.grad
""")

# None walked on from
wrong("12.2", "AttributeError: 'NoneType' object has no attribute 'next_functions'").edit("""
-            if node is None:
-                continue
""")

# the edges of each visited node thrown away
wrong("12.2", "attributes added to the nodes", "not: left a mark").edit("""
                 stack.append(node.next_functions)
+                node.next_functions = ()
""")

# no .grad but a leaf's
wrong("12.3", "the tensor's .grad, afterwards").edit("""
-    if gradient is not None:
-        return gradient.data
-    if tensor.data.size != 1:
+    if gradient is None and tensor.data.size != 1:

-    return np.ones(tensor.shape, tensor.dtype)
+    tensor.grad = Tensor(np.ones(tensor.shape, tensor.dtype)) if gradient is None else gradient
+    return tensor.grad.data
""")

# asks for one entry along the first dimension only
wrong("12.3").edit({"if tensor.data.size != 1:": "if tensor.shape and tensor.shape[0] != 1:"})

# compares how many elements there are
wrong("12.3").edit({"gradient.shape != tensor.shape": "gradient.data.size != tensor.data.size"})

# a reason that is not said
wrong("12.3", "does not contain: scalar").edit({"grad can be implicitly created only for scalar outputs": "no"})

# a different kind of error
wrong("12.3").edit({'        raise RuntimeError("element 0': '        raise ValueError("element 0'})

# if gradient
right("12.3").edit(
    {
        "if gradient is not None and gradient.shape": "if gradient and gradient.shape",
        "    if gradient is not None:": "    if gradient:",
    }
)


# one error for all reasons
@right("12.3")
def weight(tensor, gradient=None):
    given = gradient.data if gradient is not None else np.ones_like(tensor.data)
    alone = gradient is not None or tensor.data.size == 1
    if given.shape != tensor.shape or not tensor.requires_grad or not alone:
        raise RuntimeError("The shape differs, or no grad is required, or it is not a scalar.")
    return given


# added to what is not there
wrong("12.4", "KeyError").edit(
    {"arrived[node] + gradient if node in arrived else gradient": "arrived[node] + gradient"}
)

# torch's own kind of error is swallowed
wrong("12.4", "pass 1 ends with").edit("""
-        edges, produced = node.next_functions, node.run(arrived.pop(node))
+        try:
+            edges, produced = node.next_functions, node.run(arrived.pop(node))
+        except RuntimeError:
+            return
""")

# None looked for in the gradients, not in the nodes
wrong("12.4", "'NoneType' object has no attribute 'outputs'", "not: Likely slip").edit(
    {"if node is None:": "if gradient is None:"}
)

# every sum is a new array, even the first; the last leaf goes first
right("12.4").edit(
    {
        "arrived[node] + gradient if node in arrived else gradient": "arrived.get(node, 0) + gradient",
        "leaves.pop(0) if leaves else ready.pop()": "leaves.pop() if leaves else ready.pop(0)",
    }
)

# the values of leaves gone
wrong("12.5").edit("""
         if name in node.formulas or name == "result":
+            if isinstance(node.saved[name], Tensor):
+                node.saved[name].data = None
""")

# equal, element by element
wrong("12.5").edit({"if node.saved[name] is FREED:": "if node.saved[name] == FREED:"})

# a mark of its own
wrong("12.5", "tensors not freed", "not: no memory was freed").edit(
    {
        "node.saved[name] = FREED": 'node.saved[name] = ("freed",)',
        "if node.saved[name] is FREED:": 'if node.saved[name] == ("freed",):',
    }
)

# hard-codes the names that stay
wrong("12.5").edit({'in node.formulas or name == "result"': 'not in ("exponent", "shape", "dim", "keepdim")'})

# returns the array of a Tensor
wrong("12.5").edit({"return node.saved[name]": "return value_of(node.saved[name])"})

# or None
right("12.6").edit({"weight(tensor, gradient)": "weight(tensor, gradient or None)"})
