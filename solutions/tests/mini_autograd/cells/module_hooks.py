"""Module hooks: when they run, their arguments, and what they may replace."""


# %%
def fill(module):
    """Give the parameters float64 values that are the same in both libraries."""
    for layer in module.modules():
        for i, (name, parameter) in enumerate(list(layer._parameters.items())):
            values = np.linspace(-1.0, 1.5 + i, parameter.numel()).reshape(parameter.shape)
            setattr(layer, name, nn.Parameter(T(values)))
    return module


def network(*layers):
    return fill(nn.Sequential(*(layers or (nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 2)))))


def leaf(*values):
    return T(values or [[0.5, -1.0]], dtype=torch.float64, requires_grad=True)


x = leaf()


def name(module):
    return type(module).__name__


class Several(nn.Module):
    """A module with several inputs and outputs; the outputs are a list if requested."""

    def __init__(self, as_list=False):
        super().__init__()
        self.as_list = as_list

    def forward(self, a, k, b, c=None):
        results = a * 2, k, b * 3, a + b
        return list(results) if self.as_list else results


net = network()


def watch(net):
    """Show the gradients of a network and of each of its layers."""
    for i, layer in enumerate([net, *net]):
        layer.register_full_backward_pre_hook(lambda m, go, i=i: show(i, "pre", name(m), go))
        layer.register_full_backward_hook(lambda m, gi, go, i=i: show(i, "post", name(m), gi, go))


# %% what forward hooks see, and their order
for i, layer in enumerate(net):
    layer.register_forward_pre_hook(lambda m, args, i=i: show(i, "pre", name(m), args))
    layer.register_forward_hook(lambda m, args, out, i=i: show(i, "post", name(m), args, out))
net.register_forward_pre_hook(lambda m, args: show("net pre", args))
net.register_forward_hook(lambda m, args, out: show("net post", args, out))
net(x)

# %% forward pre hooks replace args, and forward hooks the output
net[0].register_forward_pre_hook(lambda m, args: args[0] * 2)
net[1].register_forward_pre_hook(lambda m, args: (args[0] + 1,))
net.register_forward_hook(lambda m, args, out: (out, 1))
net(x)

# %% a hook may remove itself
handle = net.register_forward_hook(lambda m, args, out: show("once") or handle.remove())
net.register_forward_hook(lambda m, args, out: show("always"))
net(x), net(leaf())
len(net._forward_hooks)

# %% handles
kinds = "forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook"
handles = [getattr(net, f"register_{kind}")(lambda *given, kind=kind: show(kind)) for kind in kinds]
net(x).sum().backward()
for handle in handles:
    handle.remove()
    handle.remove()
net(leaf()).sum().backward()
with net.register_forward_hook(lambda m, args, out: show(5)):
    net(leaf())
net(leaf())
kept = net._forward_hooks, net._forward_pre_hooks, net._backward_hooks, net._backward_pre_hooks
[len(each) for each in kept]

# %% what backward hooks see, and their order
watch(net)
out = net(x)
out.backward(T([[1.0, -2.0]], dtype=torch.float64))
x.grad, out, [p.grad for p in net.parameters()]

# %% backward hooks beside tensor and node hooks
watch(net)
x.register_hook(lambda g: show("x", g))
net[0].weight.register_hook(lambda g: show("weight", g))
net[0].weight.register_post_accumulate_grad_hook(lambda p: show("accumulated"))
net[1].register_forward_hook(lambda m, args, out: out.register_hook(lambda g: show("sigmoid", g)) and None)
net(x).sum().backward()

# %% backward hooks without an input gradient, which may return Nones
watch(net)
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
net[2].register_full_backward_pre_hook(lambda m, go: show(go))
net[2].register_full_backward_pre_hook(lambda m, go: [go[0] + 1])
net[2].register_full_backward_hook(lambda m, gi, go: show(gi, go))
net(x).sum().backward()
x.grad, net[2].weight.grad

# %% a backward pre hook without an input gradient
net[0].register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
net(x.detach()).sum().backward()
net[0].weight.grad

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

# %% backward hooks in a second backward pass and in double backward
net[1].register_full_backward_hook(lambda m, gi, go: show(gi[0].detach(), go[0].detach()))
out = net(x).sum()
out.backward(retain_graph=True)
out.backward()
(g,) = A.grad(net(x).sum(), x, create_graph=True)
g.sum().backward()
x.grad

# %% one module called twice
layer = network(nn.Linear(2, 2))
layer[0].register_full_backward_hook(lambda m, gi, go: show(gi, go))
layer[0](layer[0](x)).sum().backward()

# %% backward hooks must return as many gradients as they receive, in the same shapes, or None
for register, hook in (
    ("register_full_backward_hook", lambda m, gi, go: (gi[0], None)),
    ("register_full_backward_pre_hook", lambda m, go: (go[0], None)),
    ("register_full_backward_hook", lambda m, gi, go: gi[0]),
    ("register_full_backward_hook", lambda m, gi, go: (gi[0][:, :2],)),
    ("register_full_backward_hook", lambda m, gi, go: (3,)),
):
    with getattr(net[1], register)(hook):
        tried(lambda: net(x).sum().backward())

# %% neither a module with backward hooks nor the next module may work in place
for position, register in (
    (0, "register_full_backward_hook"),
    (1, "register_full_backward_hook"),
    (0, "register_full_backward_pre_hook"),
):
    net = network(nn.Linear(2, 2), nn.ReLU())
    getattr(net[position], register)(lambda *given: None)
    tried(net, x)

# %% backward hooks do nothing without tensors or a recorded graph
module = Several()
module.register_full_backward_hook(lambda m, gi, go: show(gi))
with torch.no_grad():
    show(module(1, 2, 3), module(x, 7, x))
