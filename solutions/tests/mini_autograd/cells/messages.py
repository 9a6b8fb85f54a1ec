"""Messages that learners meet, about tensors, backward, hooks and shapes."""

# %% what was saved and changed in place is refused: a result, an input, a leaf
y, w = x * 1, leaf()
squares, product, result = y * y, x * w, y.exp()
y.add_(1)
result.add_(1)
with torch.no_grad():
    w.add_(1)
for each in (squares, product, result):
    tried(each.sum().backward)

# %% a second backward through freed values is refused, and they cannot be inspected
y = x * 3
y.sum().backward()
tried(y.sum().backward)
tried(getattr, y.grad_fn, "_saved_other")

# %% a view taken under no_grad cannot be changed in place outside it
for base, change in ((x, 1), (leaf() * 1, leaf()[:1])):
    with torch.no_grad():
        v = base[:1]
    tried(v.add_, change)

# %% an unused input is refused, is None with allow_unused, and zeros with materialize_grads
y, w = x.sum(), leaf()
tried(A.grad, y, [w])
A.grad(y, [w], allow_unused=True), A.grad((x * 1).sum(), [w, x], materialize_grads=True)

# %% backward accumulates only into inputs, even into a non-leaf tensor
y = x * 2
(y * y).sum().backward(inputs=y)
(y.grad, x.grad)

# %% what cannot be a tensor's grad
for grad in (T([1.0]), T([1.0, 2.0], dtype=torch.float64), 3, x):
    tried(setattr, x, "grad", grad)

# %% reading the grad of a non-leaf tensor warns
y = x * 1
y.grad

# %% each -> RuntimeError
x.__iadd__(1)
T([1, 2]).__itruediv__(2)
A.grad(x * 1, leaf(), grad_outputs=[T([1.0])])
x.requires_grad = 3
T([1, 2]).mean()
T([1, 2]) ** (-1)
F.linear(torch.ones(2, 3), torch.ones(4, 2))
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
A.backward([x * 1, leaf() * 2], [T([1.0, 2.0])])
A.grad(x.sum(), [T([1.0])])
A.grad(x.sum(), [3])
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
torch.ones(2, 3).expand(4, 3)
T([1.0, 2.0]).item()
torch.ones(2, 3).reshape(-1, 4)

# %% each
float(x.sum())
f"{x.sum():.2f}"
(x * 1).requires_grad_(True)
(x * 1).backward(T([1.0, 2.0], dtype=torch.float64))
(x * 1).backward(T([1, 2]))
A.grad(x, x, T([3.0, 4.0]))
x.retain_grad()

# %% each -> ValueError
float(T([1.0, 2.0]))
x[::-1]
x[::0]
F.cross_entropy(torch.ones(2, 3), T([0]))
A.grad(x.sum(), [leaf()], allow_unused=False, materialize_grads=True)

# %% each -> TypeError
list(T(1.0))
len(T(1.0))
x + "a"
torch.exp(3.0)
x(3)
(x * 1).backward([1.0, 2.0])

# %% each -> IndexError
T(1.0)[0]
F.cross_entropy(torch.ones(2, 3), T([0, 5]))
torch.ones(2)[5]
torch.ones(2)[0, 0]
torch.ones(2).sum(3)
