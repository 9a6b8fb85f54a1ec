"""Tensors detached after saving, leaves that changed, nodes given new shapes, and what is freed."""

# %% a leaf that no longer requires a gradient receives none
y = x * 2
x.requires_grad_(False)
y.sum().backward()
x.grad

# %% a leaf that has become the result of an operation is refused -> RuntimeError
y = x * 2
x.requires_grad_(False)
x.mul_(leaf())
y.sum().backward()

# %% a post-accumulate hook may return its argument
x.register_post_accumulate_grad_hook(lambda tensor: tensor)
x.sum().backward()
x, x.grad

# %% a second backward runs through a view whose base was changed
y = x + 0
view = y[:1]
y.add_(1)
view.sum().backward()
view.sum().backward()
x.grad

# %% a saved constant, such as a target, is freed too: a second backward needs a retained graph
x = leaf([1.0, 2.0], [3.0, 4.0])
y = F.nll_loss(x, T([1, 0]))
y.backward(retain_graph=True)
y.backward()
tried(y.backward)
y, x.grad

# %% a weight may change after the forward pass if only its own gradient is needed
w, b = leaf([3.0, 4.0], [5.0, 7.0]), leaf(0.0, 0.0)
y = F.linear(T([[1.0, 2.0]]), w, b)
with torch.no_grad():
    w.add_(1)
y.backward(T([[2.0, 30.0]]))
w.grad, b.grad
