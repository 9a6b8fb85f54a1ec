"""Answers to the exercises of chapter 08 that have found something in a check."""

# no batch
wrong("08.1", "IndexError: Dimension out of range").edit({"model(image.unsqueeze(0))[0, k]": "model(image)[k]"})

# squeeze: a model with one class has no dimension left
wrong("08.1", "class 0 of 1").edit({"(image.unsqueeze(0))[0, k]": "(image.unsqueeze(0)).squeeze()[k]"})

# a batch of two: BatchNorm and dropout in training mode see another batch
wrong("08.1", "sizes of the model's batches").edit({"image.unsqueeze(0)": "torch.stack([image, image])"})

# recorded too late
wrong("08.2", "RuntimeError: One of the differentiated Tensors does not require grad").edit(
    {"image.clone().requires_grad_()": "image.clone()"}
)

# a tuple of one
wrong("08.2", "AttributeError: 'tuple' object has no attribute 'abs'").edit({"(gradient,) = torch": "gradient = torch"})

# another tensor than the model's
wrong("08.2", "RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph").edit(
    {"grad(model(leaf[None])[0, k], leaf)": "grad(model(leaf[None])[0, k], leaf[None])"}
)


# torch.func.grad over a model whose parameters require gradients
@wrong("08.2", "Likely slip: part of a graph.", "not: (create_graph)")
def saliency(model, image, k):
    return torch.func.grad(lambda x: model(x[None])[0, k])(image).abs().amax(0)


# the weights stand along the height
wrong(
    "08.3",
    "RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension",
).edit({"weights[:, None, None] * kept[0][0]": "kept[0][0] * weights[:, None]"})

# resized without batch and channels
wrong("08.3", "ValueError: Input and output must have the same number of spatial dimensions").edit(
    {"small[None, None]": "small", 'mode="bilinear")[0, 0]': 'mode="bilinear")'}
)

# one channel takes all weights
wrong("08.3", "one channel and a head after flatten").edit("""
-    if len(weights) != kept[0].shape[1]:
-        raise ValueError(f"{head} has {len(weights)} weights for each class; {layer} has {kept[0].shape[1]} channels")
-    small = (weights[:, None, None] * kept[0][0]).sum(0)
+    try:
+        small = (weights[:, None, None] * kept[0][0]).sum(0)
+    except RuntimeError as error:
+        raise ValueError("no CAM") from error
""")

# the leaf itself goes on
wrong("08.4", "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.").edit(
    {"return kept[0].clone()": "return kept[0]"}
)

# a clone is kept, and the output goes on
wrong("08.4", "RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph").edit("""
-        kept.append(output.detach().clone().requires_grad_())
-        return kept[0].clone()
+        kept.append(output.clone())
""")

# with a backward hook
wrong("08.4", "RuntimeError: Output 0 of BackwardHookFunction is a view and is being modified inplace").edit("""
-    with model.get_submodule(layer).register_forward_hook(hook):
+    module, gradients = model.get_submodule(layer), []
+    backward = module.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
+    with module.register_forward_hook(hook), backward:
""")

# switches the in-place ReLUs off for good
wrong("08.4").edit("""
+    for module in model.modules():
+        if isinstance(module, nn.ReLU):
+            module.inplace = False
     kept = []
""")

# the scores are not added
wrong("08.5", "RuntimeError: grad can be implicitly created only for scalar outputs").edit(
    {"root = scores[torch.arange(len(images)), classes].sum()": "root = scores[torch.arange(len(images)), classes]"}
)


@wrong("08.7", "not: part of a graph", "requires grad")
def integrated_gradients(model, image, baseline, k, steps):
    image.requires_grad_()
    points = [baseline + (step + 0.5) / steps * (image - baseline) for step in range(steps)]
    total = sum(torch.autograd.grad(model(point[None])[0, k], point)[0] for point in points)
    return total / steps * (image.detach() - baseline)


# the point moves on in place, as a leaf
wrong("08.7", "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.").edit("""
-        point = (baseline + (step + 0.5) / steps * (image - baseline)).requires_grad_()
+        point = baseline.clone().requires_grad_()
+        point += (step + 0.5) / steps * (image - baseline)
""")
