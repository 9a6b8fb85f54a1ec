"""Modules: iteration, attributes, printing, containers, states, and what they refuse."""

# %%
import copy
from collections import OrderedDict


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.rest = nn.Sequential(nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1, bias=False))
        self.shared = self.first
        self.nothing = None
        self.register_buffer("scale", T([2.0]))
        self.register_buffer("passing", torch.zeros(1), persistent=False)
        self.register_parameter("left", None)

    def forward(self, x):
        return self.rest(self.first(x)) * self.scale


def build():
    """Return a Net with the same values in both libraries."""
    net = Net()
    with torch.no_grad():
        for i, parameter in enumerate(net.parameters()):
            parameter.copy_(T(np.linspace(-1.0, 1.5 + i, parameter.numel())).reshape(parameter.shape))
    return net


net = build()
data = T([[1.0, 2.0], [0.5, -3.0]])

# %% each
list(net.named_parameters())
list(net.named_parameters(prefix="p", recurse=False))
list(net.named_parameters(remove_duplicate=False))
list(net.parameters())
list(net.parameters(recurse=False))
list(net.named_buffers())
list(net.buffers(recurse=False))
list(net.named_modules())
list(net.named_modules(prefix="p"))
list(net.named_modules(remove_duplicate=False))
list(net.modules())
list(net.children())
list(net.named_children())
net.get_submodule("rest.2")
net.get_submodule("")
net.get_parameter("rest.2.weight")
net.get_buffer("scale")
net.get_buffer("rest.0.running_var")
[each for each in dir(net) if each in ("first", "scale", "left", "forward", "rest")]
[each for each in dir(net.rest) if each in ("0", "1")]
sum(p.numel() for p in net.parameters())

# %% each -> AttributeError
net.get_submodule("rest.9")
net.get_submodule("scale")
net.get_parameter("rest.2.scale")
net.get_parameter("scale")
net.get_buffer("rest.0.nothing")
net.get_buffer("first")

# %% each
repr(net)
repr(nn.Sequential())
repr(nn.Sequential(OrderedDict(a=nn.Linear(1, 2), b=nn.Sequential(nn.ReLU()))))
repr(nn.ModuleList())
repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Linear(1, 1), nn.Sequential(nn.ReLU())]))
repr(nn.Linear(2, 3, bias=False))
repr(nn.Conv2d(1, 2, 3))
repr(nn.Conv2d(1, 2, (3, 2), stride=2, padding=1, bias=False))
repr(nn.Conv2d(1, 2, 3, padding="valid"))
repr(nn.MaxPool2d(2))
repr(nn.MaxPool2d((2, 3), stride=1, padding=1))
repr(nn.AvgPool2d(2, 1))
[repr(each) for each in (nn.Sigmoid(), nn.Tanh(), nn.ReLU(), nn.ReLU(True), nn.Identity(3, a=1))]
[repr(each) for each in (nn.Softmax(1), nn.LogSoftmax(dim=-1), nn.Flatten(), nn.Dropout(0.25), nn.Dropout())]
[repr(each) for each in (nn.BatchNorm1d(3), nn.BatchNorm2d(3, affine=False, momentum=None))]
repr(nn.BatchNorm2d(3, track_running_stats=False, bias=False))
[repr(each) for each in (nn.LayerNorm(3), nn.LayerNorm((2, 3), elementwise_affine=False, eps=1e-3))]
[repr(each) for each in (nn.Embedding(3, 2), nn.Embedding(3, 2, padding_idx=-1))]
[repr(each) for each in (nn.MSELoss(), nn.CrossEntropyLoss(), nn.NLLLoss(), nn.BCEWithLogitsLoss())]
repr(nn.Parameter(T([1.0, 2.0])))
repr(nn.Parameter(T([1.0, 2.0]), requires_grad=False))


# %% the lines of extra_repr
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ReLU()

    def extra_repr(self):
        return "one\ntwo"


repr(Two()), repr(nn.Sequential(Two()))

# %% each -> AttributeError
net.first.nothing
delattr(net, "unknown")
nn.Parameter([1.0])

# %% each
net.nothing
net.left
nn.Parameter()
nn.Parameter(T([1]), requires_grad=False)
isinstance(nn.Parameter(T([1.0])), torch.Tensor)
type(nn.Parameter(T([1.0])) * 2).__name__, type(nn.Parameter(T([1.0])).data).__name__

# %% each -> TypeError
net.first = 3
net.first.weight = T([1.0])
net.first.weight = [1.0]
net.scale = 3
net.register_parameter(3, None)
net.register_parameter("w", T([1.0]))
net.register_parameter("w", 3)
net.register_parameter("w", nn.Parameter(T([1.0])) * 2)
net.register_buffer(3, None)
net.register_buffer("b", 3)
net.add_module(3, None)
net.add_module("m", 3)
nn.Module(3)
nn.Module(a=3)

# %% each -> KeyError
net.register_parameter("a.b", None)
net.register_parameter("", None)
net.register_parameter("first", None)
net.register_buffer("a.b", None)
net.register_buffer("", None)
net.register_buffer("first", None)
net.add_module("a.b", None)
net.add_module("", None)
net.add_module("scale", None)

# %% each -> NotImplementedError
nn.Module()(3)
nn.Module().forward()

# %% each -> RuntimeError
nn.Parameter(T([1]))

# %% an attribute is stored with others of its kind
for name, value in (
    ("first", nn.Parameter(T([1.0]))),
    ("first", None),
    ("scale", None),
    ("scale", T([3.0, 4.0])),
    ("scale", nn.Parameter(T([3.0]))),
    ("scale", nn.ReLU()),
    ("passing", T([3.0, 4.0])),
    ("plain", T([3.0])),
    ("nothing", nn.Parameter(T([1.0]))),
):
    net = build()
    setattr(net, name, value)
    kinds = [list(kind) for kind in (net._modules, net._parameters, net._buffers, net.state_dict())]
    show(getattr(net, name), name in net.__dict__, kinds)

# %% an attribute is deleted from the dict of its kind
for name in ("first", "scale", "passing", "left", "nothing"):
    delattr(net, name)
    show([list(kind) for kind in (net._modules, net._parameters, net._buffers, net._non_persistent_buffers_set)])

# %% a parameter is set to None, and a module added
net.first.weight = None
net.register_module("m", nn.ReLU())
net.first.weight, list(net.first.parameters()), net.m


# %% nothing can be added before Module.__init__
class Early(nn.Module):
    def __init__(self, value):
        self.early = value


class Late(nn.Module):
    def __init__(self, method):
        self.plain = 3
        getattr(self, method)("x", None)


tried(Early, nn.ReLU())
tried(Early, nn.Parameter(T([1.0])))
for method in ("register_buffer", "register_parameter", "add_module"):
    tried(lambda method=method: Late(method) and None)

# %% a parameter shares memory and version
x = T([1.0, 2.0])
p = nn.Parameter(x)
x.add_(1)
p, p._version, p.is_leaf, x.requires_grad, copy.deepcopy(p) is p

# %% copies are independent
first = net
second = copy.deepcopy(first)
first(torch.ones(2, 2)).sum().backward()
third = copy.deepcopy(first)
with torch.no_grad():
    first.first.weight.add_(1)
second.first is second.shared, second.first.weight, third.first.weight, third.first.weight.grad

# %% training and evaluation
for change in (lambda: net, net.eval, net.rest.train):
    show(change() in (net, net.rest), [m.training for m in net.modules()])
tried(net.train, 3)

# %% frozen
show(net.rest.requires_grad_(False) is net.rest)
net(torch.ones(2, 2) * T([[1.0], [3.0]])).sum().backward()
[(name, p.requires_grad, p.grad) for name, p in net.named_parameters()]

# %% gradients are reset
net(data).sum().backward()
kept = net.first.weight.grad
net.zero_grad(set_to_none=False)
seen = [p.grad for p in net.parameters()] + [kept is net.first.weight.grad]
net.zero_grad()
seen, [p.grad for p in net.parameters()]

# %% gradients with a graph are reset
weight = nn.Parameter(T([2.0]))
module = nn.Module()
net.weight = weight
(weight**3).sum().backward(create_graph=True)
before = weight.grad.grad_fn is None
net.zero_grad(set_to_none=False)
before, weight.grad, weight.grad.requires_grad

# %% apply visits all modules
net.apply(lambda m: show(type(m).__name__)) is net

# %% dtypes
net(data).sum().backward()
weight = net.first.weight
show(net.double() is net)
show(net.first.weight is weight, weight, weight.grad, net.scale, net.rest[0].num_batches_tracked)
net.to(torch.float32)
show(weight, weight.grad, net.float().scale, net.to("cpu").cpu() is net)
net.to(torch.zeros(1, dtype=torch.float64))
show(weight.dtype, net.to(dtype=torch.float32).scale)
tried(net.to, torch.int64)

# %% lists and sequences of modules
for kind in (lambda *modules: nn.ModuleList(modules), nn.Sequential):
    for change in (
        lambda row: (len(row), list(row), row[1], row[-1], list(row[1:]), list(row[:1].named_children())),
        lambda row: row.append(nn.ReLU()) is row,
        lambda row: row.insert(1, nn.Sigmoid()) and None,
        lambda row: row.extend([nn.Sigmoid(), nn.ReLU()]) is row,
        lambda row: row.pop(0),
        lambda row: row.__setitem__(0, nn.Sigmoid()),
        lambda row: row.__delitem__(0),
        lambda row: row.__delitem__(slice(0, 2)),
        lambda row: list((row + row).named_children()),
        lambda row: row.__iadd__(kind(nn.ReLU())) is row,  # noqa: B023 - called immediately
        lambda row: row[3],
        lambda row: row["a"],
        lambda row: row.__setitem__(7, nn.Sigmoid()),
        lambda row: row + 3,
    ):
        row = kind(nn.ReLU(), nn.Tanh(), nn.Linear(1, 1))
        tried(change, row)
        show(list(row.named_children()))

# %% each
list(nn.Sequential(nn.ReLU(), nn.Tanh()).insert(-1, nn.Sigmoid()).named_children())
nn.Sequential()(T([1.0]))
list(nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh())).state_dict())
list(nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))[1:].named_children())

# %% each -> TypeError
nn.ModuleList([3])
nn.ModuleList(3)
nn.Sequential(3)

# %% what containers refuse
tried(lambda: nn.Sequential(nn.ReLU()) + [nn.ReLU()])
tried(nn.Sequential().insert, 5, nn.ReLU())
tried(nn.ModuleList([nn.ReLU()]), T([1.0]))

# %% each
net.state_dict()
net.state_dict(prefix="p.")
net.state_dict(keep_vars=True)
[v.requires_grad for v in net.state_dict().values()]
net.state_dict(destination={}, prefix="x.")
net.load_state_dict(net.state_dict())
net.first.load_state_dict({}, strict=False)
tuple(net.first.load_state_dict({"z": T([1.0]), "rest.9.weight": T([1.0])}, strict=False))
net.load_state_dict({**net.state_dict(), "rest.0.num_batches_tracked": T([7])}), list(net.rest[0].buffers())
net.load_state_dict({k: v.double() * 2 for k, v in net.state_dict().items()}), net.first.weight

# %% each -> RuntimeError
tuple(net.load_state_dict({"first.weight": T([[1.0]] * 2), "z": T([1.0])}, strict=False))
net.first.load_state_dict({})
net.load_state_dict({**net.state_dict(), "extra": T([1.0]), "first.extra": T([1.0]), "no.such": T([1.0])})
net.load_state_dict({**net.state_dict(), "first.weight": T([1.0]), "first.bias": T([[1.0]])})
net.load_state_dict({**net.state_dict(), "first.weight": [1.0]})
net.load_state_dict({**net.state_dict(), "scale": 3})
net.load_state_dict(OrderedDict((k, v) for k, v in net.state_dict().items() if "running_mean" not in k))

# %% each -> TypeError
net.load_state_dict([1])
net.load_state_dict(3)

# %% loading copies values and counts as a change
a, b = net, build()
weight, version = b.first.weight, b.first.weight._version
state = {name: tensor + 1 for name, tensor in a.state_dict().items()}
b.load_state_dict(state)
state["first.weight"].zero_()
b.first.weight, b.first.weight is weight, b.first.weight._version - version, weight.requires_grad

# %% loading by assignment
a, b = net, build()
weight = b.first.weight
state = {name: tensor.double() for name, tensor in a.state_dict().items()}
b.load_state_dict(state, assign=True)
state["first.weight"].zero_()
state["scale"].zero_()
b.first.weight, b.first.weight is weight, b.scale, type(b.first.weight).__name__

# %% a state dict is not a copy
state = net.state_dict()
with torch.no_grad():
    net.first.bias.zero_()
state["first.bias"]

# %% a tensor that cannot be written to is refused -> RuntimeError
net = nn.Module()
net.register_buffer("spread", torch.ones(1).expand(3))
net.load_state_dict({"spread": torch.zeros(3)})

# %% each -> RuntimeError
nn.Linear(3, 2)(T([[1.0, 2.0]]))
nn.Linear(3, 2)(T([1.0, 2.0, 3.0], dtype=torch.float64))
nn.Conv2d(2, 3, 3)(torch.zeros(1, 1, 5, 5))
nn.Conv2d(2, 3, 3)(torch.zeros(1, 2, 2, 5))
nn.Conv2d(2, 3, 3)(torch.zeros(5, 5))
nn.MaxPool2d(4)(torch.zeros(1, 1, 3, 3))
nn.MaxPool2d(2, padding=2)(torch.zeros(1, 1, 3, 3))
nn.LayerNorm(3)(torch.zeros(2, 4))
nn.Embedding(3, 2)(T([1.0]))
nn.ReLU(inplace=True)(T([1.0], requires_grad=True))

# %% each -> ValueError
nn.Dropout(1.5)
nn.Dropout(-1)
nn.BatchNorm1d(3)(torch.zeros(3))
nn.BatchNorm1d(3)(torch.zeros(1, 3))
nn.BatchNorm2d(3)(torch.zeros(2, 3))
nn.CrossEntropyLoss()(torch.zeros(2, 3), T([0]))
nn.MSELoss(reduction="x")(T([1.0]), T([1.0]))
nn.BCEWithLogitsLoss()(T([1.0, 2.0]), T([1.0]))

# %% each
nn.BatchNorm1d(3).eval()(torch.ones(1, 3))
nn.MSELoss()(T([1.0, 2.0]), T([1.0]))
nn.BatchNorm1d(3, track_running_stats=False).reset_running_stats()
nn.Linear(2, 1, dtype=torch.float64, device="cpu").weight.dtype

# %% each -> IndexError
nn.Embedding(3, 2)(T([3]))
nn.CrossEntropyLoss()(torch.zeros(2, 3), T([0, 3]))

# %% each -> AssertionError
nn.Embedding(3, 2, padding_idx=3)
nn.Embedding(3, 2, padding_idx=-4)
nn.Embedding(3, 2, _weight=torch.zeros(2, 2))
nn.Embedding.from_pretrained(torch.zeros(2))

# %% embedding
seen = []
for padding in (None, 1, -1):
    table = nn.Embedding(4, 3, padding_idx=padding).double()
    seen.append((table.weight[1].sum() == 0, table.weight[3].sum() == 0, table.padding_idx))
    with torch.no_grad():
        table.weight.copy_(T(np.linspace(0.0, 1.0, 12).reshape(4, 3)))
    out = table(T([[1, 3, 1], [0, 0, 2]]))
    out.backward(T(np.linspace(1.0, 2.0, 18).reshape(2, 3, 3)))
    seen.append((out, table.weight.grad))
fixed = nn.Embedding.from_pretrained(T([[1.0, 2.0], [3.0, 4.0]]))
free = nn.Embedding.from_pretrained(fixed.weight, freeze=False)
seen, fixed.weight, fixed(T(1)), free.weight

# %% clipping
seen = []
for max_norm, norm_type in ((1.0, 2.0), (100.0, 2), (0.5, 1.0), (0.5, float("inf"))):
    ps = [nn.Parameter(torch.zeros(2, 2, dtype=torch.float64)) for _ in range(3)]
    ps[0].grad = T([[1.0, -2.0], [3.0, 0.5]], dtype=torch.float64)
    ps[2].grad = T([[0.0, 4.0], [1.0, 0.5]], dtype=torch.float64)
    kept = ps[0].grad
    total = nn.utils.clip_grad_norm_(ps, max_norm, norm_type)
    seen.append((total, [p.grad for p in ps], kept is ps[0].grad))
single = nn.Parameter(torch.zeros(2))
single.grad = T([3.0, 4.0])
seen.append((nn.utils.clip_grad_norm_(single, 1.0), single.grad))
seen.append(nn.utils.clip_grad_norm_([], 1.0))
seen.append(nn.utils.clip_grad_norm_((p for p in ()), 1.0))
seen.append(nn.utils.clip_grad_norm_((p for p in [single]), 1.0))
single.grad = T([float("inf"), 4.0])
seen.append((nn.utils.clip_grad_norm_(single, 1.0), single.grad))
seen

# %% clipping non-finite gradients is refused -> RuntimeError
single = nn.Parameter(torch.zeros(2))
single.grad = T([float("nan"), 4.0])
nn.utils.clip_grad_norm_(single, 1.0, error_if_nonfinite=True)

# %% each
nn.init.calculate_gain("linear")
nn.init.calculate_gain("conv2d")
nn.init.calculate_gain("sigmoid")
nn.init.calculate_gain("tanh")
nn.init.calculate_gain("relu")
nn.init.calculate_gain("leaky_relu")
nn.init.calculate_gain("selu"), nn.init.calculate_gain("leaky_relu", 0.3)
nn.init._calculate_fan_in_and_fan_out(torch.zeros(3, 2, 5, 4))
nn.init.kaiming_uniform_(torch.zeros(0, 2))
nn.init.kaiming_normal_(torch.zeros(0, 2))
nn.init.constant_(nn.Parameter(torch.zeros(2)), 3.0)
nn.init.ones_(torch.zeros(2)), nn.init.zeros_(torch.ones(2))
nn.init.eye_(torch.zeros(2, 3))
(lambda p: (nn.init.uniform_(p) is p, p.requires_grad, p.grad_fn))(nn.Parameter(torch.zeros(2)))

# %% each -> ValueError
nn.init.calculate_gain("leaky_relu", "x")
nn.init.calculate_gain("unknown")
nn.init._calculate_fan_in_and_fan_out(torch.zeros(3))
nn.init.kaiming_uniform_(torch.zeros(3, 2), mode="fan_x")
nn.init.eye_(torch.zeros(2))
