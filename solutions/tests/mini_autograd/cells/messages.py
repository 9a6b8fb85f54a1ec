"""Messages that learners meet, about tensors, backward, hooks and shapes."""

# %% a saved result that was changed in place is refused -> RuntimeError
y = x * 1
z = y.exp()
z.add_(1)
z.sum().backward()

# %% a saved input that was changed in place is refused -> RuntimeError
y = x * 1
z = y * y
y.add_(1)
z.sum().backward()

# %% a saved leaf that was changed under no_grad is refused -> RuntimeError
w = leaf()
z = x * w
with torch.no_grad():
    w.add_(1)
z.sum().backward()

# %% a view taken under no_grad cannot be changed in place outside it -> RuntimeError
with torch.no_grad():
    v = x[:1]
v.add_(1)

# %% a view of a non-leaf tensor, taken under no_grad, cannot be changed in place outside it -> RuntimeError
x = leaf() * 1
with torch.no_grad():
    v = x[:1]
v.mul_(leaf()[:1])

# %% requires_grad cannot be turned off on a non-leaf tensor -> RuntimeError
y = x * 1
y.requires_grad = False

# %% a second backward through freed values is refused -> RuntimeError
y = x * 3
y.sum().backward()
y.sum().backward()

# %% a freed saved value cannot be inspected -> RuntimeError
y = x * 3
y.sum().backward()
y.grad_fn._saved_other

# %% an unused input is refused -> RuntimeError
w = leaf()
y = x.sum()
A.grad(y, [w])

# %% grad returns None with allow_unused and zeros with materialize_grads
w = leaf()
y = x.sum()
(
    A.grad(y, [w], allow_unused=True),
    A.grad((x * 1).sum(), [w, x], materialize_grads=True),
)

# %% backward accumulates into a non-leaf tensor if it is among inputs
y = x * 2
z = (y * y).sum()
z.backward(inputs=[y])
(y.grad, x.grad)

# %% backward accumulates only into inputs
w = leaf()
(x * w).sum().backward(inputs=x)
(x.grad, w.grad)

# %% reading the grad of a non-leaf tensor warns
y = x * 1
y.grad

# %% grad must have the shape of its tensor -> RuntimeError
x.grad = T([1.0])

# %% grad must have the dtype of its tensor -> RuntimeError
x.grad = T([1.0, 2.0], dtype=torch.float64)

# %% grad must be a tensor -> TypeError
x.grad = 3

# %% a tensor cannot be its own grad -> RuntimeError
x.grad = x

# %% each -> RuntimeError
x.add_(1)
x[0].add_(1)
x.__setitem__(0, 1.0)
(x * 1).numpy()
bool(x)
T([1]).requires_grad_()
T([1], requires_grad=True)
(x * 1).requires_grad_(False)
T(1.0).backward()
(x * 1).backward()
(x * 1).backward(T([1.0]))
x.sum().backward(T([[1.0]]))
A.backward([x * 1, leaf() * 2], [T([1.0, 2.0])])
A.grad(x.sum(), [T([1.0])])
A.grad(x * 1, [leaf()])
A.grad(x.sum(), [])
x.sum().backward(inputs=[])
T([1.0]).register_hook(show)
T([1.0]).retain_grad()
(x * 1).register_post_accumulate_grad_hook(show)
T([1.0]).register_post_accumulate_grad_hook(show)
torch.zeros(1).expand(3).add_(1)
torch.zeros(1).add_(T([1.0, 2.0]))
T([1]).add_(1.5)
T([1.0, 2.0]) + T([1.0, 2.0, 3.0])
torch.ones(2, 3) @ torch.ones(2, 3)
torch.ones(2, 3) @ torch.ones(2)
torch.ones(2) @ torch.ones(3)
T(1.0) @ T([1.0])
torch.ones(2, 3).t().view(6)
torch.ones(2, 3).reshape(4)
torch.ones(2, 3).expand(4, 3)
T([1.0, 2.0]).item()
torch.ones(2, 3).reshape(-1, 4)

# %% each
float(x.sum())
(x * 1).requires_grad_(True)
(x * 1).backward(T([1.0, 2.0], dtype=torch.float64))
(x * 1).backward(T([1, 2]))
A.grad(x, x, T([3.0, 4.0]))
x.retain_grad()

# %% each -> ValueError
int(T([1.0, 2.0]))
A.grad(x.sum(), [leaf()], allow_unused=False, materialize_grads=True)

# %% each -> TypeError
(x * 1).backward([1.0, 2.0])

# %% each -> IndexError
torch.ones(2)[5]
torch.ones(2)[0, 0]
torch.ones(2).sum(3)
