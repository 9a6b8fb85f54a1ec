"""Answers to the exercises of chapter 13 that have found something in a check."""

# the first registration of its function
wrong("13.1", "after removal 1, of hook 3").edit("""
-    handle = RemovableHandle(hooks)
+    class Handle(RemovableHandle):
+        done = False
+        def remove(self):
+            key = next((key for key, value in self.hooks.items() if value is hook and not self.done), None)
+            self.hooks.pop(key, None)
+            self.done = True
+    handle = Handle(hooks)
""")

# a list on the tensor
wrong("13.2", "left on y").edit("""
         raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
+    vars(tensor).setdefault("my_hooks", []).append(hook)
""")


# refuses after registering
@wrong("13.2", "left on w")
def register_hook(tensor, hook):
    handle = add_hook(hooks_of(tensor.grad_fn or accumulator(tensor), "tensor_hooks"), hook)
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return handle


# a gradient kept that nobody asked for
wrong("13.2", "'retained_by'").edit("""
-    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), hook)
+    node = edge_or_leaf(tensor)[0]
+    hooks_of(node, "retained_by")["tensor"] = tensor
+    return add_hook(hooks_of(node, "tensor_hooks"), hook)
""")

# 0.0 taken for None
wrong("13.3", "returns the number 0").edit({"given.data if result is None else": "given.data if not result else"})

# the array that arrived
wrong("13.3", "the array that arrived first in backward 1, afterwards").edit("""
-        accumulate(node.retained_by["tensor"], gradient)
+        kept = node.retained_by["tensor"]
+        if kept.grad is None:
+            kept.grad = Tensor(gradient)
+        else:
+            kept.grad.data += gradient
""")

# written into a number of NumPy's
wrong("13.3", "one number, shape (), written into").edit({"given.data if result": "gradient if result"})

# a hook's error
wrong("13.3", "Your function returned, but should have raised an error.").edit("""
-        result = hook(given)
+        try:
+            result = hook(given)
+        except ValueError:
+            result = None
""")

# a function that is registered twice is called once
wrong("13.3", "one function registered twice").edit(
    {'in list(hooks_of(node, "tensor_hooks").values()):': 'in dict.fromkeys(hooks_of(node, "tensor_hooks").values()):'}
)

# as it was in the first walk
wrong("13.4", "x frozen between the two backward passes").edit("""
-    if node.variable.requires_grad:
+    node.wanted = vars(node).get("wanted", node.variable.requires_grad)
+    if node.wanted:
""")

# the tensor hooks are called here a second time
wrong("13.4", "a tensor hook on x").edit({"variable, gradient": "variable, call_tensor_hooks(node, gradient)"})

# None treated as a node
wrong("13.5", "AttributeError: 'NoneType' object has no attribute 'next_functions'").edit("""
+    nodes = list(nodes)
     for node in nodes:
+        nodes += [below for below, _ in node.next_functions if below not in nodes]
""")

# no targets
wrong("13.5", "no target at all").edit({"(), list(targets)": "(), [targets[0], *targets[1:]]"})

# what leads to a node is kept as an attribute of the node
wrong("13.5", "attributes that nodes gained or lost").edit("""
-    above = {}
+    for node in [*nodes, *targets]:
+        node.above = []

-            above.setdefault(below, []).append(node)
+            if below is not None:
+                below.above.append(node)

-        for node in above.get(stack.pop(), ()):
+        for node in stack.pop().above:
""")

# only the last target counts
wrong("13.5", "a target on each").edit({"list(targets)": "list(targets)[-1:]"})

# only the first input replaced
wrong("13.6", "returns a tensor for two inputs").edit({"(result,)": "(result, *args[1:])"})

# the inputs are watched before the pre-hooks see them
wrong("13.6", "what a BackwardHook watched").edit("""
+    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
+    if watch:
+        args = watch.watch_inputs(args)
     for hook in list(module._forward_pre_hooks.values()):

-    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
-    if watch:
-        args = watch.watch_inputs(args)
     output = module.forward(*args)
""")

# None compared by its truth, which is right for a BackwardHook, and asked twice
right("13.6").edit(
    {
        "BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None": "None",
        "    if watch:\n": "    if len(module._backward_hooks) + len(module._backward_pre_hooks) > 0:\n        watch = BackwardHook(module)\n",
    }
)

# a list of inputs taken for a tuple
wrong("13.6", "a pre-hook that returns a list").edit(
    {"result if isinstance(result, tuple)": "tuple(result) if isinstance(result, tuple | list)"}
)

# a tuple of a subclass is packed into another tuple
wrong("13.6", "a named tuple").edit({"isinstance(result, tuple)": "type(result) is tuple"})

# forward hooks are listed after the pre-hooks but before forward: one that forward registers is missed
wrong("13.6", "forward registers a hook").edit("""
+    forward_hooks = list(module._forward_hooks.values())
     output = module.forward(*args)
-    for hook in list(module._forward_hooks.values()):
+    for hook in forward_hooks:
""")

# asks the input itself, which is right as long as gradients are recorded
right("13.7").edit({"watched.requires_grad": "args[0].requires_grad"})

# the hooks are taken out of the list when they are called
wrong("13.7", "hooks called").edit("""
+        self.pre_hooks, hooks = [], self.pre_hooks
         self.grad_output = (gradient,)
-        for hook in self.pre_hooks:
+        for hook in hooks:
""")

# watch_inputs returns a list
wrong("13.7", "watch_inputs returned a").edit({"return (watched, *args[1:])": "return [watched, *args[1:]]"})

# asks whether any input requires a gradient
wrong("13.7", "an untracked input, then a tracked one").edit(
    {"watched.requires_grad": 'any(getattr(each, "requires_grad", False) for each in args)'}
)
