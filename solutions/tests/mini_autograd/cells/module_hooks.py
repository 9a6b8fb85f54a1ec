"""Module hooks: when they run, their arguments, and what they may replace."""


# %%
def fill(module):
    """Give the parameters values that are the same in both libraries."""
    module = module.double()
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            values = torch.linspace(-1.0, 1.5 + i, parameter.numel(), dtype=torch.float64)
            parameter.copy_(values.reshape(parameter.shape))
    return module


def network(*layers):
    return fill(nn.Sequential(*(layers or (nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 2)))))


def leaf(*values):
    return T(values or [0.5, -1.0], dtype=torch.float64, requires_grad=True)


x = leaf()
every = nn.modules.module  # where hooks on all modules are registered


def name(module):
    return type(module).__name__


class Options(nn.Module):
    """A module with keyword arguments."""

    def __init__(self, fails=False):
        super().__init__()
        self.fails = fails

    def forward(self, x, scale=1.0, shift=0.0):
        if self.fails:
            raise KeyError("inside")
        return x * scale + shift


class Several(nn.Module):
    """A module with several inputs and outputs; the outputs are nested if requested."""

    def __init__(self, nested=False):
        super().__init__()
        self.nested = nested

    def forward(self, a, k, b, c=None):
        results = a * 2, k, b * 3, a + b
        return {"out": results[0]} if self.nested == "dict" else list(results) if self.nested else results


class Picks(nn.Module):
    """A module that returns what `pick` returns."""

    def __init__(self, pick):
        super().__init__()
        self.forward = pick


net, module = network(), Options()


def always(fails, hook_fails=False, with_kwargs=False):
    """Call a module on which some hooks have `always_call`, and show what happens."""
    module = Options(fails)

    def hook(m, args, *rest):
        show("always", args, *rest)
        if hook_fails:
            raise ValueError("of the hook")
        return "replaced"

    module.register_forward_hook(lambda m, args, out: show("usual"))
    module.register_forward_hook(hook, always_call=True, with_kwargs=with_kwargs)
    module.register_forward_hook(lambda m, args, out: show("last", out), always_call=True)
    tried(lambda: module(leaf(), scale=2.0))


def watch(net):
    """Show the gradients of a network and of each of its layers."""
    for i, layer in enumerate([net, *net]):
        layer.register_full_backward_pre_hook(lambda m, go, i=i: show(i, "pre", name(m), go))
        layer.register_full_backward_hook(lambda m, gi, go, i=i: show(i, "post", name(m), gi, go))


def legacy(module, x):
    """Show what a legacy hook on `module` sees."""
    module.register_backward_hook(lambda m, gi, go: show(name(m), gi, go))
    out = module(x)
    out.backward(torch.linspace(1.0, 2.0, out.numel(), dtype=torch.float64).reshape(out.shape))
    show(x.grad)


# %% what forward hooks see, and their order
for i, layer in enumerate(net):
    layer.register_forward_pre_hook(lambda m, args, i=i: show(i, "pre", name(m), args))
    layer.register_forward_hook(lambda m, args, out, i=i: show(i, "post", name(m), args, out))
net.register_forward_pre_hook(lambda m, args: show("net pre", args))
net.register_forward_hook(lambda m, args, out: show("net post", args, out))
net(x)

# %% forward pre hook replaces args
net[0].register_forward_pre_hook(lambda m, args: args[0] * 2)
net[1].register_forward_pre_hook(lambda m, args: (args[0] + 1,))
net(x)

# %% forward pre hook with kwargs
module.register_forward_pre_hook(lambda m, args, kwargs: show(args, dict(kwargs)), with_kwargs=True)
module.register_forward_pre_hook(lambda m, args, kwargs: ((args[0] + 1,), {**kwargs, "shift": 5.0}), with_kwargs=True)
module.register_forward_pre_hook(lambda m, args: show(args))
module(x, scale=3.0)

# %% forward hooks with prepend and kwargs, and a replaced output
module.register_forward_hook(lambda m, args, out: show("second") or out * 2)
module.register_forward_hook(lambda m, args, out: show("first") or out + 1, prepend=True)
module.register_forward_hook(lambda m, args, kwargs, out: show(kwargs, out), with_kwargs=True)
module.register_forward_pre_hook(lambda m, args: show("pre 2"))
module.register_forward_pre_hook(lambda m, args: show("pre 1"), prepend=True)
module(x, scale=2.0)

# %% a forward hook that raises an error -> ZeroDivisionError
net[0].register_forward_hook(lambda m, args, out: 1 / 0)
net(x)

# %% a forward hook that returns None or a tuple
net.register_forward_hook(lambda m, args, out: (out, 1))
net(x)

# %% hooks that remove themselves
handles = []


def once(m, args, out):
    show("once")
    handles[0].remove()


handles.append(net.register_forward_hook(once))
net.register_forward_hook(lambda m, args, out: show("always"))
net(x), net(leaf())
len(net._forward_hooks)

# %% handles
first = net.register_forward_hook(lambda m, args, out: show(1), with_kwargs=False, always_call=True)
second = net.register_forward_pre_hook(lambda m, args, kwargs: show(2), with_kwargs=True)
third = net.register_full_backward_hook(lambda m, gi, go: show(3))
fourth = net.register_full_backward_pre_hook(lambda m, go: show(4))
net(x).sum().backward()
for handle in (first, second, third, fourth):
    handle.remove()
    handle.remove()
net(leaf()).sum().backward()
with net.register_forward_hook(lambda m, args, out: show(5)):
    net(leaf())
net(leaf())
kept = net._forward_hooks, net._forward_pre_hooks, net._backward_hooks, net._backward_pre_hooks
flags = net._forward_hooks_with_kwargs, net._forward_hooks_always_called, net._forward_pre_hooks_with_kwargs
[len(each) for each in (*kept, *flags)]

# %% what backward hooks see, and their order
watch(net)
out = net(x)
out.backward(T([1.0, -2.0], dtype=torch.float64))
x.grad, out, [p.grad for p in net.parameters()]

# %% backward hooks beside tensor and node hooks
watch(net)
x.register_hook(lambda g: show("x", g))
net[0].weight.register_hook(lambda g: show("weight", g))
net[0].weight.register_post_accumulate_grad_hook(lambda p: show("accumulated"))
net[1].register_forward_hook(lambda m, args, out: out.register_hook(lambda g: show("sigmoid", g)) and None)
net(x).sum().backward()

# %% backward hooks without an input gradient
watch(net)
net(x.detach()).sum().backward()

# %% a backward hook without an input gradient returns Nones
net[0].register_full_backward_hook(lambda m, gi, go: (None,))
net(x.detach()).sum().backward()
net[0].weight.grad

# %% a backward hook without an input gradient returns a value -> RuntimeError
net[0].register_full_backward_hook(lambda m, gi, go: (torch.zeros_like(x),))
net(x.detach()).sum().backward()

# %% backward hook replaces grad input
net[2].register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
net[2].register_full_backward_hook(lambda m, gi, go: show(gi))
net[1].register_full_backward_hook(lambda m, gi, go: show(go))
net(x).sum().backward()
x.grad, net[2].weight.grad

# %% backward pre hook replaces grad output
net[2].register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
net[2].register_full_backward_pre_hook(lambda m, go: show(go), prepend=True)
net[2].register_full_backward_pre_hook(lambda m, go: [go[0] + 1])
net[2].register_full_backward_hook(lambda m, gi, go: show(gi, go))
net(x).sum().backward()
x.grad, net[2].weight.grad

# %% a backward pre hook without an input gradient
net[0].register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
net(x.detach()).sum().backward()
net[0].weight.grad

# %% backward hook with an error -> ZeroDivisionError
net[1].register_full_backward_hook(lambda m, gi, go: 1 / 0)
net(x).sum().backward()

# %% several inputs and outputs
module = Several()
module.register_full_backward_pre_hook(lambda m, go: show("pre", go))
module.register_full_backward_hook(lambda m, gi, go: show("post", gi, go))
a, b = x, T([3.0, 4.0], dtype=torch.float64)
p, k, q, r = module(a, 7, b, c=leaf())
r.sum().backward()
p, k, q, r, a.grad

# %% several outputs, one of them replaced
module = Several()
module.register_full_backward_pre_hook(lambda m, go: tuple(None if g is None else g * 2 for g in go))
module.register_full_backward_hook(lambda m, gi, go: (gi[0] + 1, None, gi[2] * 5))
a, b = x, leaf(3.0, 4.0)
p, k, q, r = module(a, 7, b)
(p + q).sum().backward()
a.grad, b.grad

# %% output in a list
module = Several(True)
module.register_full_backward_hook(lambda m, gi, go: show(gi, go))
a, b = x, leaf(3.0, 4.0)
p, k, q, r = module(a, 7, b)
(p + q).sum().backward()
a.grad

# %% no gradient requested
watch(net)
with torch.no_grad():
    out = net(x)
out

# %% backward hooks twice
net[1].register_full_backward_hook(lambda m, gi, go: show(gi, go))
out = net(x).sum()
out.backward(retain_graph=True)
out.backward()

# %% backward hooks and double backward
net[1].register_full_backward_hook(lambda m, gi, go: show(gi[0].detach(), go[0].detach()))
(g,) = A.grad(net(x).sum(), x, create_graph=True)
g.sum().backward()
x.grad

# %% backward hooks and grad of inputs only
watch(net)
A.grad(net(x).sum(), x)

# %% one module called twice
layer = network(nn.Linear(2, 2))
layer[0].register_full_backward_hook(lambda m, gi, go: show(gi, go))
layer[0](layer[0](x)).sum().backward()

# %% the graph of a hooked module
net[1].register_full_backward_hook(lambda m, gi, go: None)
node, names = net(x).grad_fn, []
while node is not None:
    names.append(node.name())
    node = max((n for n, _ in node.next_functions if n is not None), key=lambda n: n._sequence_nr(), default=None)
[each for each in names if "Hook" in each or "Sigmoid" in each]

# %% activations kept by a hook
net, kept = network(nn.Linear(2, 2), nn.ReLU(inplace=True)), {}
net[0].register_forward_hook(lambda m, args, out: kept.update(detached=out.detach(), cloned=out.detach().clone()))
net(x)
list(kept.values())

# %% legacy without a gradient
net[0].register_backward_hook(lambda m, gi, go: show(gi, go))
with torch.no_grad():
    out = net(x)
out

# %% legacy with several outputs
module = Several()
module.register_backward_hook(lambda m, gi, go: show(gi, go))
p, k, q, r = module(x, leaf(), leaf())
(p + q + r).sum().backward()

# %% legacy with an output that is not a tensor
module = Several()
module.register_backward_hook(lambda m, gi, go: show(gi, go))
p, k, q, r = module(x, 7, leaf())
p

# %% legacy replaces
module = nn.Sigmoid()
module.register_backward_hook(lambda m, gi, go: (gi[0] * 100,))
module(x).sum().backward()
x.grad

# %% legacy returns too many -> RuntimeError
module = nn.Sigmoid()
module.register_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
module(x).sum().backward()

# %% legacy hook of a dead module -> RuntimeError
module = nn.Sigmoid()
module.register_backward_hook(lambda m, gi, go: None)
out = module(x).sum()
del module
out.backward()

# %% the order of global hooks
net = network(nn.Linear(2, 2), nn.Sigmoid())
net[0].register_forward_pre_hook(lambda m, args: show("own pre"))
net[0].register_forward_hook(lambda m, args, out: show("own post"))
net[0].register_full_backward_hook(lambda m, gi, go: show("own full", gi, go))
net[0].register_full_backward_pre_hook(lambda m, go: show("own full pre", go))
handles = [
    every.register_module_forward_pre_hook(lambda m, args: show("pre", name(m), args)),
    every.register_module_forward_hook(lambda m, args, out: show("post", name(m), args, out)),
    every.register_module_full_backward_pre_hook(lambda m, go: show("full pre", name(m), go)),
    every.register_module_full_backward_hook(lambda m, gi, go: show("full", name(m), gi, go)),
]
try:
    net(x).sum().backward()
finally:
    for handle in handles:
        handle.remove()
net(T([1.0, 2.0], dtype=torch.float64))

# %% global hooks replace
with (
    every.register_module_forward_pre_hook(lambda m, args: args[0] + 1),
    every.register_module_forward_hook(lambda m, args, out: out * 2),
    every.register_module_full_backward_hook(lambda m, gi, go: (gi[0] * 3,)),
):
    out = net(x)
    out.sum().backward()
out, x.grad

# %% global forward hook with kwargs
with every.register_module_forward_hook(lambda *given: show(given[1:]), with_kwargs=True):
    Options()(x, scale=2.0)

# %% some hooks are called even after an error
for fails in (False, True):
    for hook_fails in (False, True):
        for with_kwargs in (False, True):
            always(fails, hook_fails, with_kwargs)

# %% some hooks are called even after an error in a pre hook
module.register_forward_pre_hook(lambda m, args: 1 / 0)
module.register_forward_hook(lambda m, args, out: show(out), always_call=True)
try:
    module(x)
except ZeroDivisionError as error:
    show(str(error))


# %% global hooks can be called even after an error too -> KeyError
def hook(m, args, out):
    show(out)
    raise ValueError("of the hook")


with (
    every.register_module_forward_hook(lambda m, args, out: show(out) or "replaced", always_call=True),
    every.register_module_forward_hook(hook, always_call=True),
):
    Options(fails=True)(x)

# %% a forward pre hook with kwargs must return both args and kwargs, or None
for returned in (x, 3):
    with module.register_forward_pre_hook(lambda m, args, kwargs, returned=returned: returned, with_kwargs=True):
        tried(module, x)

# %% backward hooks must return as many gradients as they receive, in the same shapes, or None
for register, hook in (
    ("register_full_backward_hook", lambda m, gi, go: (gi[0], None)),
    ("register_full_backward_pre_hook", lambda m, go: (go[0], None)),
    ("register_full_backward_hook", lambda m, gi, go: gi[0]),
    ("register_full_backward_hook", lambda m, gi, go: (gi[0][:2],)),
    ("register_full_backward_hook", lambda m, gi, go: (3,)),
):
    for inputs in (x, leaf([0.5, -1.0])):
        with getattr(net[1], register)(hook):
            tried(lambda: net(inputs).sum().backward())  # noqa: B023 - called immediately

# %% neither a module with backward hooks nor the next module may work in place
for position, register in (
    (0, "register_full_backward_hook"),
    (1, "register_full_backward_hook"),
    (0, "register_full_backward_pre_hook"),
):
    net = network(nn.Linear(2, 2), nn.ReLU(inplace=True))
    getattr(net[position], register)(lambda *given: None)
    tried(net, x)

# %% the output of a module with backward hooks cannot be changed in place -> RuntimeError
net.register_full_backward_hook(lambda m, gi, go: None)
net(x).add_(1)

# %% a hooked module without tensors
module = Several()
module.register_full_backward_hook(lambda m, gi, go: None)
with torch.no_grad():
    show(module(1, 2, 3))

# %% a backward hook can be put first
net.register_full_backward_hook(lambda m, gi, go: show(2))
net.register_full_backward_hook(lambda m, gi, go: show(1), prepend=True)
net(x).sum().backward()

# %% each
legacy(network(nn.Linear(2, 2))[0], x)
legacy(network(nn.Linear(2, 3))[0], leaf([1.0, 2.0], [3.0, 5.0]))
legacy(network(nn.Linear(2, 3))[0], leaf([1.0, 2.0]) * 2)
legacy(nn.Sigmoid(), x * 2)
legacy(net, x)

# %% a legacy hook on a convolution of a constant, and on one of a leaf
picture = torch.linspace(0.0, 1.0, 16, dtype=torch.float64).reshape(1, 1, 4, 4)
legacy(network(nn.Conv2d(1, 2, 3))[0], picture)
legacy(network(nn.Conv2d(1, 2, 3))[0], picture.requires_grad_())

# %% a legacy hook on a module that takes or returns non-tensors, or whose output comes from several nodes
for module, args in (
    (Several(True), (x, leaf(), leaf())),
    (Several("dict"), (x, leaf(), leaf())),
    (Picks(lambda x, k: x * k), (x, 3.0)),
    (Picks(lambda x: (x * 2, x.detach())), (x,)),
    (Picks(lambda x: (x.detach(), x * 2)), (x,)),
    (Picks(lambda x: (x.exp().split(1)[1], x.detach())), (x,)),
):
    module.register_backward_hook(lambda m, gi, go: show(gi, go))
    out = module(*args)
    out = out["out"] if isinstance(out, dict) else out
    for each in [out] if isinstance(out, torch.Tensor) else out:
        if each.requires_grad:
            each.sum().backward(retain_graph=True)

# %% each -> RuntimeError
net.register_backward_hook(print) and net.register_full_backward_hook(print)
net.register_full_backward_hook(print) and net.register_backward_hook(print)
