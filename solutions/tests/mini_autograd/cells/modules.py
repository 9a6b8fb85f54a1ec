"""Modules: iteration, attributes, printing, sequences, and what they refuse."""


# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.rest = nn.Sequential(nn.Tanh(), nn.ReLU(), nn.Linear(3, 1, bias=False))
        self.shared = self.first
        self.nothing = None

    def forward(self, x):
        return self.rest(self.first(x))


def build():
    """Return a Net with the same values in both libraries."""
    net = Net()
    with torch.no_grad():
        for i, parameter in enumerate(net.parameters()):
            parameter.copy_(T(np.linspace(-1.0, 1.5 + i, parameter.numel())).reshape(parameter.shape))
    return net


net = build()

# %% each
list(net.named_parameters())
list(net.parameters())
list(net.named_modules())
list(net.named_modules(prefix="p"))
list(net.modules())
list(net.children())
list(net.named_children())
repr(net)
repr(nn.Sequential())
repr(nn.Linear(2, 3, bias=False))
[repr(each) for each in (nn.Sigmoid(), nn.Tanh(), nn.ReLU(), nn.MSELoss(), nn.CrossEntropyLoss())]
repr(nn.Parameter(T([1.0, 2.0]), requires_grad=False))
nn.Parameter(T([1]), requires_grad=False)
isinstance(nn.Parameter(T([1.0])), torch.Tensor)
type(nn.Parameter(T([1.0])) * 2).__name__, type(nn.Parameter(T([1.0])).data).__name__
(net.nothing, net.rest[0], net.rest[-1], len(net.rest), list(net.rest))
nn.Sequential()(T([1.0]))
nn.Linear(2, 1, dtype=torch.float64).weight.dtype
nn.MSELoss()(T([1.0, 2.0]), T([1.0]))

# %% each -> AttributeError
net.first.nothing
delattr(net, "unknown")

# %% a module needs a forward -> NotImplementedError
nn.Module()(3)

# %% integers cannot require a gradient -> RuntimeError
nn.Parameter(T([1]))

# %% a sequence knows its length -> IndexError
nn.Sequential()[0]

# %% each -> TypeError
nn.Sequential(3)


# %% nothing can be added before Module.__init__
class Early(nn.Module):
    def __init__(self, value):
        self.early = value


tried(Early, nn.ReLU())
tried(Early, nn.Parameter(T([1.0])))

# %% an attribute is stored with others of its kind, and deleted there
for name, value in (
    ("first", nn.Parameter(T([1.0]))),
    ("first", None),
    ("plain", T([3.0])),
    ("nothing", nn.Parameter(T([1.0]))),
):
    net = build()
    setattr(net, name, value)
    show(getattr(net, name), name in net.__dict__, list(net._modules), list(net._parameters))
    delattr(net, name)
    show(hasattr(net, name), list(net._modules), list(net._parameters))

# %% a parameter shares memory and version
x = T([1.0, 2.0])
p = nn.Parameter(x)
x.add_(1)
p, p._version, p.is_leaf, x.requires_grad

# %% training and evaluation
for change in (lambda: net, net.eval, net.rest.train):
    show(change() in (net, net.rest), [m.training for m in net.modules()])

# %% frozen parameters receive no gradient
show(net.rest.requires_grad_(False) is net.rest)
net(torch.ones(2, 2) * T([[1.0], [3.0]])).sum().backward()
show([(name, p.requires_grad, p.grad is None) for name, p in net.named_parameters()])
net.zero_grad()
[p.grad for p in net.parameters()]

# %% what is not a module or a parameter cannot replace one
for name in ("first", "rest"):
    try:
        setattr(net, name, 3)
    except TypeError:
        show(getattr(net, name))

# %% an optimizer moves parameters, but not those without a gradient
parameters = x, leaf()
optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.5, weight_decay=0.2)
for power in (1, 2):
    (x**power).sum().backward()
    optimizer.step()
    show([(p.detach().clone(), p.grad, p._version) for p in parameters])
optimizer.zero_grad()
x.grad

# %% a step changes a value that a graph needs -> RuntimeError
loss = (x**2).sum()
x.grad = torch.ones(2)
torch.optim.SGD([x]).step()
loss.backward()

# %% each -> ValueError
torch.optim.SGD([x], lr=-1)
torch.optim.SGD([x], momentum=-0.5)
torch.optim.SGD([x], weight_decay=-0.5)
torch.optim.SGD([])
torch.optim.SGD([x * 2])

# %% each -> TypeError
torch.optim.SGD(x)
torch.optim.SGD(3)
torch.optim.SGD([3])
