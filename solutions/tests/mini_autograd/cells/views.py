"""Views, in-place changes, indexing, creation, dtypes, copies."""

# %%
import copy
import pickle

# %% a view taken under no_grad is a leaf that requires no gradient but knows its base
with torch.no_grad():
    v = x[:1]
(v.requires_grad, v.is_leaf, v.grad_fn, v._is_view(), v._base is x)

# %% a view follows when its base starts to require a gradient
x = torch.zeros(2)
v = x[:1]
x.mul_(leaf())
(v.requires_grad, v.grad_fn, v.is_leaf, x.grad_fn)

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

# %% a constant changed by a tensor that requires a gradient joins the graph
y = T([1.0, 2.0])
y.mul_(x)
(y.grad_fn.next_functions, y.is_leaf)

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
s[[0]] = x[:1]
m = x * 1
m[m > 1] = 0.0
(r, r.next_functions, z.grad_fn, z.grad_fn.next_functions, w.grad_fn, u.grad_fn, s.grad_fn, m.grad_fn)

# %% assigning an element connects both sides
y = x * 1
y[0] = leaf()[1]
y.grad_fn.next_functions

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

# %% integers cannot be divided in place -> RuntimeError
y = T([1, 2])
y /= 2

# %% the gradient of a view taken before its base changes is correct
y = x * 1
a = y[0]
y.add_(1)
a.backward()
(x.grad, a)

# %% an element that was overwritten passes no gradient
y = x * 1
y[0] = 5
(y * y).sum().backward()
x.grad

# %% two changes through one view are applied in order
y = x * 1
v = y.view(2, 1)
v.relu_()
v.mul_(leaf()[:, None])
v.grad_fn

# %% data can be replaced, even by a different shape
x.data.add_(1)
x.data = T([5.0, 6.0, 7.0])
(x, x._version)

# %% functions that create tensors choose torch's dtypes
(
    torch.arange(3),
    torch.arange(0, 1, 0.25),
    torch.arange(1, 4.0),
    torch.full((2,), 1),
    torch.full((2,), 1.0),
    torch.eye(2),
    torch.zeros(2, 3).shape,
    torch.zeros((2, 3)).shape,
    torch.linspace(0, 1, 3),
)

# %% each -> ValueError
x[::-1]
x[::0]
T([[1, 2], [3]])
torch.cat([])
F.cross_entropy(torch.ones(2, 3), T([0]))
F.binary_cross_entropy_with_logits(torch.ones(2, 1), torch.ones(2))
F.dropout(x, 2.0)
F.batch_norm(torch.ones(1, 2), None, None, training=True)

# %% each -> IndexError
x[0.5]
T(1.0)[0]
x[T([True, False, True])]
x[[5]]
F.embedding(T([5]), torch.ones(2, 2))
F.cross_entropy(torch.ones(2, 3), T([0, 5]))

# %% each -> TypeError
list(T(1.0))
len(T(1.0))
x + "a"
x + [1]
torch.exp(3.0)
x(3)

# %% each
1.0 in x
list(x)
x == leaf()
x == None  # noqa: E711 - the comparison is the program
x == "a"
hash(x) != 0
copy.deepcopy(x)
x.shape
x.size()
x.size(0)
T(x)
torch.as_tensor([1.0])
torch.inf, torch.nan, torch.pi, torch.e
T([1, 2.0, True])
T([T(1.0), T(2.0)])
(torch.Size([2, 3]).numel(), torch.Size([2]) + (3,), x.shape == (2,), torch.Size([2, 3])[1:])
torch.where(x > 1)
torch.max(x, leaf() * 2)
x.max(0)
T([1.0]).var()
x.argmax()
T([1, 2]) / 2
T([True, True]).sum()
torch.ones(2, dtype=torch.int32).sum()
(T([1.0]) * T(1.0, dtype=torch.float64)).dtype
T([1]) * 1.5
T([1]).exp()
((x * T([1.0, 2.0]).double()).sum().backward(), x.grad)
[c.shape for c in torch.arange(5.0).chunk(3)]
F.mse_loss(torch.ones(2, 1), torch.ones(2))

# %% each -> RuntimeError
x.__iadd__(1)
copy.deepcopy(x * 1)
A.grad(T(1.0), x)
A.grad(x * 1, leaf(), grad_outputs=[T([1.0])])
x.requires_grad = 3
torch.zeros(0).max()
T([1, 2]).mean()
T([1, 2]) ** (-1)
-T([True])
T([True]) - T([True])
torch.ones(2, 2) @ torch.ones(2, 2).double()
x.clamp()
F.embedding(T([0.0]), torch.ones(2, 2))
F.conv2d(torch.ones(1, 2, 3, 3), torch.ones(1, 1, 2, 2))
F.conv2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3))
F.cross_entropy(torch.ones(2, 3), T([0.0, 1.0]))
F.linear(torch.ones(2, 3), torch.ones(4, 2))
F.max_pool2d(torch.ones(1, 1, 1, 1), 2)
F.layer_norm(x, (3,))
F.avg_pool2d(torch.ones(1, 1, 3, 3), 2, padding=2)

# %% data must be a tensor, and floating-point if it requires a gradient
for data in (3, T([1, 2])):
    tried(setattr, x, "data", data)

# %% a tensor can be pickled
tensors = [leaf([1.0, 2.0]), T([1, 2]), x * 2, nn.Parameter(torch.ones(2))]
for protocol in (2, 5):
    made = pickle.loads(pickle.dumps(tensors, protocol=protocol))
    show(made, [type(each) is type(tensor) for each, tensor in zip(made, tensors, strict=True)])

# %% copy.copy shares the memory
y = copy.copy(x)
y.detach().zero_()
y is x, x, y
