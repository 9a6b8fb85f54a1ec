"""Inference mode, and hooks on saved tensors."""

# %%
with torch.inference_mode():
    it = T([1.0, 2.0])
    it2 = it * 2

# %% outside, results of an inference tensor are normal tensors, but its views are not
(
    it,
    it.is_inference(),
    it2.clone().is_inference(),
    it.detach().is_inference(),
    it[0].is_inference(),
    (it + 1).is_inference(),
)

# %% results of inference mode cannot join a graph, but views of normal tensors can
y = x * 2
with torch.inference_mode():
    z = y * 2
    w = y[:1]
    r = (z.is_inference(), z.requires_grad, w.is_inference(), T([1.0], requires_grad=True))
(r, w * leaf()[:1])

# %% a normal tensor may be changed in inference mode
y = x * 2
with torch.inference_mode():
    y.add_(1)
(y, y._version, y.grad_fn)


# %% enable_grad has no effect in inference mode
with torch.inference_mode(), torch.enable_grad():
    show(x * 2, torch.is_grad_enabled())

# %% saved-tensor hooks pack each saved tensor and unpack it when needed
ev = []
with A.graph.saved_tensors_hooks(lambda t: (ev.append(("p", t.clone())), t)[1], lambda t: (ev.append("u"), t)[1]):
    y = (x * x).exp() * 3
y.sum().backward()
(ev, x.grad)

# %% each -> RuntimeError
x * it
it.requires_grad_()
it._version

# %% each
x + it
