"""Module hooks: when they run, their arguments, and what they may replace; the same code runs on both libraries."""
# ruff: noqa: F841, RUF059 - scenarios leave results unused on purpose

import gc
import weakref

import pytest
import torch as real_torch
from both import Scenarios, assert_same

import mini_autograd as mini

scenario = SCENARIOS = Scenarios()


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_as_torch(name):
    assert_same(*SCENARIOS[name])


def fill(torch, module):
    """Give the parameters values that are the same in both libraries."""
    module = module.double()
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            values = torch.linspace(-1.0, 1.5 + i, parameter.numel(), dtype=torch.float64)
            parameter.copy_(values.reshape(parameter.shape))
    return module


def network(torch, *layers):
    nn = torch.nn
    return fill(torch, nn.Sequential(*(layers or (nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 2)))))


def leaf(torch, *values):
    return torch.tensor(values or [0.5, -1.0], dtype=torch.float64, requires_grad=True)


def void(value):
    """Return None: what a forward hook returns replaces the output."""


def name(module):
    return type(module).__name__


def plus_global(torch):
    return torch.nn.modules.module


# ----- forward -----


@scenario
def forward_hooks_see_and_order(torch):
    net, log = network(torch), []
    for i, layer in enumerate(net):
        layer.register_forward_pre_hook(lambda m, args, i=i: log.append((i, "pre", name(m), args)))
        layer.register_forward_hook(lambda m, args, out, i=i: log.append((i, "post", name(m), args, out)))
    net.register_forward_pre_hook(lambda m, args: log.append(("net pre", args)))
    net.register_forward_hook(lambda m, args, out: log.append(("net post", args, out)))
    return net(leaf(torch)), log


@scenario
def forward_pre_hook_replaces_args(torch):
    net = network(torch)
    net[0].register_forward_pre_hook(lambda m, args: args[0] * 2)
    net[1].register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    return net(leaf(torch))


class _Options:
    """A module with keyword arguments, made for either library."""

    def __new__(cls, torch, fails=False):
        class Options(torch.nn.Module):
            def forward(self, x, scale=1.0, shift=0.0):
                if fails:
                    raise KeyError("inside")
                return x * scale + shift

        return Options()


@scenario
def forward_pre_hook_with_kwargs(torch):
    module, log = _Options(torch), []
    module.register_forward_pre_hook(lambda m, args, kwargs: log.append((args, dict(kwargs))), with_kwargs=True)
    module.register_forward_pre_hook(
        lambda m, args, kwargs: ((args[0] + 1,), {**kwargs, "shift": 5.0}), with_kwargs=True
    )
    module.register_forward_pre_hook(lambda m, args: log.append(args))
    return module(leaf(torch), scale=3.0), log


@scenario(raises=RuntimeError)
def forward_pre_hook_with_kwargs_returns_wrong(torch):
    module = _Options(torch)
    module.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    return module(leaf(torch))


@scenario(raises=RuntimeError)
def forward_pre_hook_with_kwargs_returns_number(torch):
    module = _Options(torch)
    module.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    return module(leaf(torch))


@scenario
def forward_hooks_prepend_kwargs_and_replace(torch):
    module, log = _Options(torch), []
    module.register_forward_hook(lambda m, args, out: log.append("second") or out * 2)
    module.register_forward_hook(lambda m, args, out: log.append("first") or out + 1, prepend=True)
    module.register_forward_hook(lambda m, args, kwargs, out: log.append((kwargs, out)), with_kwargs=True)
    module.register_forward_pre_hook(lambda m, args: log.append("pre 2"))
    module.register_forward_pre_hook(lambda m, args: log.append("pre 1"), prepend=True)
    return module(leaf(torch), scale=2.0), log


@scenario(raises=ZeroDivisionError)
def forward_hook_with_an_error_of_its_own(torch):
    net = network(torch)
    net[0].register_forward_hook(lambda m, args, out: 1 / 0)
    return net(leaf(torch))


def _always(torch, fails, hook_fails=False, with_kwargs=False):
    module, log = _Options(torch, fails), []

    def hook(m, args, *rest):
        log.append(("always", args, *rest))
        if hook_fails:
            raise ValueError("of the hook")
        return "replaced"

    module.register_forward_hook(lambda m, args, out: log.append("usual"))
    module.register_forward_hook(hook, always_call=True, with_kwargs=with_kwargs)
    module.register_forward_hook(lambda m, args, out: log.append(("last", out)), always_call=True)
    try:
        log.append(("result", module(leaf(torch), scale=2.0)))
    except Exception as error:
        log.append((type(error).__name__, str(error)))
    return log


@scenario
def always_call(torch):
    return [_always(torch, f, h, k) for f in (False, True) for h in (False, True) for k in (False, True)]


@scenario
def always_call_after_an_error_in_a_pre_hook(torch):
    module, log = _Options(torch), []
    module.register_forward_pre_hook(lambda m, args: 1 / 0)
    module.register_forward_hook(lambda m, args, out: log.append(out), always_call=True)
    try:
        module(leaf(torch))
    except ZeroDivisionError as error:
        log.append(str(error))
    return log


@scenario
def a_forward_hook_that_returns_none_or_a_tuple(torch):
    net = network(torch)
    net.register_forward_hook(lambda m, args, out: (out, 1))
    return net(leaf(torch))


@scenario
def hooks_that_remove_themselves(torch):
    net, log = network(torch), []
    handles = []

    def once(m, args, out):
        log.append("once")
        handles[0].remove()

    handles.append(net.register_forward_hook(once))
    net.register_forward_hook(lambda m, args, out: log.append("always"))
    net(leaf(torch)), net(leaf(torch))
    return log, len(net._forward_hooks)


@scenario
def handles(torch):
    net, log = network(torch), []
    first = net.register_forward_hook(lambda m, args, out: log.append(1), with_kwargs=False, always_call=True)
    second = net.register_forward_pre_hook(lambda m, args, kwargs: log.append(2), with_kwargs=True)
    third = net.register_full_backward_hook(lambda m, gi, go: log.append(3))
    fourth = net.register_full_backward_pre_hook(lambda m, go: log.append(4))
    net(leaf(torch)).sum().backward()
    for handle in (first, second, third, fourth):
        handle.remove()
        handle.remove()
    net(leaf(torch)).sum().backward()
    with net.register_forward_hook(lambda m, args, out: log.append(5)):
        net(leaf(torch))
    net(leaf(torch))
    kept = [getattr(net, kind) for kind in (
        "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
        "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs",
    )]  # fmt: skip
    return log, [len(each) for each in kept]


# ----- full backward -----


def _watch(net, log):
    for i, layer in enumerate([net, *net]):
        layer.register_full_backward_pre_hook(lambda m, go, i=i: log.append((i, "pre", name(m), go)))
        layer.register_full_backward_hook(lambda m, gi, go, i=i: log.append((i, "post", name(m), gi, go)))


@scenario
def backward_hooks_see_and_order(torch):
    net, log = network(torch), []
    _watch(net, log)
    x = leaf(torch)
    out = net(x)
    out.backward(torch.tensor([1.0, -2.0], dtype=torch.float64))
    return log, x.grad, out, [p.grad for p in net.parameters()]


@scenario
def backward_hooks_beside_tensor_and_node_hooks(torch):
    net, log = network(torch), []
    _watch(net, log)
    x = leaf(torch)
    x.register_hook(lambda g: log.append(("x", g)))
    net[0].weight.register_hook(lambda g: log.append(("weight", g)))
    net[0].weight.register_post_accumulate_grad_hook(lambda p: log.append("accumulated"))
    net[1].register_forward_hook(lambda m, args, out: void(out.register_hook(lambda g: log.append(("sigmoid", g)))))
    net(x).sum().backward()
    return log


@scenario
def backward_hooks_without_input_gradient(torch):
    net, log = network(torch), []
    _watch(net, log)
    net(torch.tensor([[0.5, -1.0]], dtype=torch.float64)).sum().backward()
    return log


@scenario
def backward_hook_without_input_gradient_returns_nones(torch):
    net = network(torch)
    net[0].register_full_backward_hook(lambda m, gi, go: (None,))
    net(torch.tensor([0.5, -1.0], dtype=torch.float64)).sum().backward()
    return net[0].weight.grad


@scenario(raises=RuntimeError)
def backward_hook_without_input_gradient_returns_something(torch):
    net = network(torch)
    net[0].register_full_backward_hook(lambda m, gi, go: (torch.zeros(2, dtype=torch.float64),))
    net(torch.tensor([0.5, -1.0], dtype=torch.float64)).sum().backward()


@scenario
def backward_hook_replaces_grad_input(torch):
    net, log = network(torch), []
    net[2].register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    net[2].register_full_backward_hook(lambda m, gi, go: log.append(gi))
    net[1].register_full_backward_hook(lambda m, gi, go: log.append(go))
    x = leaf(torch)
    net(x).sum().backward()
    return log, x.grad, net[2].weight.grad


@scenario
def backward_pre_hook_replaces_grad_output(torch):
    net, log = network(torch), []
    net[2].register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
    net[2].register_full_backward_pre_hook(lambda m, go: log.append(go), prepend=True)
    net[2].register_full_backward_pre_hook(lambda m, go: [go[0] + 1])
    net[2].register_full_backward_hook(lambda m, gi, go: log.append((gi, go)))
    x = leaf(torch)
    net(x).sum().backward()
    return log, x.grad, net[2].weight.grad


@scenario
def backward_pre_hook_without_input_gradient(torch):
    net, log = network(torch), []
    net[0].register_full_backward_pre_hook(lambda m, go: (go[0] * 10,))
    net(torch.tensor([0.5, -1.0], dtype=torch.float64)).sum().backward()
    return net[0].weight.grad


@scenario
def backward_hooks_prepend(torch):
    net, log = network(torch), []
    net.register_full_backward_hook(lambda m, gi, go: log.append(2))
    net.register_full_backward_hook(lambda m, gi, go: log.append(1), prepend=True)
    net(leaf(torch)).sum().backward()
    return log


@scenario(raises=RuntimeError)
def backward_hook_returns_too_many(torch):
    net = network(torch)
    net[1].register_full_backward_hook(lambda m, gi, go: (gi[0], None))
    net(leaf(torch)).sum().backward()


@scenario(raises=RuntimeError)
def backward_pre_hook_returns_too_many(torch):
    net = network(torch)
    net[1].register_full_backward_pre_hook(lambda m, go: (go[0], None))
    net(leaf(torch)).sum().backward()


@scenario(raises=RuntimeError)
def backward_hook_returns_a_tensor(torch):
    net = network(torch)
    net[1].register_full_backward_hook(lambda m, gi, go: gi[0])
    net(leaf(torch)).sum().backward()


@scenario(raises=RuntimeError)
def backward_hook_returns_a_tensor_of_one_row(torch):
    net = network(torch)
    x = leaf(torch, [0.5, -1.0])
    net[1].register_full_backward_hook(lambda m, gi, go: gi[0] * 2)
    net(x).sum().backward()
    return x.grad


@scenario(raises=RuntimeError)
def backward_hook_returns_another_shape(torch):
    net = network(torch)
    net[1].register_full_backward_hook(lambda m, gi, go: (gi[0][:2],))
    net(leaf(torch)).sum().backward()


@scenario(raises=TypeError)
def backward_hook_returns_a_number(torch):
    net = network(torch)
    net[1].register_full_backward_hook(lambda m, gi, go: (3,))
    net(leaf(torch)).sum().backward()


@scenario(raises=ZeroDivisionError)
def backward_hook_with_an_error(torch):
    net = network(torch)
    net[1].register_full_backward_hook(lambda m, gi, go: 1 / 0)
    net(leaf(torch)).sum().backward()


def several(torch, nested=False):
    class Several(torch.nn.Module):
        def forward(self, a, k, b, c=None):
            results = a * 2, k, b * 3, a + b
            return {"out": results[0]} if nested == "dict" else list(results) if nested else results

    return Several()


@scenario
def several_inputs_and_outputs(torch):
    module, log = several(torch), []
    module.register_full_backward_pre_hook(lambda m, go: log.append(("pre", go)))
    module.register_full_backward_hook(lambda m, gi, go: log.append(("post", gi, go)))
    a, b = leaf(torch), torch.tensor([3.0, 4.0], dtype=torch.float64)
    p, k, q, r = module(a, 7, b, c=leaf(torch))
    r.sum().backward()
    return log, p, k, q, r, a.grad


@scenario
def several_outputs_of_which_one_is_replaced(torch):
    module = several(torch)
    module.register_full_backward_pre_hook(lambda m, go: tuple(None if g is None else g * 2 for g in go))
    module.register_full_backward_hook(lambda m, gi, go: (gi[0] + 1, None, gi[2] * 5))
    a, b = leaf(torch), leaf(torch, 3.0, 4.0)
    p, k, q, r = module(a, 7, b)
    (p + q).sum().backward()
    return a.grad, b.grad


@scenario
def output_in_a_list(torch):
    module, log = several(torch, nested=True), []
    module.register_full_backward_hook(lambda m, gi, go: log.append((gi, go)))
    a, b = leaf(torch), leaf(torch, 3.0, 4.0)
    p, k, q, r = module(a, 7, b)
    (p + q).sum().backward()
    return log, a.grad


@scenario
def no_gradient_asked_for(torch):
    net, log = network(torch), []
    _watch(net, log)
    with torch.no_grad():
        out = net(leaf(torch))
    return log, out


@scenario
def backward_hooks_twice(torch):
    net, log = network(torch), []
    net[1].register_full_backward_hook(lambda m, gi, go: log.append((gi, go)))
    out = net(leaf(torch)).sum()
    out.backward(retain_graph=True)
    out.backward()
    return log


@scenario
def backward_hooks_and_double_backward(torch):
    net, log = network(torch), []
    net[1].register_full_backward_hook(lambda m, gi, go: log.append((gi[0].detach(), go[0].detach())))
    x = leaf(torch)
    (g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    g.sum().backward()
    return log, x.grad


@scenario
def backward_hooks_and_grad_of_inputs_only(torch):
    net, log = network(torch), []
    _watch(net, log)
    x = leaf(torch)
    return torch.autograd.grad(net(x).sum(), x), log


@scenario
def one_module_called_twice(torch):
    layer, log = network(torch, torch.nn.Linear(2, 2)), []
    layer[0].register_full_backward_hook(lambda m, gi, go: log.append((gi, go)))
    layer[0](layer[0](leaf(torch))).sum().backward()
    return log


@scenario(raises=RuntimeError)
def a_hooked_module_followed_by_an_in_place_operation(torch):
    nn = torch.nn
    net = network(torch, nn.Linear(2, 2), nn.ReLU(inplace=True))
    net[0].register_full_backward_hook(lambda m, gi, go: None)
    return net(leaf(torch))


@scenario(raises=RuntimeError)
def a_hooked_module_that_works_in_place(torch):
    nn = torch.nn
    net = network(torch, nn.Linear(2, 2), nn.ReLU(inplace=True))
    net[1].register_full_backward_hook(lambda m, gi, go: None)
    return net(leaf(torch))


@scenario(raises=RuntimeError)
def a_pre_hooked_module_followed_by_an_in_place_operation(torch):
    nn = torch.nn
    net = network(torch, nn.Linear(2, 2), nn.ReLU(inplace=True))
    net[0].register_full_backward_pre_hook(lambda m, go: None)
    return net(leaf(torch))


@scenario(raises=RuntimeError)
def hooked_and_then_changed_by_hand(torch):
    net = network(torch)
    net.register_full_backward_hook(lambda m, gi, go: None)
    out = net(leaf(torch))
    out += 1
    return out


@scenario
def a_hooked_module_without_tensors(torch):
    module = several(torch)
    module.register_full_backward_hook(lambda m, gi, go: None)
    with torch.no_grad():
        return module(1, 2, 3)


@scenario
def the_graph_of_a_hooked_module(torch):
    net = network(torch)
    net[1].register_full_backward_hook(lambda m, gi, go: None)
    node, names = net(leaf(torch)).grad_fn, []
    while node is not None:
        names.append(node.name())
        node = max((n for n, _ in node.next_functions if n is not None), key=lambda n: n._sequence_nr(), default=None)
    return [each for each in names if "Hook" in each or "Sigmoid" in each]


@scenario
def activations_kept_by_a_hook(torch):
    nn = torch.nn
    net, kept = network(torch, nn.Linear(2, 2), nn.ReLU(inplace=True)), {}
    net[0].register_forward_hook(lambda m, args, out: kept.update(detached=out.detach(), cloned=out.detach().clone()))
    net(leaf(torch))
    return list(kept.values())


# ----- the legacy backward hook -----


def _legacy(torch, module, x):
    log = []
    module.register_backward_hook(lambda m, gi, go: log.append((name(m), gi, go)))
    out = module(x)
    out.backward(torch.linspace(1.0, 2.0, out.numel(), dtype=torch.float64).reshape(out.shape))
    return log, x.grad


@scenario
def legacy_on_linear_1d(torch):
    return _legacy(torch, network(torch, torch.nn.Linear(2, 2))[0], leaf(torch))


@scenario
def legacy_on_linear_2d(torch):
    return _legacy(torch, network(torch, torch.nn.Linear(2, 3))[0], leaf(torch, [1.0, 2.0], [3.0, 5.0]))


@scenario
def legacy_on_linear_2d_of_another_layer(torch):
    return _legacy(torch, network(torch, torch.nn.Linear(2, 3))[0], leaf(torch, [1.0, 2.0]) * 2)


@scenario
def legacy_on_convolution(torch):
    x = torch.linspace(0.0, 1.0, 16, dtype=torch.float64).reshape(1, 1, 4, 4)
    return _legacy(torch, network(torch, torch.nn.Conv2d(1, 2, 3))[0], x)


@scenario
def legacy_on_convolution_of_a_leaf(torch):
    x = torch.linspace(0.0, 1.0, 16, dtype=torch.float64).reshape(1, 1, 4, 4).requires_grad_()
    return _legacy(torch, network(torch, torch.nn.Conv2d(1, 2, 3))[0], x)


@scenario
def legacy_on_sigmoid(torch):
    x = leaf(torch)
    return _legacy(torch, torch.nn.Sigmoid(), x * 2)


@scenario
def legacy_on_a_network(torch):
    return _legacy(torch, network(torch), leaf(torch))


@scenario
def legacy_without_gradient(torch):
    net, log = network(torch), []
    net[0].register_backward_hook(lambda m, gi, go: log.append((gi, go)))
    with torch.no_grad():
        out = net(leaf(torch))
    return out, log


@scenario
def legacy_with_several_outputs(torch):
    module, log = several(torch), []
    module.register_backward_hook(lambda m, gi, go: log.append((gi, go)))
    p, k, q, r = module(leaf(torch), leaf(torch), leaf(torch))
    (p + q + r).sum().backward()
    return log


@scenario
def legacy_with_an_output_that_is_no_tensor(torch):
    module, log = several(torch), []
    module.register_backward_hook(lambda m, gi, go: log.append((gi, go)))
    p, k, q, r = module(leaf(torch), 7, leaf(torch))
    return p, log


@scenario
def legacy_with_an_output_in_a_list(torch):
    module, log = several(torch, nested=True), []
    module.register_backward_hook(lambda m, gi, go: log.append((gi, go)))
    module(leaf(torch), leaf(torch), leaf(torch))[0].sum().backward()
    return log


@scenario
def legacy_with_an_output_in_a_dict(torch):
    module, log = several(torch, nested="dict"), []
    module.register_backward_hook(lambda m, gi, go: log.append((gi, go)))
    module(leaf(torch), leaf(torch), leaf(torch))["out"].sum().backward()
    return log


@scenario
def legacy_with_an_input_that_is_no_tensor(torch):
    class Scaled(torch.nn.Module):
        def forward(self, x, k):
            return x * k

    module, log = Scaled(), []
    module.register_backward_hook(lambda m, gi, go: log.append((gi, go)))
    module(leaf(torch), 3.0).sum().backward()
    return log


@scenario
def legacy_where_the_output_is_made_elsewhere(torch):
    class Picks(torch.nn.Module):
        def forward(self, x):
            return x.detach(), x * 2

    module, log = Picks(), []
    module.register_backward_hook(lambda m, gi, go: log.append((gi, go)))
    _, out = module(leaf(torch))
    out.sum().backward()
    return log


@scenario
def legacy_and_a_nested_output(torch):
    class Picks(torch.nn.Module):
        def forward(self, x):
            return (x.exp().split(1)[1], x.detach())

    module, log = Picks(), []
    module.register_backward_hook(lambda m, gi, go: log.append((gi, go)))
    out, _ = module(leaf(torch))
    out.sum().backward()
    return log


@scenario
def legacy_replaces(torch):
    module = torch.nn.Sigmoid()
    module.register_backward_hook(lambda m, gi, go: (gi[0] * 100,))
    x = leaf(torch)
    module(x).sum().backward()
    return x.grad


@scenario(raises=RuntimeError)
def legacy_returns_too_many(torch):
    module = torch.nn.Sigmoid()

    def doubled(m, gi, go):
        return (gi[0], gi[0])

    module.register_backward_hook(doubled)
    module(leaf(torch)).sum().backward()


@scenario(raises=RuntimeError)
def legacy_and_full_on_one_module(torch):
    net = network(torch)
    net.register_backward_hook(lambda m, gi, go: None)
    net.register_full_backward_hook(lambda m, gi, go: None)


@scenario(raises=RuntimeError)
def full_and_legacy_on_one_module(torch):
    net = network(torch)
    net.register_full_backward_hook(lambda m, gi, go: None)
    net.register_backward_hook(lambda m, gi, go: None)


@scenario(raises=RuntimeError)
def legacy_hook_of_a_dead_module(torch):
    module = torch.nn.Sigmoid()
    module.register_backward_hook(lambda m, gi, go: None)
    out = module(leaf(torch)).sum()
    del module
    out.backward()


@scenario
def legacy_beside_full(torch):
    """The picture of the two kinds side by side: the full hook sees the layer, the legacy one its last node."""
    seen = []
    for kind in ("register_full_backward_hook", "register_backward_hook"):
        layer = network(torch, torch.nn.Linear(2, 2))[0]
        getattr(layer, kind)(lambda m, gi, go: seen.append((gi, go)))
        layer(leaf(torch)).sum().backward()
    return seen


# ----- hooks on all modules -----


@scenario
def global_hooks_order(torch):
    module, log = plus_global(torch), []
    net = network(torch, torch.nn.Linear(2, 2), torch.nn.Sigmoid())
    net[0].register_forward_pre_hook(lambda m, args: log.append("own pre"))
    net[0].register_forward_hook(lambda m, args, out: log.append("own post"))
    net[0].register_full_backward_hook(lambda m, gi, go: log.append(("own full", gi, go)))
    net[0].register_full_backward_pre_hook(lambda m, go: log.append(("own full pre", go)))
    handles = [
        module.register_module_forward_pre_hook(lambda m, args: log.append(("pre", name(m), args))),
        module.register_module_forward_hook(lambda m, args, out: log.append(("post", name(m), args, out))),
        module.register_module_full_backward_pre_hook(lambda m, go: log.append(("full pre", name(m), go))),
        module.register_module_full_backward_hook(lambda m, gi, go: log.append(("full", name(m), gi, go))),
    ]
    try:
        net(leaf(torch)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    net(torch.tensor([1.0, 2.0], dtype=torch.float64))
    return log


@scenario
def global_hooks_replace(torch):
    module = plus_global(torch)
    net = network(torch)
    x = leaf(torch)
    with (
        module.register_module_forward_pre_hook(lambda m, args: args[0] + 1),
        module.register_module_forward_hook(lambda m, args, out: out * 2),
        module.register_module_full_backward_hook(lambda m, gi, go: (gi[0] * 3,)),
    ):
        out = net(x)
        out.sum().backward()
    return out, x.grad


@scenario
def global_forward_hook_with_kwargs(torch):
    module, log = plus_global(torch), []
    with module.register_module_forward_hook(lambda *given: log.append(given[1:]), with_kwargs=True):
        _Options(torch)(leaf(torch), scale=2.0)
    return log


@scenario(raises=KeyError)
def global_forward_hook_always_called(torch):
    module, log = plus_global(torch), []

    def hook(m, args, out):
        log.append(out)
        raise ValueError("of the hook")

    def replaces(m, args, out):
        log.append(out)
        return "replaced"

    with (
        module.register_module_forward_hook(replaces, always_call=True),
        module.register_module_forward_hook(hook, always_call=True),
    ):
        _Options(torch, fails=True)(leaf(torch))
    return log


def _global_backward(torch, first, second):
    """Register one kind after the other; what torch remembers of the kind lasts, so it is put back."""
    module = plus_global(torch)
    handles = [getattr(module, f"register_module_{first}")(lambda m, gi, go: None)]
    try:
        handles.append(getattr(module, f"register_module_{second}")(lambda m, gi, go: None))
    finally:
        for handle in handles:
            handle.remove()


@pytest.fixture
def no_kind_of_global_backward_hook():
    """Both libraries remember for good which kind was registered on all modules."""

    def forget():
        real_torch.nn.modules.module._global_is_full_backward_hook = None
        mini.nn.modules.hooks.every_module.is_full_backward_hook = None

    forget()
    yield
    forget()


@pytest.mark.parametrize("first", ["backward_hook", "full_backward_hook"])
@pytest.mark.parametrize("second", ["backward_hook", "full_backward_hook"])
@pytest.mark.usefixtures("no_kind_of_global_backward_hook")
def test_the_two_kinds_of_global_backward_hook_exclude_each_other(first, second):
    assert_same(lambda torch: _global_backward(torch, first, second), None if first == second else RuntimeError)


@pytest.mark.usefixtures("no_kind_of_global_backward_hook")
def test_global_legacy_hook():
    def seen(torch):
        log = []
        net = network(torch, torch.nn.Linear(2, 2), torch.nn.Sigmoid())
        net[1].register_full_backward_hook(lambda m, gi, go: log.append(("own", gi, go)))
        with plus_global(torch).register_module_backward_hook(lambda m, gi, go: log.append((name(m), gi, go))):
            net(leaf(torch)).sum().backward()
        return log

    assert_same(seen)


# ----- what hooks keep alive -----


def test_a_hooked_module_and_its_graph_are_freed_by_reference_counts():
    """Neither the hook nor its handle keeps the module or the graph of its last call alive."""
    gc.collect()
    gc.disable()
    try:
        net = network(mini)
        handle = net.register_full_backward_hook(lambda m, gi, go: None)
        net[0].register_forward_hook(lambda m, args, out: None)
        out = net(leaf(mini))
        out.sum().backward()
        node, layer, module = weakref.ref(out.grad_fn), weakref.ref(net[0]), weakref.ref(net)
        del out
        assert node() is None
        del net
        assert module() is None
        assert layer() is None
        handle.remove()
    finally:
        gc.enable()
