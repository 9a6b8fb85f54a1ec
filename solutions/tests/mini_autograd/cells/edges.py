"""In-place changes at an index, modes, double backward, backward in backward."""

# %% rows, columns and everything can be set
y = torch.ones(2, 3, requires_grad=True) * 1
y[0, :] = T([1.0, 2.0, 3.0])
y[..., 1] = 0
y[:] = y * 2
(y.grad_fn, y)

# %% extra dimensions of size 1 are dropped from an assigned value, which must fit
y = torch.ones(2, 3)
y[:] = T([[[1.0, 2.0, 3.0]]])
show(y)
tried(y.__setitem__, 0, T([1.0, 2.0]))

# %% integer tensors truncate an assigned value
y = T([1, 2, 3])
y[0] = 2.7
show(y)
y.fill_(2.7)
show(y)
y.copy_(T([1.5, 2.5, 3.5]))
y

# %% functions of one argument work in place, one after the other
y = x * 1
y.sigmoid_().exp_().neg_()
(y, y.grad_fn)


# %% modes decorate functions, with and without parentheses
def double():
    return x * 2


with torch.no_grad():
    inside = torch.enable_grad()(double)()
decorated = torch.no_grad()(double), torch.no_grad(double), torch.set_grad_enabled(False)(double)
inside, [each() for each in decorated], torch.is_grad_enabled()

# %% modes nest, and are restored after an error
torch.set_grad_enabled(False)
a = torch.is_grad_enabled()
torch.set_grad_enabled(True)
mode = torch.set_grad_enabled(False)
torch.set_grad_enabled(True)
with mode:
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
(a, b, c, d, torch.is_grad_enabled())

# %% a hook may run a backward pass, even through a graph that it records; by default nothing is recorded there
other = (x * x * 3).sum()


def hook(g):
    w = leaf()
    with torch.enable_grad():
        (w * w * g).sum().backward()
    show(g, A.grad(other, x), w.grad, torch.is_grad_enabled())
    tried((leaf() * g).sum().backward)


y = x * 2
y.register_hook(hook)
(y * y).sum().backward()
x.grad

# %% only the hooks on paths to the inputs run
w = leaf()
y, z = x * 2, w * 3
for name, each in (("x", x), ("y", y), ("z", z), ("w", w)):
    each.register_hook(lambda g, name=name: show(name, g))
(y * z).sum().backward(inputs=[w])
A.grad((x * 2 * z).sum(), [z])

# %% backward starts from several roots
y = x * 2
A.backward([y.sum(), (y * y).sum()], [None, T(3.0)])
x.grad

# %% the arithmetic functions have torch's nodes
w = leaf(3.0, 4.0)
show(torch.add(x, w), torch.sub(x, 1.0), torch.mul(x, 2), torch.div(x, w), torch.pow(x, 2), torch.neg(x), x**0)
show(torch.sum(x), torch.mean(x), torch.matmul(x, w), torch.exp(x), 1 - x, 1 / x, x.view(2, 1).T)

# %% each
{x: 1} and 1
x.tolist()

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

# %% a second recorded backward adds to the gradient out of place
for factor in (2, 3):
    (g,) = A.grad((x * x * factor).sum(), x, create_graph=True)
    g.sum().backward(create_graph=True)
x.grad.detach()

# %% a view changed in place passes no gradient on if none arrives
x = T([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x * 1
y[0].mul_(3)
A.grad(y[0], x, T([1.0, 5.0])), y[1]

# %% a 0-dimensional tensor of another dtype receives each gradient in its own dtype
forms = [T(2.0), T(2.0, dtype=torch.float64), T([1.0, 3.0]), T([1.0, 3.0], dtype=torch.float64), T(3)]
for operation in (torch.add, torch.sub, torch.mul, torch.div):
    for first in forms:
        for second in forms:
            a, b = (each.clone().requires_grad_(each.dtype.is_floating_point) for each in (first, second))
            both = [each for each in (a, b) if each.requires_grad]
            if not both:
                continue
            found = A.grad(operation(a, b).sum(), both, create_graph=True)
            show(*(gradient.detach() for gradient in found))
            total = sum((gradient * gradient).sum() for gradient in found)
            if total.requires_grad:
                show(*A.grad(total, both, allow_unused=True))
            operation(a, b).sum().backward()
            show(*(each.grad for each in both))

# %% a 0-dimensional tensor of another dtype in an in-place operation receives its gradient in its own
for method in ("add_", "sub_", "mul_", "div_"):
    for kind, other in ((torch.float32, torch.float64), (torch.float64, torch.float32)):
        for numbers in (2.0, [1.0, 3.0]):
            a, b = T(numbers, dtype=kind, requires_grad=True), T(4.0, dtype=other, requires_grad=True)
            y = a * 1
            getattr(y, method)(b)
            y.sum().backward()
            show(a.grad, b.grad)
