"""Functions that change their input and return further outputs, two statistics in one node, copies by pickle.

Each scenario's label states a fact; the same code runs on torch and on mini_autograd.
"""

import copy
import pickle

import pytest
from both import Scenarios, assert_same

SCENARIOS = Scenarios()
fact = SCENARIOS.fact


@pytest.mark.parametrize("fact", SCENARIOS)
def test_same_as_torch(fact):
    assert_same(*SCENARIOS[fact])


def leaf(torch):
    return torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)


# ----- Functions that work in place -----


def changing(torch, returned):
    """Return a Function that doubles its input in place and returns `returned(input)`."""

    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return returned(x)

    def backward(ctx, *grads):
        return sum((number + 2) * grad for number, grad in enumerate(grads))

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Changing", (torch.autograd.Function,), members).apply


@fact("what a Function has saved is freed, and a second walk says to retain the graph")
def _(torch):
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    square = type("Square", (torch.autograd.Function,), members).apply
    x = leaf(torch)
    y = square(x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Specify retain_graph=True") as refused:
        y.backward()
    return x.grad, str(refused.value)


@fact("the changed tensor may be returned second")
def _(torch):
    x = leaf(torch)
    y = x.clone()
    a, b = changing(torch, lambda y: (y + 1, y))(y)
    (a + 10 * b).sum().backward()
    return b is y, b.output_nr, a.output_nr, x.grad, b.grad_fn is a.grad_fn


@fact("the changed tensor may be returned twice")
def _(torch):
    x = leaf(torch)
    a, b = changing(torch, lambda y: (y, y))(x.clone())
    (a + b).sum().backward()
    return a is b, x.grad


@fact("a changed view may be returned alone")
def _(torch):
    x = leaf(torch)
    y = x.clone()
    changing(torch, lambda y: y)(y[0])
    y.sum().backward()
    return y, x.grad


@fact("a changed view must be returned alone", raises=RuntimeError)
def _(torch):
    changing(torch, lambda y: (y, y + 1))(leaf(torch).clone()[0])


@fact("a view of a leaf that requires no gradient may be changed and returned twice")
def _(torch):
    a, b = changing(torch, lambda y: (y, y))(torch.ones(2, 2)[0])
    return a is b, a


# ----- two statistics in one node -----


@fact("var_mean gives both, by one node")
def _(torch):
    x = leaf(torch)
    var, mean = torch.var_mean(x, 0)
    return var, mean, var.grad_fn is mean.grad_fn, var.output_nr, mean.output_nr, torch.var_mean(x)


@fact("var_mean takes what var takes")
def _(torch):
    x = leaf(torch)
    by_dims = torch.var_mean(x, dim=(0, 1), keepdim=True, correction=0)
    return torch.var_mean(x, False), by_dims, torch.var_mean(x, 1, keepdim=True)


for _name, _used in {
    "both": lambda var, mean: var * torch_weights(var) + mean,
    "the first": lambda var, mean: var * 3,
    "the second": lambda var, mean: mean * 3,
}.items():

    @fact(f"the gradient of var_mean is right where {_name} is used")
    def _(torch, used=_used):
        x = leaf(torch)
        used(*torch.var_mean(x, 1)).sum().backward()
        (first,) = torch.autograd.grad(used(*torch.var_mean(x, 1)).sum(), x, create_graph=True)
        return x.grad, first.detach()


def torch_weights(var):
    """Return factors for two elements, different ones, so that none can stand for another."""
    return var.new([2.0, 7.0])


@fact("prehooks see the gradients of both outputs")
def _(torch):
    x, seen = leaf(torch), []
    var, mean = torch.var_mean(x, 0)
    mean.grad_fn.register_prehook(lambda grads: seen.append(grads) or tuple(grad * 2 for grad in grads))
    (var + mean * 3).sum().backward()
    return seen, x.grad


@fact("a change in place of one output leaves retain_grad of the other")
def _(torch):
    x = leaf(torch)
    var, mean = torch.var_mean(x, 0)
    var.retain_grad()
    mean.retain_grad()
    var.mul_(2)
    (var + mean).sum().backward()
    return var.grad, mean.grad, x.grad


# ----- copies and counts -----


@fact("a tensor can be pickled")
def _(torch):
    tensors = [leaf(torch), torch.tensor([1, 2]), leaf(torch) * 2, torch.nn.Parameter(torch.ones(2))]
    made = [pickle.loads(pickle.dumps(tensors, protocol=protocol)) for protocol in (2, 5)]
    return made, [[type(each) is type(tensor) for each, tensor in zip(each, tensors, strict=True)] for each in made]


@fact("copy.copy shares the memory")
def _(torch):
    x = leaf(torch)
    y = copy.copy(x)
    y.detach().zero_()
    return y is x, x, y


@fact("increment_version counts a change that went unnoticed", raises=RuntimeError)
def _(torch):
    w = torch.ones(2, 2)
    y = leaf(torch) * w
    w.numpy()[0] = 7
    torch.autograd.graph.increment_version([w])
    y.sum().backward()


@fact("increment_version takes one tensor or several, inference tensors too")
def _(torch):
    x = torch.ones(2)
    torch.autograd.graph.increment_version(x)
    torch.autograd.graph.increment_version([x, x])
    with torch.inference_mode():
        torch.autograd.graph.increment_version(torch.ones(2))
    return x._version


@fact("the modes are in torch.autograd.grad_mode too")
def _(torch):
    mode = torch.autograd.grad_mode
    return mode.no_grad is torch.no_grad, mode.set_grad_enabled is torch.set_grad_enabled
