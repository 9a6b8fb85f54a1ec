"""Views, in-place changes, indexing, creation, dtypes, copies, printing."""

# %% a view taken under no_grad is a leaf that requires no gradient but knows its base
with torch.no_grad():
    v = x[:1]
(v.requires_grad, v.is_leaf, v.grad_fn, v._is_view(), v._base is x)

# %% a change through one view reaches the others
x = torch.zeros(2, 2)
v = x[:1]
w = x.t()
v.mul_(leaf())
(w.grad_fn, x.grad_fn, v.grad_fn, w[0].grad_fn, x.sum().grad_fn.next_functions)

# %% a detached tensor shares the version
y = x * 1
d = y.detach()
d.add_(1)
(y._version, d._version, d._is_view(), y)

# %% data is an alias with its own version
y = x * 1
d = y.data
d.add_(1)
(y._version, d._version)

# %% each in-place change has torch's node
y = x * 1
y.copy_(x)
r = y.grad_fn
z = x * 1
z.fill_(3.0)
w = x * 1
w.zero_()
u = x * 1
u[0] = 3.0
s = x * 1
s[:1] = x[:1]
(r, r.next_functions, z.grad_fn, z.grad_fn.next_functions, w.grad_fn, u.grad_fn, s.grad_fn)

# %% assigning an element connects both sides, and a constant joins the graph
for y in (x * 1, T([1.0, 2.0])):
    y[0] = leaf()[1]
    show(y.grad_fn.next_functions, y.is_leaf)

# %% a view that retains its gradient is taken again after its base changes
y = x * 1
v = y.view(2, 1)
v.retain_grad()
y.mul_(2)
v.grad_fn

# %% the augmented operators work in place
y = x * 1
y += 1
y -= leaf()
y *= 2
y /= 2
y **= 2
(y.grad_fn, y)

# %% data can be changed and replaced, even by a different shape, but not by integers if a gradient is required
x.data += 1
show(x, x._version)
x.data = T([5.0, 6.0, 7.0])
for wrong in (3, T([1, 2])):
    tried(setattr, x, "data", wrong)
(x, x._version)

# %% each
1.0 in x
x == leaf()
x == None  # noqa: E711 - the comparison is the program
x == "a"
hash(x) != 0
x.shape
x.size()
x.size(-1), x.dim()
repr((torch.Size([2, 3]), torch.Size([2]) + (3,), torch.Size([2, 3])[1:], torch.ones(2, 3).shape))
(torch.Size([2, 3]).numel(), x.shape == (2,))
T([1, 2.0, True])
T([T(1.0), T(2.0)])
T([1, 2]) / 2
T([True, True]).sum()
(T([1.0]) * T(1.0, dtype=torch.float64)).dtype
T([1]) * 1.5
T([1]).exp()
((x * T([1.0, 2.0]).double()).sum().backward(), x.grad)

# %% tensors print as in torch
printed = [
    [1.5, float("nan"), float("inf")], [1e10, 1.0], [1e-5, 1.0], [123456.0, 0.001], [-1.0, 2.0], [100.0, 2.5], 1e-8,
    [[1.0, 2.0]] * 3, [[[1.0]]], [], [[]], [0.0, 1000.0], [1, 1000000], [True, False], 3, 2.5, [float("nan")],
    list(range(1500)), [[0.5] * 50] * 40, [1e-4, 1000.0], [0.1] * 30,
]  # fmt: skip
for data in printed:
    for dtype in (None, torch.float64):
        x = T(data, dtype=dtype)
        show(repr(x))
        if x.dtype.is_floating_point:
            x.requires_grad_()
            show(repr(x), repr(x * 2), repr(x.reshape(-1)[:1]))
