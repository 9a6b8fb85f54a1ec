"""Answers to the exercises of chapter 13 that have found something in a check."""

# the length as key
wrong("13.1", "once more").edit("""
-    handle = RemovableHandle(hooks)
-    hooks[handle] = hook
-    return handle
+    key = max([k for k in hooks if isinstance(k, int)], default=0) + 1
+    hooks[key] = hook
+    class Handle:
+        def remove(self):
+            hooks.pop(key, None)
+        def __enter__(self):
+            return self
+        def __exit__(self, *error):
+            self.remove()
+    return Handle()
""")

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


# a function around the hook
wrong("13.2", "at the node of y, 1").edit("""
-    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), hook)
+    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), lambda gradient: hook(gradient))
""")

# a gradient kept that nobody asked for
wrong("13.2", "'retained_by'").edit("""
-    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), hook)
+    node = edge_or_leaf(tensor)[0]
+    hooks_of(node, "retained_by")["tensor"] = tensor
+    return add_hook(hooks_of(node, "tensor_hooks"), hook)
""")


# a leaf that was frozen after it got its accumulator is accepted
@wrong("13.2", "once it is frozen")
def register_hook(tensor, hook):
    node = tensor.grad_fn or tensor._accumulator
    if node is None:
        node, _ = edge_or_leaf(tensor)
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return add_hook(hooks_of(node, "tensor_hooks"), hook)


# the same function is not registered a second time; the earlier handle is used
wrong("13.2", "hooks called").edit("""
-    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), hook)
+    hooks = hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks")
+    for handle, known in hooks.items():
+        if known is hook:
+            return handle
+    return add_hook(hooks, hook)
""")

# a leaf that already has a .grad: its hook is called at once with it
wrong("13.2", "called while registering").edit("""
         raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
+    if tensor.grad is not None:
+        hook(tensor.grad)
""")

# a Tensor returned
wrong("13.3", "call_tensor_hooks returned Tensor, not an array").edit({"return gradient": "return Tensor(gradient)"})

# nothing retained without hooks
wrong("13.3", "retained, and no hook").edit("""
-    for hook in list(hooks_of(node, "tensor_hooks").values()):
+    hooks = list(hooks_of(node, "tensor_hooks").values())
+    if not hooks:
+        return gradient
+    for hook in hooks:
""")

# 0.0 taken for None
wrong("13.3", "returns the number 0").edit(
    {
        "given.data if result is None else checked(hook, result, given).data": "checked(hook, result, given).data if result else given.data"
    }
)

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


# a copy at the beginning
@wrong("13.3", "the array that arrived first")
def call_tensor_hooks(node, gradient):
    given = Tensor(np.array(gradient))
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        result = hook(given)
        given = given if result is None else checked(hook, result, given)
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], given.data)
    return given.data


# only the result of the last hook is checked, against what arrived
@wrong("13.3", "then the right one")
def call_tensor_hooks(node, gradient):
    first = given = Tensor(gradient)
    hook = None
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        result = hook(given)
        given = given if result is None else result
    if hook is not None:
        checked(hook, given, first)
    gradient = given.data
    tensor = hooks_of(node, "retained_by").get("tensor")
    if tensor is not None:
        accumulate(tensor, gradient)
    return gradient


# a function that is registered twice is called once
wrong("13.3", "one function registered twice").edit(
    {'in list(hooks_of(node, "tensor_hooks").values()):': 'in dict.fromkeys(hooks_of(node, "tensor_hooks").values()):'}
)

# the result is written into the array that arrived, so an array that is on its way elsewhere changes
wrong("13.3", "scaled where backward begins").edit("""
+    gradient = np.asarray(gradient)
     for hook in list(hooks_of(node, "tensor_hooks").values()):

-        gradient = given.data if result is None else checked(hook, result, given).data
+        if result is not None:
+            gradient[...] = checked(hook, result, given).data
""")

# retain_grad only sees what hooks returned, not what a hook wrote: it keeps a copy made before the last hook
wrong("13.3", "retained, then written into").edit("""
+    kept = gradient.copy()
     for hook in list(hooks_of(node, "tensor_hooks").values()):

         gradient = given.data if result is None else checked(hook, result, given).data
+        if result is not None:
+            kept = gradient

-        accumulate(node.retained_by["tensor"], gradient)
+        accumulate(node.retained_by["tensor"], kept)
""")


# retain_grad keeps the gradient even if a hook raised an error
@wrong("13.3", "retained, and a hook that raises an error")
def call_tensor_hooks(node, gradient):
    try:
        for hook in list(hooks_of(node, "tensor_hooks").values()):
            given = Tensor(gradient)
            result = hook(given)
            gradient = given.data if result is None else checked(hook, result, given).data
    finally:
        tensor = hooks_of(node, "retained_by").get("tensor")
        if tensor is not None:
            accumulate(tensor, gradient)
    return gradient


# accepts arrays
wrong("13.3").edit("""
         result = hook(given)
+        if isinstance(result, np.ndarray):
+            result = Tensor(result)
""")

# nothing returned where no hook is
wrong("13.3", "call_tensor_hooks returned NoneType, not an array").edit(
    {"return gradient": 'return gradient if hooks_of(node, "tensor_hooks") else None'}
)

# a list
wrong("13.3", "call_tensor_hooks returned list, not an array").edit({"return gradient": "return gradient.tolist()"})

# nothing returned
wrong("13.4", "TypeError: 'NoneType' object is not iterable").edit("""
-    return []
""")


# as it was in the first walk
wrong("13.4", "x frozen between the two backward passes").edit("""
-    if node.variable.requires_grad:
+    node.wanted = vars(node).get("wanted", node.variable.requires_grad)
+    if node.wanted:
""")

# requires_grad is asked again before each hook: a hook that freezes the leaf silences the others
wrong("13.4", "a hook that freezes x").edit("""
+    frozen = not node.variable.requires_grad
     if node.variable.requires_grad:

-        hook(node.variable)
+        if frozen or node.variable.requires_grad:
+            hook(node.variable)
""")

# the tensor hooks are called here a second time
wrong("13.4", "a tensor hook on x").edit({"variable, gradient": "variable, call_tensor_hooks(node, gradient)"})


# None treated as a node
@wrong("13.5", "AttributeError: 'NoneType' object has no attribute 'next_functions'")
def leading_to(targets, nodes):
    found = set()
    for start in nodes:
        stack, seen = [start], set()
        while stack:
            for below, _ in stack.pop().next_functions:
                if below in targets:
                    found.add(start)
                if below not in seen:
                    seen.add(below)
                    stack.append(below)
    return found


# every path
@wrong("13.5", "were looked at more than")
def leading_to(targets, nodes):
    def leads(node):
        stack = [node]
        while stack:
            for below, _ in stack.pop().next_functions:
                if below in targets:
                    return True
                if below is not None:
                    stack.append(below)
        return False

    return {node for node in nodes if leads(node)}


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

# targets count as nodes of the graph
wrong("13.5").edit({"for node in nodes:": "for node in [*nodes, *targets]:"})

# only the first input replaced
wrong("13.6", "returns a tensor for two inputs").edit({"(result,)": "(result, *args[1:])"})

# listed too early
wrong("13.6", "registers a forward hook").edit("""
+    forward_hooks = list(module._forward_hooks.values())
     for hook in list(module._forward_pre_hooks.values()):

-    for hook in list(module._forward_hooks.values()):
+    for hook in forward_hooks:
""")

# the output is not watched
wrong("13.6", "The output of a module with backward hooks is not watched").edit(
    {"return watch.watch_outputs(output) if watch else output": "return output"}
)

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

# the output is watched before the forward hooks replace it, so what they return has no upper identity
wrong("13.6", "what a BackwardHook watched").edit("""
     output = module.forward(*args)
+    output = watch.watch_outputs(output) if watch else output

-    return watch.watch_outputs(output) if watch else output
+    return output
""")

# the methods are called, but what they return is dropped
wrong("13.6").edit({"        args = watch.watch_inputs(args)": "        watch.watch_inputs(args)"})

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

# an error in a hook is swallowed
wrong("13.6", "a hook that raises an error").edit("""
-        result = hook(module, args, output)
+        try:
+            result = hook(module, args, output)
+        except Exception:
+            result = None
""")

# a tuple of a subclass is packed into another tuple
wrong("13.6", "a named tuple").edit({"isinstance(result, tuple)": "type(result) is tuple"})

# forward hooks are listed after the pre-hooks but before forward: one that forward registers is missed
wrong("13.6", "forward registers a hook").edit("""
+    forward_hooks = list(module._forward_hooks.values())
     output = module.forward(*args)
-    for hook in list(module._forward_hooks.values()):
+    for hook in forward_hooks:
""")

# asks again at the end whether there are backward hooks
wrong("13.6", "removes the full backward hook", "what a BackwardHook watched").edit("""
-    return watch.watch_outputs(output) if watch else output
+    hooked = module._backward_hooks or module._backward_pre_hooks
+    return watch.watch_outputs(output) if hooked else output
""")

# a tuple for a Tensor
wrong("13.7", "AttributeError: 'tuple' object has no attribute 'data'").edit(
    {"        return self.grad_output[0]": "        return self.grad_output"}
)

# on_input passes on a tuple
wrong("13.7", "AttributeError: 'tuple' object has no attribute 'data'").edit(
    {"        return grad_input[0]": "        return grad_input[:1]"}
)

# no hook without a gradient
wrong("13.7", "on_output must call on_input(None), which must call the hooks", "not: Call on_input(None) then").edit("""
+        if gradient is None:
+            return None
         grad_input = (gradient,) + (None,) * (self.count - 1)
""")

# asks the input itself, which is right as long as gradients are recorded
right("13.7").edit({"watched.requires_grad": "args[0].requires_grad"})

# calls both from identities made by lambdas, and keeps None for an input that is not watched
right("13.7").edit("""
-        watched = identity(args[0], self.on_input)
-        self.count, self.sees_input = len(args), watched.requires_grad
-        return (watched, *args[1:])
+        first, *others = args
+        self.sees_input, self.count = first.requires_grad, 1 + len(others)
+        if self.sees_input:
+            first = identity(first, lambda gradient: self.on_input(gradient))
+        return (first, *others)
""")

# counts what is watched, not what there is
wrong("13.7", "grad_input has one entry").edit({"len(args), watched": "1, watched"})

# the hooks are taken out of the list when they are called
wrong("13.7", "hooks called").edit("""
+        self.pre_hooks, hooks = [], self.pre_hooks
         self.grad_output = (gradient,)
-        for hook in self.pre_hooks:
+        for hook in hooks:
""")

# watch_inputs returns a list
wrong("13.7", "watch_inputs returned a").edit({"return (watched, *args[1:])": "return [watched, *args[1:]]"})

# asks the input itself in the backward pass, when it may be frozen
wrong("13.7", "an input frozen after the call").edit("""
-        self.count, self.sees_input = len(args), watched.requires_grad
+        self.count, self.first = len(args), args[0]

-        if not self.sees_input:
+        if not self.first.requires_grad:
""")

# keeps on the module what belongs to one call
wrong("13.7", "m(x) * 10 + m(u, u)").edit("""
-        self.count, self.sees_input = len(args), watched.requires_grad
+        self.module.count, self.module.sees_input = len(args), watched.requires_grad

-        if not self.sees_input:
+        if not self.module.sees_input:

-        grad_input = (gradient,) + (None,) * (self.count - 1)
+        grad_input = (gradient,) + (None,) * (self.module.count - 1)
""")

# asks whether any input requires a gradient
wrong("13.7", "an untracked input, then a tracked one").edit(
    {"watched.requires_grad": 'any(getattr(each, "requires_grad", False) for each in args)'}
)
