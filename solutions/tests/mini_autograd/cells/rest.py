"""Modes, Jacobians, double backward, backward in backward."""

# %%
FF = A.functional
bad = type("Bad", (A.Function,), {"forward": lambda ctx, x: x * 2, "backward": lambda ctx, g: g * 2.002})

# %% fill_ with a constant tensor has torch's node
y = x * 1
y.fill_(T(3.0))
(y.grad_fn, y.grad_fn.next_functions)

# %% fill_ with a tensor that requires grad is connected to it
y = x * 1
y.fill_(T(3.0, requires_grad=True))
(y.grad_fn, y.grad_fn.next_functions)

# %% an element set from a tensor is connected to it
y = x * 1
y[0] = T(3.0, requires_grad=True)
(y.grad_fn, y.grad_fn.next_functions)

# %% elements can be set with lists and masks
y = x * 1
y[[0]] = T(3.0, requires_grad=True)
y[T([True, False])] = T([3.0])
(y.grad_fn, y.grad_fn.next_functions)

# %% several columns can be set to a number
y = torch.ones(2, 3, requires_grad=True) * 1
y[:, [0, 1]] = 5.0
(y.grad_fn, y.grad_fn.next_functions)

# %% rows, columns and everything can be set
y = torch.ones(2, 3, requires_grad=True) * 1
y[0, :] = T([1.0, 2.0, 3.0])
y[..., 1] = 0
y[:] = y * 2
(y.grad_fn, y)

# %% extra dimensions of size 1 are dropped from an assigned value
y = torch.ones(2, 3)
y[:] = T([[[1.0, 2.0, 3.0]]])
y

# %% integer tensors truncate an assigned value
y = T([1, 2])
y[0] = 2.7
y

# %% fill_ and copy_ truncate too
y = T([1, 2])
y.fill_(2.7)
y.copy_(T([1.5, 2.5]))
y

# %% masked_fill_ has torch's node
y = x * 1
y.masked_fill_(y > 1, 5.0)
(y, y.grad_fn)

# %% functions of one argument work in place, one after the other
y = x * 1
y.clamp_(max=1.0)
y.sigmoid_().exp_().neg_()
(y, y.grad_fn)

# %% each form of index returns torch's values and node
x = T([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
(
    x[:, 0],
    x[0, :1],
    x[None, 0],
    x[..., None],
    x[T([0, 1]), T([1, 0])],
    x[x > 2],
    x[[0, 0]],
    x[:, [1]],
    x[0][1],
    x[-1],
    x[1:, ..., 0],
    x[T(1)],
    x[T([True, False])],
    x[:, T([[0], [1]])],
    x[None],
    x[True],
)

# %% gradients of indexing add up where elements are repeated
[
    (a.sum().backward(), x.grad)[1]
    for x in [T([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)]
    for a in [x[T([0, 1, 0])] * T([[1.0, 2.0]]), x[:, [0, 0]] * 3, x[x > 2] * 7]
]


# %% modes decorate functions and generators, with and without parentheses
@torch.no_grad()
def g():
    return x * 2


@torch.no_grad
def h():
    return x * 2


@torch.set_grad_enabled(False)
def k():
    return x * 2


@torch.inference_mode()
def m():
    return x * 2


@torch.enable_grad()
def e():
    return x * 2


@torch.no_grad()
def gen():
    y = x * 2
    z = yield y.requires_grad
    yield (torch.is_grad_enabled(), z)


it = gen()
a = next(it)
b = torch.is_grad_enabled()
c = it.send(5)
with torch.no_grad():
    d = e().requires_grad
(g(), h(), k(), m(), a, b, c, d, torch.is_grad_enabled())

# %% modes nest, and are restored after an error
torch.set_grad_enabled(False)
a = torch.is_grad_enabled()
torch.set_grad_enabled(True)
with torch.set_grad_enabled(False):
    b = torch.is_grad_enabled()
try:
    with torch.no_grad():
        raise ValueError
except ValueError:
    pass
n = torch.no_grad()
with n:
    with torch.enable_grad():
        c = torch.is_grad_enabled()
    d = torch.is_grad_enabled()
(a, b, c, d, torch.is_grad_enabled(), torch.is_inference_mode_enabled())

# %% set_grad_enabled sets its mode again when a with block begins
mode = torch.set_grad_enabled(False)
torch.set_grad_enabled(True)
with mode:
    inside = torch.is_grad_enabled()
inside, torch.is_grad_enabled()

# %% a hook may run a backward pass
y, other = x * 2, (x * x * 3).sum()
y.register_hook(lambda g: show(g, A.grad(other, x), torch.is_grad_enabled()))
(y * y).sum().backward()
x.grad


# %% a hook may record a graph and run backward through it
def hook(g):
    w = leaf()
    with torch.enable_grad():
        (w * w * g).sum().backward()
    show(w.grad, torch.is_grad_enabled())


y = x * 2
y.register_hook(hook)
(y * y).sum().backward()
x.grad

# %% nothing is recorded in a hook, so its results have no backward pass -> RuntimeError
y = x * 2
y.register_hook(lambda g: (leaf() * g).sum().backward())
y.sum().backward()

# %% only the hooks on paths to the inputs run
w = leaf()
y, z = x * 2, w * 3
for name, each in (("x", x), ("y", y), ("z", z), ("w", w)):
    each.register_hook(lambda g, name=name: show(name, g))
(y * z).sum().backward(inputs=[w])
A.grad((x * 2 * z).sum(), [z])

# %% second derivatives are correct
y = x * 2
z = (y * y).sum()
(g,) = A.grad(z, x, create_graph=True)
(h,) = A.grad(g, x, T([1.0, 10.0]))
(g, h)

# %% backward starts from several roots
y = x * 2
A.backward([y.sum(), (y * y).sum()], [None, T(3.0)])
x.grad

# %% backward with create_graph warns and can be differentiated
y = x * x
y.sum().backward(create_graph=True)
g = x.grad
(g * g).sum().backward()
(x.grad, g is x.grad)

# %% the arithmetic functions have torch's nodes
(
    torch.add(x, leaf(), alpha=2),
    torch.sub(leaf(), 1.0),
    torch.mul(leaf(), 2),
    torch.div(leaf(), 2),
    torch.pow(leaf(), 2),
    torch.sum(leaf()),
    torch.matmul(leaf(), leaf()),
    torch.exp(leaf()),
)

# %% each
{x: 1} and 1
(x.max(0).indices, leaf().max(dim=0, keepdim=True))
T([0.5, 1.5, -2.5]).round()
torch.ones(2, 3).sum((-1, 0))
torch.ones(2, 3).sum(-1, keepdim=True)
torch.ones(2, 3).mean(dim=(0, 1))
(x.std(), leaf().var(unbiased=False), leaf().var(dim=0, correction=0))
(x**0, leaf() ** 0.5, 2 ** leaf(), leaf() ** leaf(), leaf() ** (-1), leaf().pow(3))
FF.jacobian(lambda x, y: (x * y, x.sum()), (leaf(), leaf()))
FF.jacobian(lambda x: x**3, leaf(), create_graph=True)
FF.hessian(lambda x: (x**3).sum(), leaf())
FF.hessian(lambda x, y: (x**3 * y).sum(), (leaf(), leaf()))
FF.vjp(lambda x: x**3, leaf(), T([1.0, 3.0]))
FF.jvp(lambda x: x**3, leaf(), T([1.0, 3.0]))
FF.hvp(lambda x: (x**3).sum(), leaf(), T([1.0, 3.0]))
FF.vhp(lambda x: (x**3).sum(), leaf(), T([1.0, 3.0]))
A.gradcheck(lambda x: x**3, leaf().detach().double().requires_grad_())
A.gradgradcheck(lambda x: x**3, leaf().detach().double().requires_grad_())
A.gradcheck(bad.apply, x.detach().double().requires_grad_())
A.gradcheck(bad.apply, x.detach().double().requires_grad_(), raise_exception=False)
x.tolist()
f"{x.sum():.2f}"

# %% each -> RuntimeError
FF.vjp(lambda x: x**3, leaf(), T([1.0]))
FF.vjp(lambda x: x**3, leaf())
FF.hvp(lambda x: x**3, leaf(), leaf())

# %% each -> TypeError
FF.jacobian(lambda x: 3, leaf())

# %% each -> ValueError
A.gradcheck(lambda x: x, T([1.0]))

# %% after an error in a hook, the mode is unchanged and the same saved values are freed as in torch
y = x * 2
handle = y.register_hook(lambda g: 1 / 0)
z = (y * y).sum()
try:
    z.backward()
except ZeroDivisionError as error:
    show(str(error), torch.is_grad_enabled())
handle.remove()
tried(z.backward)

# %% an assigned value must fit -> RuntimeError
torch.ones(2, 3)[0] = T([1.0, 2.0])
