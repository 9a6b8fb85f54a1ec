"""Answers to the exercises of chapter 17, as a class would write them from the statements alone."""

# the adapter is added to the input
wrong("17.1").edit(
    {"return self.linear(x) + self.scale * (x @ self.A.T @ self.B.T)": "return self.linear(x + x @ self.A.T)"}
)

# B has the shape of A transposed, which fits only by chance
wrong("17.1").edit({"A.new_zeros(linear.out_features, len(A))": "torch.zeros_like(A.T)"})

# A is frozen along with the layer
wrong("17.1").edit({"nn.Parameter(A.clone())": "nn.Parameter(A.clone(), requires_grad=False)"})

# the scale is applied to the layer's output as well
wrong("17.1").edit({"self.linear(x) + self.scale * (x": "self.scale * (self.linear(x) + x"})

# the merged weight is computed once, at the start
wrong("17.1", "merged weight with a trained B").edit("""
-        self.scale = scale
+        self.scale = scale
+        self.merged = (linear.weight + scale * self.B @ self.A).detach()

-        return (self.linear.weight + self.scale * self.B @ self.A).detach()
+        return self.merged
""")

# the factors are swapped
wrong("17.1").edit({"self.scale * self.B @ self.A).detach()": "self.scale * self.A.T @ self.B.T).detach()"})

# the first line is lost
wrong("17.1", "AttributeError: cannot assign module before Module.__init__() call").edit(
    {"        super().__init__()\n": ""}
)

# a copy
right("17.1").edit({".detach()": ".detach().clone()"})

# the layer's parameters one by one
right("17.1").edit("""
-        self.linear = linear.requires_grad_(False)
+        self.linear = linear
+        for parameter in linear.parameters():
+            parameter.requires_grad = False
""")

# registered by name, with double precision from the weight
right("17.1").edit("""
-        self.A = nn.Parameter(A.clone())
-        self.B = nn.Parameter(A.new_zeros(linear.out_features, len(A)))
+        self.register_parameter("A", nn.Parameter(A.detach().clone()))
+        self.register_parameter("B", nn.Parameter(torch.zeros(linear.weight.shape[0], A.shape[0]).to(A)))
""")

# einsum
right("17.1").edit({"(x @ self.A.T @ self.B.T)": 'torch.einsum("...i,ri,or->...o", x, self.A, self.B)'})

# each part begins at the layer after the last one's first
wrong("17.2").edit({"range(0, len(layers), length)": "range(0, len(layers))"})

# one layer too many
wrong("17.2").edit({"first + length]": "first + length + 1]"})

# only full parts
wrong("17.2").edit({"range(0, len(layers), length)": "range(0, len(layers) - length + 1, length)"})

# x requires a gradient, as libraries do it
wrong("17.2", "x requires a gradient").edit("""
+    x.requires_grad_()
     for first in range(0, len(layers), length):
""")

# the first part is not checkpointed
wrong("17.2").edit("""
-        x = checkpoint(nn.Sequential(*layers[first : first + length]), x, use_reentrant=False)
+        part = nn.Sequential(*layers[first : first + length])
+        x = checkpoint(part, x, use_reentrant=False) if first else part(x)
""")

# bound by functools
right("17.2").edit("""
-        x = checkpoint(nn.Sequential(*layers[first : first + length]), x, use_reentrant=False)
+        import functools
+
+        def run(part, h):
+            for layer in part:
+                h = layer(h)
+            return h
+
+        x = checkpoint(functools.partial(run, layers[first : first + length]), x, use_reentrant=False)
""")

# the layers are arguments
right("17.2").edit("""
-        x = checkpoint(nn.Sequential(*layers[first : first + length]), x, use_reentrant=False)
+        x = checkpoint(lambda h, *part: nn.Sequential(*part)(h), x, *layers[first : first + length], use_reentrant=False)
""")

# without the state of the random number generator, which nothing here needs
right("17.2").edit({"use_reentrant=False": "use_reentrant=False, preserve_rng_state=False"})

# the list is consumed, on a copy
right("17.2").edit("""
-    for first in range(0, len(layers), length):
-        x = checkpoint(nn.Sequential(*layers[first : first + length]), x, use_reentrant=False)
+    rest = list(layers)
+    while rest:
+        part, rest = rest[:length], rest[length:]
+        x = checkpoint(nn.Sequential(*part), x, use_reentrant=False)
""")

# multiplied once more
wrong("17.3").edit({"gradient /= scale": "gradient *= scale"})

# one bad gradient among good ones
wrong("17.3").edit({"not all(gradient.isfinite().all() for": "not any(gradient.isfinite().all() for"})

# one finite element is enough
wrong("17.3").edit({"gradient.isfinite().all() for": "gradient.isfinite().any() for"})

# only the loss is tested
wrong("17.3").edit({"not all(gradient.isfinite().all() for gradient in gradients)": "not loss.isfinite()"})

# the first group alone
wrong("17.3").edit(
    {'[p for group in optimizer.param_groups for p in group["params"]]': 'optimizer.param_groups[0]["params"]'}
)

# None has no isfinite
wrong("17.3", "AttributeError: 'NoneType' object has no attribute 'isfinite'").edit("""
-    gradients = [p.grad for p in parameters if p.grad is not None]
-    for gradient in gradients:
-        gradient /= scale
+    gradients = [p.grad for p in parameters]
+    for gradient in gradients:
+        if gradient is not None:
+            gradient /= scale
""")

# the sum is finite only if all elements are, unless they cancel
right("17.3").edit(
    {"gradient.isfinite().all() for gradient": "not (gradient.isnan() | gradient.isinf()).any() for gradient"}
)

# clipping raises an error if the norm is not finite
right("17.3").edit("""
-    if not all(gradient.isfinite().all() for gradient in gradients):
-        return scale / 2
-    nn.utils.clip_grad_norm_(parameters, limit)
+    try:
+        nn.utils.clip_grad_norm_(parameters, limit, error_if_nonfinite=True)
+    except RuntimeError:
+        return scale / 2
""")

# tested before dividing
right("17.3").edit("""
-    for gradient in gradients:
-        gradient /= scale
     if not all(gradient.isfinite().all() for gradient in gradients):
         return scale / 2
+    for gradient in gradients:
+        gradient /= scale
""")

# cleared by hand, after an overflow as well
right("17.3").edit("""
-    optimizer.zero_grad()
+    for p in parameters:
+        p.grad = None

-        return scale / 2
+        optimizer.zero_grad()
+        return 0.5 * scale
""")

# Python's min needs a value
wrong(
    "17.4", "Likely slip: a value used in python.", "RuntimeError: Tensor.item() cannot be called on meta tensors"
).edit({"factor = (limit / norm).clamp(max=1.0)": "factor = min(1.0, limit / norm)"})

# a number, and shapes alone where there are none
wrong("17.4", "Likely slip: a value used in python.").edit("""
-    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
-    factor = (limit / norm).clamp(max=1.0)
+    if gradients[0].is_meta:
+        return [torch.empty_like(gradient) for gradient in gradients]
+    norm = torch.stack([gradient.norm() for gradient in gradients]).norm().item()
+    factor = min(1.0, limit / norm) if norm else 1.0
""")

# clamped at the wrong end
wrong("17.4").edit({"clamp(max=1.0)": "clamp(min=1.0)"})

# the inverse
wrong("17.4").edit({"(limit / norm)": "(norm / limit)"})

# one tensor instead of a list
wrong("17.4").edit(
    {
        "[gradient * factor for gradient in gradients]": "torch.cat([(gradient * factor).reshape(-1) for gradient in gradients])"
    }
)

# torch's own norm
right("17.4").edit(
    {"torch.stack([gradient.norm() for gradient in gradients]).norm()": "nn.utils.get_total_norm(gradients)"}
)

# minimum of two tensors
right("17.4").edit({"(limit / norm).clamp(max=1.0)": "torch.minimum(torch.ones_like(norm), limit / norm)"})

# by where
right("17.4").edit({"(limit / norm).clamp(max=1.0)": "torch.where(norm > limit, limit / norm, torch.ones_like(norm))"})

# squares added up
right("17.4").edit(
    {
        "torch.stack([gradient.norm() for gradient in gradients]).norm()": "sum(gradient.square().sum() for gradient in gradients).sqrt()"
    }
)

# before the gradient has arrived
wrong("17.5").edit(
    {"register_post_accumulate_grad_hook(average)": "register_hook(lambda gradient: average(parameter))"}
)

# a tensor hook that returns nothing
wrong("17.5").edit("""
-    def average(parameter):
-        all_reduce(parameter.grad)
-        parameter.grad /= world_size
+    def average(gradient):
+        all_reduce(gradient.clone())

-    return [parameter.register_post_accumulate_grad_hook(average) for parameter in trained]
+    return [parameter.register_hook(average) for parameter in trained]
""")

# all_reduce returns nothing
wrong("17.5").edit(
    {
        "        all_reduce(parameter.grad)\n        parameter.grad /= world_size": "        parameter.grad = all_reduce(parameter.grad) / world_size"
    }
)

# one hook, for the last parameter
wrong("17.5").edit({"for parameter in trained]": "for parameter in trained[-1:]]"})

# frozen ones
wrong(
    "17.5",
    "Likely slip: frozen parameters too.",
    "RuntimeError: cannot register a hook on a tensor that doesn't require gradient",
).edit({"model.parameters() if parameter.requires_grad]": "model.parameters()]"})

# multiplied
wrong("17.5").edit({"parameter.grad /= world_size": "parameter.grad *= world_size"})

# by multiplication
right("17.5").edit({"parameter.grad /= world_size": "parameter.grad.mul_(1 / world_size)"})

# a new tensor
right("17.5").edit("""
-        all_reduce(parameter.grad)
-        parameter.grad /= world_size
+        total = parameter.grad.clone()
+        all_reduce(total)
+        parameter.grad = total / world_size
""")

# with a loop
right("17.5").edit("""
-    return [parameter.register_post_accumulate_grad_hook(average) for parameter in trained]
+    handles = []
+    for parameter in trained:
+        handles.append(parameter.register_post_accumulate_grad_hook(average))
+    return handles
""")

# divided first
right("17.5").edit("""
-        all_reduce(parameter.grad)
-        parameter.grad /= world_size
+        parameter.grad /= world_size
+        all_reduce(parameter.grad)
""")

# the factor upside down
wrong("17.6").edit({"losses.sum() * world_size / count": "losses.sum() * count / world_size"})

# asked for twice
wrong("17.6").edit("""
-    all_reduce(count)
+    all_reduce(count)
+    all_reduce(count)
""")

# an integer count
right("17.6").edit({"torch.tensor(float(len(losses)))": "torch.tensor(len(losses))"})

# a count of shape (1,)
right("17.6").edit({"torch.tensor(float(len(losses)))": "torch.tensor([float(len(losses))])", "/ count": "/ count[0]"})

# from the shape
right("17.6").edit(
    {
        "float(len(losses))": "losses.numel(), dtype=losses.dtype",
        "losses.sum() * world_size / count": "(losses / count * world_size).sum()",
    }
)

# a number
right("17.6").edit({"/ count": "/ count.item()"})

# a type is missing
wrong("17.7", "ValueError: infer_schema(func): Parameter x must have a type annotation.").edit(
    {"totals(x: torch.Tensor, group": "totals(x, group"}
)

# the gradient of the whole, to each
wrong("17.7").edit({"return v[group], None, None": "return v.sum().expand(len(group)), None, None"})

# two values for three arguments
wrong("17.7").edit({"return v[group], None, None": "return v[group], None"})

# x is saved instead
wrong("17.7").edit({"_, group, _ = inputs": "group, _, _ = inputs"})

# without values, a fake that asks for them
wrong("17.7").edit({"x.new_empty(groups)": "x.new_empty(int(group.max()) + 1)"})

# zeros of the right shape
right("17.7").edit({"x.new_empty(groups)": "torch.zeros(groups, dtype=x.dtype, device=x.device)"})

# the group as an attribute of ctx
right("17.7").edit(
    {
        "ctx.save_for_backward(group)": "ctx.group = group",
        "(group,) = ctx.saved_tensors\n        ": "",
        "v[group]": "v[ctx.group]",
    }
)

# by index_select
right("17.7").edit({"v[group]": "v.index_select(0, group)"})

# as a matrix product
right("17.7").edit({"return v[group], None, None": "return F.one_hot(group, len(v)).to(v) @ v, None, None"})
