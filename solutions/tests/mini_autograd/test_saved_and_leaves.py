"""Tensors detached after they were saved, saved values of Functions, leaves that changed, nodes given other shapes.

Each scenario is a fact, said by its label; the same code runs on torch and on mini_autograd.
"""

import pytest
from both import Scenarios, assert_same

SCENARIOS = Scenarios()
fact = SCENARIOS.fact


@pytest.mark.parametrize("fact", SCENARIOS)
def test_same_as_torch(fact):
    assert_same(*SCENARIOS[fact])


def leaf(torch):
    return torch.tensor([1.0, 2.0], requires_grad=True)


# ----- detached in place -----


@fact("a saved input that was detached in place is refused", RuntimeError)
def _(torch):
    y = leaf(torch) * 2
    z = y.sin()
    y.detach_()
    z.sum().backward()


@fact("a saved factor that was detached in place is refused, recorded too", RuntimeError)
def _(torch):
    x = leaf(torch)
    y = x * 2
    z = y * y
    y.detach_()
    torch.autograd.grad(z.sum(), x, create_graph=True)


@fact("a detached tensor whose value was not saved does not matter")
def _(torch):
    x = leaf(torch)
    y = x * 2
    z = y + 1
    y.detach_()
    z.sum().backward()
    return x.grad


@fact("a saved output may be detached in place")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    z = y * 3
    y.detach_()
    z.sum().backward()
    return x.grad


@fact("a tensor that was saved after it was detached is a constant")
def _(torch):
    w = leaf(torch)
    y = leaf(torch) * 2
    y.detach_()
    (y * w).sum().backward()
    return w.grad


@fact("a saved tensor that was detached in place is still shown")
def _(torch):
    y = leaf(torch) * 2
    z = y * y
    y.detach_()
    return z.grad_fn._saved_self


@fact("a Function is given back its saved tensor that was detached in place")
def _(torch):
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.saved_tensors)
            return grad * 2

    x = leaf(torch)
    y = x * 2
    z = Double.apply(y)
    y.detach_()
    z.sum().backward()
    return seen, x.grad


# ----- what a Function keeps -----


def applied(torch, seen):
    """Return the result of a Function that saves its input, its output, and None."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y, None)
            return y

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.saved_tensors)
            return grad * 2

    return Double.apply(leaf(torch))


@fact("_raw_saved_tensors are as many as were saved")
def _(torch):
    raw = applied(torch, []).grad_fn._raw_saved_tensors
    return type(raw).__name__, [type(each).__name__ for each in raw]


@fact("hooks on one of _raw_saved_tensors pack it at once and unpack it for backward")
def _(torch):
    seen = []
    y = applied(torch, seen)
    for saved in y.grad_fn._raw_saved_tensors[:2]:
        saved.register_hooks(lambda value: (seen.append(value), value * 3)[1], lambda value: value + 1)
    y.sum().backward()
    return seen


@fact("one of _raw_saved_tensors takes only one pair of hooks", RuntimeError)
def _(torch):
    y = applied(torch, [])
    for _ in range(2):
        y.grad_fn._raw_saved_tensors[0].register_hooks(lambda value: value, lambda value: value)


@fact("None among _raw_saved_tensors takes no hooks", RuntimeError)
def _(torch):
    applied(torch, []).grad_fn._raw_saved_tensors[2].register_hooks(lambda value: value, lambda value: value)


@fact("_raw_saved_tensors are gone after backward", RuntimeError)
def _(torch):
    y = applied(torch, [])
    y.sum().backward()
    return y.grad_fn._raw_saved_tensors


# ----- leaves that changed since -----


@fact("a leaf that needs no gradient any more receives none")
def _(torch):
    x = leaf(torch)
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    return x.grad


@fact("a leaf that was detached in place receives none")
def _(torch):
    x = leaf(torch)
    y = x * x
    x.detach_()
    y.sum().backward()
    return x.grad, x.requires_grad


@fact("a leaf that has become the result of an operation is refused", RuntimeError)
def _(torch):
    x = leaf(torch)
    y = x * 2
    x.requires_grad_(False)
    x.mul_(leaf(torch))
    y.sum().backward()


# ----- nodes given what they do not expect -----


def accumulator(torch):
    x = leaf(torch)
    return x, (x * 2).grad_fn.next_functions[0][0]


@fact("a leaf's node called by hand spreads one number over the leaf")
def _(torch):
    x, node = accumulator(torch)
    return node(torch.ones(1)), x.grad


@fact("a leaf's node called by hand refuses more numbers than the leaf has", RuntimeError)
def _(torch):
    accumulator(torch)[1](torch.ones(3))


@fact("a leaf's node called by hand refuses more dimensions than the leaf has", RuntimeError)
def _(torch):
    accumulator(torch)[1](torch.ones(2, 2))


@fact("a leaf that has a gradient refuses another shape too", RuntimeError)
def _(torch):
    x, node = accumulator(torch)
    x.grad = torch.ones(2)
    node(torch.ones(3))


@fact("a leaf's node called by hand takes another dtype, and None")
def _(torch):
    x, node = accumulator(torch)
    return node(None), node(torch.ones(2).double()), x.grad


@fact("a node called by hand computes with what it is given")
def _(torch):
    node = (leaf(torch) * torch.tensor([3.0, 4.0])).grad_fn
    return node(torch.ones(2, 2)), node(torch.ones(2).double())


@fact("a node called by hand says that sizes differ", RuntimeError)
def _(torch):
    (leaf(torch) * leaf(torch)).grad_fn(torch.ones(3))


@fact("the node of a product of matrices says that shapes do not go together", RuntimeError)
def _(torch):
    product = torch.ones(2, 3, requires_grad=True) @ torch.ones(3, 2)
    product.grad_fn(torch.ones(3, 3))


# ----- hooks on what is saved -----


@fact("pack receives each tensor in its place in the graph")
def _(torch):
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda value: seen.append(value) or value.detach(), lambda value: value
    ):
        x = leaf(torch)
        y = (x * 2).exp() * x
        y.max(0)
    return seen


@fact("hooks set on one saved value receive it detached")
def _(torch):
    seen = []
    x = leaf(torch)
    y = x.exp() * x
    for raw in (y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other):
        raw.register_hooks(lambda value: seen.append(value) or value, lambda value: value)
    y.sum().backward()
    return seen, x.grad


# ----- what becomes of other dtypes, and of what hooks return -----


@fact("integers made of floats are constants")
def _(torch):
    x = leaf(torch)
    return x.long(), x.int(), x.bool(), x.to(torch.int64), (x * 2).long()


@fact("a hook after accumulation may return what it was given")
def _(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda tensor: tensor)
    x.sum().backward()
    return x, x.grad


@fact("a hook after accumulation may return no other tensor", RuntimeError)
def _(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda tensor: tensor * 2)
    x.sum().backward()


@fact("a hook after accumulation may return no number", TypeError)
def _(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda tensor: 3)
    x.sum().backward()


@fact("gradcheck warns of single precision")
def _(torch):
    return torch.autograd.gradcheck(lambda x, y: x * y, (torch.zeros(2, requires_grad=True), torch.ones(1)), eps=0.5)
