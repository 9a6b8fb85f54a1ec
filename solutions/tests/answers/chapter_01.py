"""Answers to the exercises of chapter 01 that have found something in a check."""

wrong("01.1", "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn").edit(
    {"f(leaf).backward()": "f(x).backward()"}
)

# f is called on a tensor of shape (1,), although f takes shape ()
wrong("01.1", "shape (1,)").edit(
    {"x.clone()": "x.reshape(1).clone()", "f(leaf)": "f(leaf).sum()", "return leaf.grad": "return leaf.grad[0]"}
)

# nan_to_num: an infinite slope is not returned as received
wrong("01.1", "an infinite slope").edit({"return leaf.grad": "return torch.nan_to_num(leaf.grad)"})

# remembers the answer for each f
wrong("01.1").edit({"return leaf.grad": "return vars(slope).setdefault(f, leaf.grad)"})

wrong("01.2", "bool").edit({'"data": tensor.detach().clone(),': '"data": tensor.detach() * 1,'})

wrong("01.2", "AttributeError: 'NoneType' object has no attribute 'name'").edit(
    {"None if tensor.grad_fn is None else tensor.grad_fn.name()": "tensor.grad_fn.name()"}
)

# grad only if requires_grad: a leaf frozen later still has its gradient
wrong("01.2", "frozen leaf").edit({"if tensor.is_leaf else": "if tensor.is_leaf and tensor.requires_grad else"})

# dtype kept, but the list loses the shape of an empty tensor such as (0, 3)
wrong("01.2", "(0, 3)").edit({"tensor.detach().clone()": "torch.tensor(tensor.tolist(), dtype=tensor.dtype)"})

# goes through NumPy, which has no bfloat16
wrong("01.2", "bfloat16").edit({"tensor.detach().clone()": "torch.from_numpy(tensor.detach().numpy().copy())"})

# clamps p, so a saturated neuron gets a gradient that is not its own
wrong("01.3", "w = 3.0").edit({"p = torch.sigmoid(w * x + b)": "p = torch.sigmoid(w * x + b).clamp(1e-4, 1 - 1e-4)"})

# three steps back
wrong("01.4").edit("""
-    for leaf in reached[name]:
+    near, given_to = {name}, {name: inputs for name, how, inputs in lines if how == "computed"}
+    for _ in range(3):
+        near |= {each for one in near for each in given_to.get(one, ())}
+    for leaf in reached[name] & near:
         report[leaf]["grad"] = True
""")

wrong("01.4", "Your function returned None").edit({"    return report": "        return report"})

wrong("01.5", "leaves").edit("""
-    for leaf in leaves.values():
-        leaf.grad = None
+    for name, leaf in leaves.items():
+        leaves[name] = leaf.detach().clone().requires_grad_(leaf.requires_grad)
""")


# autograd.grad with an empty list of inputs raises, if no leaf requires a gradient
@wrong("01.5", "cannot be empty", "not: Likely slip")
def lost(loss_of, leaves):
    tracked = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    loss = loss_of()
    if not loss.requires_grad:
        return list(tracked)
    found = torch.autograd.grad(loss, list(tracked.values()), allow_unused=True)
    return [name for name, gradient in zip(tracked, found, strict=True) if gradient is None]


# a dict keyed by the leaf: of two names for one leaf only the last is left
wrong("01.5", "two names for one leaf").edit("""
-    for leaf in leaves.values():
+    names = {leaf: name for name, leaf in leaves.items() if leaf.requires_grad}
+    for leaf in names:

-    return [name for name, leaf in leaves.items() if leaf.requires_grad and leaf.grad is None]
+    return [name for leaf, name in names.items() if leaf.grad is None]
""")

# stops early when the loss rises: not every batch is used
wrong("01.6", "zeros between").edit("""
         loss = loss_fn(outputs, targets)
+        if losses and loss.item() > 10 * losses[0]:
+            break
""")
