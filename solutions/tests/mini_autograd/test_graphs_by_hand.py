"""Graphs used from outside: nodes called by hand, edges, hooks on several gradients, views left behind.

Each scenario's label states a fact; the same code runs on torch and on mini_autograd.
"""

import pytest
from both import Scenarios, assert_same

SCENARIOS = Scenarios()
fact = SCENARIOS.fact


@pytest.mark.parametrize("fact", SCENARIOS)
def test_same_as_torch(fact):
    assert_same(*SCENARIOS[fact])


def leaf(torch, *values):
    return torch.tensor(values or [1.0, 2.0], requires_grad=True)


# ----- a second walk -----


@fact("values freed by grad are missing in backward", RuntimeError)
def _(torch):
    x = leaf(torch)
    z = x.exp() * x
    torch.autograd.grad(z.sum(), x)
    z.sum().backward()


@fact("a value changed between two walks is refused in the second", RuntimeError)
def _(torch):
    x, w = leaf(torch), torch.tensor([3.0, 4.0])
    z = (x * w).sum()
    z.backward(retain_graph=True)
    w.add_(1)
    z.backward()


@fact("of a value freed and changed, that it was freed is said", RuntimeError)
def _(torch):
    x, w = leaf(torch), torch.tensor([3.0, 4.0])
    z = (x * w).sum()
    z.backward()
    w.add_(1)
    z.backward()


@fact("a part of the graph that two results share is freed by the first", RuntimeError)
def _(torch):
    y = leaf(torch) ** 2
    first, second = y.exp().sum(), y.sin().sum()
    first.backward()
    second.backward()


@fact("a saved value that was changed is not shown either", RuntimeError)
def _(torch):
    w = torch.tensor([3.0, 4.0])
    z = leaf(torch) * w
    w.add_(1)
    return z.grad_fn._saved_other


# ----- hooks on one saved value -----


@fact("a saved value can be packed after it was saved, be it an input or an output")
def _(torch):
    x, w, log = leaf(torch), leaf(torch, 3.0, 4.0), []
    y = x * w
    z = y.exp()
    y.grad_fn._raw_saved_other.register_hooks(lambda t: (log.append(t.clone()), t * 10)[1], lambda t: t + 1)
    z.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t)
    z.backward(torch.tensor([1.0, 0.5]))
    return type(y.grad_fn._raw_saved_self).__name__, log, x.grad, w.grad


@fact("it is packed once", RuntimeError)
def _(torch):
    node = leaf(torch).exp().grad_fn
    for _ in range(2):
        node._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


@fact("a value packed when it was saved is not packed again", RuntimeError)
def _(torch):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = leaf(torch).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


@fact("a value that was freed is not packed", RuntimeError)
def _(torch):
    y = leaf(torch).exp()
    y.sum().backward()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


@fact("nor is a value that was not needed", RuntimeError)
def _(torch):
    (leaf(torch) * torch.ones(2)).grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


# ----- a node called by hand -----


@fact("a node wants a gradient for its output", TypeError)
def _(torch):
    (leaf(torch) * 2).grad_fn()


@fact("a node wants no more gradients than it has outputs", TypeError)
def _(torch):
    (leaf(torch) * 2).grad_fn(torch.ones(2), torch.ones(2))


@fact("a node of several outputs wants a gradient for each", TypeError)
def _(torch):
    leaf(torch).unbind()[0].grad_fn(torch.tensor(1.0))


@fact("a node wants tensors", TypeError)
def _(torch):
    (leaf(torch) * 2).grad_fn(3.0)


@fact("None stands for a gradient that did not arrive")
def _(torch):
    first, _ = leaf(torch).unbind()
    return (leaf(torch) * 2).grad_fn(None), first.grad_fn(torch.tensor(3.0), None)


@fact("a leaf's node called by hand accumulates, and returns nothing")
def _(torch):
    x = leaf(torch)
    node = (x * 2).grad_fn.next_functions[0][0]
    return node(torch.tensor([1.0, 5.0])), node(torch.tensor([1.0, 5.0])), node(None), x.grad


# ----- what hooks return -----


def _returned(value):
    def of_tensor(torch):
        x = leaf(torch)
        x.register_hook(lambda grad: value)
        x.sum().backward()

    def of_node(torch):
        y = leaf(torch) * 2
        y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: value)
        y.sum().backward()

    def before_node(torch):
        y = leaf(torch) * 2
        y.grad_fn.register_prehook(lambda grad_outputs: value)
        y.sum().backward()

    return {"a tensor's hook": of_tensor, "a node's hook": of_node, "a node's prehook": before_node}


for _value in (3, "text", [1.0], (1,)):
    for _kind, _scenario in _returned(_value).items():
        _too_few = _kind == "a node's hook" and _value == (1,)
        fact(f"{_kind} may not return {_value!r}", RuntimeError if _too_few else TypeError)(_scenario)


@fact("what is no function can be registered as a hook, and not be called", TypeError)
def _(torch):
    x = leaf(torch)
    x.register_hook(3)
    x.sum().backward()


@fact("a hook of too few parameters fails when it is called", TypeError)
def _(torch):
    x = leaf(torch)
    x.register_hook(lambda: None)
    x.sum().backward()


# ----- edges -----


@fact("a tensor's edge is its node and the number of the output, or its accumulator")
def _(torch):
    x = leaf(torch)
    edges = [torch.autograd.graph.get_gradient_edge(each) for each in (x, x * 2, x.unbind()[1])]
    return [(type(edge).__name__, edge._fields, edge.node, edge.output_nr) for edge in edges]


@fact("a tensor that requires no gradient has no edge", RuntimeError)
def _(torch):
    torch.autograd.graph.get_gradient_edge(torch.ones(2))


@fact("grad goes from edge to edge")
def _(torch):
    x = leaf(torch)
    y = x * 2
    to_x, to_y, to_z = map(torch.autograd.graph.get_gradient_edge, (x, y, y * y))
    weights = torch.tensor([1.0, 10.0])
    return torch.autograd.grad(to_z, [to_x, to_y, y], weights, retain_graph=True), torch.autograd.grad(
        [to_y], to_x, [weights]
    )


@fact("backward starts at an edge, and fills in the leaf behind one")
def _(torch):
    x, w = leaf(torch), leaf(torch)
    edge_of = torch.autograd.graph.get_gradient_edge
    torch.autograd.backward(edge_of(x * w), torch.tensor([1.0, 10.0]), inputs=[edge_of(x)])
    return x.grad, w.grad


@fact("backward lets an edge inside the graph pass, but keeps nothing")
def _(torch):
    x = leaf(torch)
    y = x * x
    torch.autograd.backward((y * 2).sum(), inputs=[torch.autograd.graph.get_gradient_edge(y)])
    return x.grad


@fact("an edge of one element needs no weight")
def _(torch):
    x = leaf(torch)
    return torch.autograd.grad(torch.autograd.graph.get_gradient_edge((x * x).sum()), x)


@fact("an edge of several elements needs a weight", RuntimeError)
def _(torch):
    x = leaf(torch)
    torch.autograd.grad(torch.autograd.graph.get_gradient_edge(x * x), x)


@fact("an edge's weight has its shape", RuntimeError)
def _(torch):
    x = leaf(torch)
    torch.autograd.grad(torch.autograd.graph.get_gradient_edge(x * x), x, torch.ones(3))


@fact("inputs are tensors or edges", RuntimeError)
def _(torch):
    x = leaf(torch)
    torch.autograd.grad(x.sum(), [3])


# ----- zeros instead of None -----


@fact("materialized zeros can be differentiated again if the others can")
def _(torch):
    x, unused = leaf(torch), torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    plain = torch.autograd.grad((x * x).sum(), [x, unused], materialize_grads=True)
    return plain, torch.autograd.grad((x * x).sum(), [x, unused], create_graph=True, materialize_grads=True)


@fact("there are no zeros for an edge", RuntimeError)
def _(torch):
    unused = torch.autograd.graph.get_gradient_edge(leaf(torch))
    torch.autograd.grad(leaf(torch).sum(), [unused], materialize_grads=True)


# ----- one hook on several gradients -----


def _several(torch, **mode):
    x, w, log = leaf(torch), leaf(torch, 3.0, 4.0), []
    y, z = x * 2, w * 3

    def note(grads):
        grads = grads if isinstance(grads, list) else [grads]
        log.append([None if grad is None else grad.clone() for grad in grads])

    handle = torch.autograd.graph.register_multi_grad_hook([x, y, z], note, **mode)
    product = (y * z).sum()
    product.backward(retain_graph=True)
    product.backward(inputs=[w], retain_graph=True)
    torch.autograd.grad(product, [y], retain_graph=True)
    (x * 5).sum().backward()
    handle.remove()
    product.backward()
    return log, x.grad


@fact("a hook on several gradients is called once, when all that the walk reaches are known")
def _(torch):
    return _several(torch)


@fact("or when the first is known")
def _(torch):
    return _several(torch, mode="any")


@fact("in a walk inside a walk it is called for each")
def _(torch):
    x, log = leaf(torch), []
    y, z = x * 2, x * 3
    other = (z * 4).sum()
    torch.autograd.graph.register_multi_grad_hook([y, z], lambda grads: log.append([grad is None for grad in grads]))
    y.register_hook(lambda grad: torch.autograd.grad(other, x) and None)
    (y * y).sum().backward()
    return log


@fact("there is no third mode", ValueError)
def _(torch):
    torch.autograd.graph.register_multi_grad_hook([leaf(torch)], print, mode="some")


@fact("each tensor must have a gradient if all are waited for", AssertionError)
def _(torch):
    torch.autograd.graph.register_multi_grad_hook([leaf(torch), torch.ones(2)], print)


@fact("a constant is passed over if any will do")
def _(torch):
    x, log = leaf(torch), []
    torch.autograd.graph.register_multi_grad_hook([x, torch.ones(2)], lambda grad: log.append(grad.clone()), mode="any")
    (x * 3).sum().backward()
    return log


# ----- Function -----


def function(torch, forward, backward, **more):
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward), **more}
    return type("Mine", (torch.autograd.Function,), members)


@fact("what is not a tensor keeps its place among inputs, outputs and gradients")
def _(torch):
    seen = []

    def forward(ctx, a, x, k=2):
        ctx.k = k
        seen.append(ctx.needs_input_grad)
        return "text", x * k, x * a, None

    def backward(ctx, *grads):
        seen.append([grad if grad is None else grad.clone() for grad in grads])
        return None, grads[1] * ctx.k, None

    x = leaf(torch)
    outputs = function(torch, forward, backward).apply(5, x, 3)
    outputs[1].backward(torch.tensor([1.0, 10.0]))
    return outputs, seen, x.grad, [each.output_nr for each in outputs[1:3]], outputs[1].grad_fn.next_functions


@fact("an argument left out has its default in setup_context, and a gradient is due for it", RuntimeError)
def _(torch):
    def setup_context(ctx, inputs, output):
        assert inputs[1] == 2

    def forward(x, k=2):
        return x * k, x + k

    mine = function(torch, forward, lambda ctx, *grads: grads[0], setup_context=staticmethod(setup_context))
    mine.apply(leaf(torch))[0].sum().backward()


@fact("setup_context sees all outputs, and arguments by name")
def _(torch):
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*output)
        ctx.k = inputs[1]

    def backward(ctx, g, h):
        y, z = ctx.saved_tensors
        return g * ctx.k * z.detach() + h * y.detach(), None

    mine = function(torch, lambda x, k=2: (x * k, x + k), backward, setup_context=staticmethod(setup_context))
    x = leaf(torch)
    y, z = mine.apply(x, k=3)
    (y * 2 + z).backward(torch.tensor([1.0, 10.0]))
    return y, z, x.grad


@fact("tensors in a list are no inputs of a Function")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    z = function(torch, lambda ctx, xs, y: xs[0] * y, lambda ctx, g: (None, g)).apply([x], y)
    z.sum().backward()
    return z, x.grad, y.grad


@fact("what a once differentiable backward returned comes from a node called Error")
def _(torch):
    once = torch.autograd.function.once_differentiable(lambda ctx, g: (g * 3, None))
    x = leaf(torch)
    y = function(torch, lambda ctx, x, k: x * 2, once).apply(x, 7)
    (grad,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    return grad, grad.grad_fn, type(grad.grad_fn).__name__, grad.grad_fn.next_functions, repr(grad)


# ----- views left behind -----


def _left_behind(kind):
    def views(torch):
        y = leaf(torch) * 1
        if kind == "unbind":
            view = y.unbind()[0]
        else:
            with torch.no_grad():
                view = y[:1]
        y.add_(1)
        return view

    return views


for _kind in ("unbind", "no_grad"):
    _views = _left_behind(_kind)
    fact(f"{_kind}: a view whose base was changed cannot be followed", RuntimeError)(lambda t, v=_views: v(t).grad_fn)
    fact(f"{_kind}: nor computed with", RuntimeError)(lambda t, v=_views: v(t) * 2)
    fact(f"{_kind}: nor changed", RuntimeError)(lambda t, v=_views: v(t).add_(1))
    fact(f"{_kind}: but it prints, and can be detached")(
        lambda t, v=_views: (repr(v(t)), v(t).detach(), v(t).requires_grad)
    )


@fact("without recording it can be computed with")
def _(torch):
    view = _left_behind("unbind")(torch)
    with torch.no_grad():
        return view * 2


# ----- small things -----


@fact("a mode that decorates a class warns")
def _(torch):
    @torch.no_grad()
    class Noted:
        def __init__(self):
            self.enabled = torch.is_grad_enabled()

    return Noted().enabled, torch.is_grad_enabled()


@fact("Variable makes tensors, and every tensor is one")
def _(torch):
    data = torch.ones(2)
    x = torch.autograd.Variable(data, requires_grad=True)
    data.mul_(3)
    return x, type(x) is torch.Tensor, isinstance(data, torch.autograd.Variable), isinstance(3, torch.autograd.Variable)


@fact("a tensor's data cannot be deleted", RuntimeError)
def _(torch):
    del leaf(torch).data


@fact("nor can requires_grad", RuntimeError)
def _(torch):
    del leaf(torch).requires_grad


@fact("a gradient that was copied counts as changed once")
def _(torch):
    x, w = leaf(torch), torch.tensor([3.0, 4.0])
    (x + 0).backward(w)
    y = leaf(torch)
    (y * 2).backward(w)
    return x.grad._version, y.grad._version
