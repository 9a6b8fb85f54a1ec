"""Rare forms of calls: their values, and the errors they raise."""

# %%
import warnings

FF = A.functional


def pad(*padding):
    return F.pad(torch.ones(2, 3), *padding)


def picture(dtype):
    return (5 - torch.arange(16).reshape(1, 1, 4, 4)).to(dtype)


# %% jvp with create_graph stays connected to the caller's graph
_, found = FF.jvp(lambda x: x**3, x, T([1.0, 3.0]), create_graph=True)
A.grad(found, x, T([1.0, 10.0]))


# %% the default dtype can be changed
torch.set_default_dtype(torch.float64)
try:
    show(T([1.5]), torch.ones(1))
finally:
    torch.set_default_dtype(torch.float32)

# %% an array can be made from a tensor in a different dtype
str(np.asarray(torch.ones(2), dtype=np.float64).dtype), [10, 20, 30][T(1)]

# %% a floating-point tensor is not a list index -> TypeError
[10, 20][T(1.0)]


# %% a string is refused as an index -> TypeError
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.ones(2)["a"]

# %% detach_ detaches a tensor in place
y = x * 2
same = y.detach_()
same is y, y.requires_grad, y.grad_fn, y.output_nr

# %% a gradient can be deleted
(x * 2).sum().backward()
del x.grad
x.grad

# %% a second recorded backward adds to the gradient out of place
for factor in (2, 3):
    (g,) = A.grad((x * x * factor).sum(), x, create_graph=True)
    g.sum().backward(create_graph=True)
x.grad.detach()

# %% after two backward passes with create_graph, the gradient is connected to the graph
(x**3).sum().backward(create_graph=True)
(x**3).sum().backward(create_graph=True)
x.grad

# %% a value that was not needed is saved as None
(x * T([3.0, 4.0])).grad_fn._saved_self

# %% a pack hook must not change its argument -> RuntimeError
with A.graph.saved_tensors_hooks(lambda x: x.mul_(2), lambda x: x):
    leaf().exp()

# %% an unpack hook must return a tensor -> TypeError
with A.graph.saved_tensors_hooks(lambda x: x, lambda x: 3):
    y = (x * x).sum()
y.backward()


# %% a decorated generator receives sent values and thrown errors, and returns its value
@torch.no_grad()
def steps():
    try:
        yield torch.is_grad_enabled()
    except KeyError:
        got = yield "caught", torch.is_grad_enabled()
    return got


running = steps()
seen = [next(running), torch.is_grad_enabled(), running.throw(KeyError("x"))]
try:
    running.send("last")
except StopIteration as stop:
    seen.append(stop.value)
seen


# %% inference_mode decorates without parentheses
@torch.inference_mode
def double(x):
    return x * 2


double(leaf()).requires_grad, torch.is_inference_mode_enabled()

# %% an inference tensor cannot be changed in place outside inference mode -> RuntimeError
with torch.inference_mode():
    x = torch.ones(2)
x.add_(1)

# %% a view changed in place passes no gradient on if none arrives
x = T([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x * 1
y[0].mul_(3)
first, second = y.unbind()
A.grad(first, x, T([1.0, 5.0])), second

# %% each -> RuntimeError
FF.vjp(lambda x: (x, x), T([1.0, 2.0]), (T([1.0, 2.0]),))
FF.vjp(lambda x: x, T([1.0]), (T([1.0]), T([1.0])))
FF.jvp(lambda x, y: x + y, (T([1.0]), T([1.0])), (T([1.0]),))
FF.jvp(lambda x: x, T([1.0, 2.0]))
FF.hvp(lambda x: x.sum(), T([1.0, 2.0]))
FF.vhp(lambda x: x.sum(), T([1.0, 2.0]), T([1.0]))
FF.hessian(lambda x: (x.sum(), x), T([1.0]))
FF.hessian(lambda x: x, T([1.0, 2.0]))
FF.jacobian(lambda x: x[:0] * 2, T([1.0, 2.0]))
F.conv2d(torch.ones(3, 3), torch.ones(1, 1, 2, 2))
F.max_pool2d(torch.ones(3, 3), 2)
T([4, 9]) ** -1
torch.ones(2).masked_fill(torch.ones(2), 0.0)
T([1, 2, 4]).std()
T([1, 2, 4]).var(0)
pad((1,))
pad((1,) * 6)
pad((-2, -2))
torch.ones(2, 2).repeat(2)
torch.ones(2, 2).repeat(2, -1)
torch.ones(3).split([1, 1])
torch.ones(3).split([-1, 4])
torch.ones(3).split(-1)
torch.ones(3).split(0)
torch.ones(4).view(-1, -1)
torch.ones(2, 2).flatten(1, 0)
torch.ones(2, 2).expand(2)
torch.ones(2, 2, 2).t()
torch.ones(2, 2).permute(0)
torch.cat([torch.ones(2), torch.ones(2, 2)])
torch.cat([torch.ones(2, 2), torch.ones(2, 3)])
torch.stack([])
torch.ones(4).chunk(0)
torch.ones(2).copy_(torch.ones(3, 2))
torch.ones(2).copy_(torch.ones(3))
F.linear(torch.ones(2, 3), torch.ones(4, 5), torch.ones(4))
F.linear(torch.ones(2, 3), torch.ones(4, 3, dtype=torch.float64), torch.ones(4))
F.linear(torch.ones(2, 3), torch.ones(4, 3, dtype=torch.float64), torch.ones(4, dtype=torch.float64))
F.linear(torch.ones(2, 3), torch.ones(4, 3, dtype=torch.float64))

# %% each -> TypeError
FF.jacobian(lambda x: x, (T([1.0]), 3))
FF.jacobian(lambda x: x, 3)
torch.from_numpy([1.0])
torch.set_default_dtype(torch.int64)
A.grad(x * 2, leaf(), 3.0)
(x * 2).backward(3.0)

# %% each
FF.jacobian(lambda x: T([1.0, 2.0]), T([1.0, 2.0, 3.0]))
FF.jvp(lambda x: (x * 3, x * x), T([2.0]))
FF.hvp(lambda x: (x**3).sum(), T([2.0]))
FF.hvp(lambda x, y: (x * x * y).sum(), (T([1.0, 2.0]), T([3.0, 4.0])), (T([1.0, 0.5]), T([2.0, -1.0])))
FF.vjp(lambda x: (x * 2, x * x), T([1.0, 3.0]), (T([1.0, -1.0]), T([2.0, 0.5])))
(lambda x: torch.as_tensor(x) is x)(torch.ones(2))
torch.as_tensor(torch.ones(2), dtype=torch.float64)
torch.full_like(torch.ones(2, 3), 7)
F.relu(T([-1.0, 2.0]), inplace=True)
F.one_hot(T([2, 0]))
F.one_hot(T([[2], [0]]), 4)
F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2), padding="valid")
T([4, 9]) ** 0.5
2 ** T([1, 3])
2.5 ** T([1, 3])
torch.where(T([True, False]), 1.0, 2.0)
(torch.allclose(torch.ones(2), T([1.0, 1.00001])), torch.allclose(torch.ones(2), T([1.0, 1.1])))
torch.ones(3, requires_grad=True).sum(dtype=torch.float64)
T([1.0, 2.0, 4.0]).var(False)
repr(T([[1.0, 2.0]]).max(1))
T(3.0, requires_grad=True).max(0)
(torch.is_tensor(torch.ones(1)), torch.is_tensor(1.0))
[F.max_pool2d(picture(dtype), 3, stride=2, padding=1) for dtype in (torch.int32, torch.int64)]
F.avg_pool2d(picture(torch.int64), 2)
torch.ones(2, 1).expand_as(torch.ones(2, 3))
torch.ones(2, 3).t().stride()
torch.ones(2)[[]]

# %% each -> ValueError
F.mse_loss(torch.ones(2), torch.ones(2), reduction="all")

# %% each -> IndexError
torch.ones(2).select(0, 5)
torch.ones(2)[T([0.5])]

# %% nodes can be printed, and are numbered in the order they are made
y = x * 2
z = y * 2
z.grad_fn._sequence_nr() > y.grad_fn._sequence_nr(), repr(y.grad_fn).split(" at ")[0]

# %% a 0-dimensional tensor of another dtype receives each gradient in its own dtype
forms = [T(2.0), T(2.0, dtype=torch.float64), T([1.0, 3.0]), T([1.0, 3.0], dtype=torch.float64), T(3)]
operations = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a**b,
    torch.maximum,
    lambda a, b: torch.where(T([True, False]), a, b),
]
for operation in operations:
    for first in forms:
        for second in forms:
            a, b = (each.clone().requires_grad_(each.is_floating_point()) for each in (first, second))
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

# %% the second derivative of a norm is nan at 0, and right beside it
x = T([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
for norms in (x.norm(dim=1), x.norm(dim=1, keepdim=True), x.norm(), x[0].norm()):
    (gradient,) = A.grad(norms.sum(), x, create_graph=True)
    show(gradient.detach(), A.grad((gradient * T([[1.0, 2.0], [3.0, 5.0]])).sum(), x)[0])
